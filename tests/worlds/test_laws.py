"""Laws of mechanics that the terms obey: energy, momentum, and the forms that adjoints need."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from difftile import worlds
from difftile.worlds.impedance import spring
from tests.worlds import plain
from tests.worlds.conformance import model, numbers
from tests.worlds.plain import Local
from tests.worlds.test_terms import full, state_of, with_accelerations


def _flight(gravity: bool) -> worlds.Model:
    """Return the ant without contact, limits, dampers and, perhaps, gravity."""
    arrays = {**numbers()["ant"]["arrays"], "disableflags": 16 + 8 + 64 + (0 if gravity else 128)}
    return worlds.Model(arrays)


def _run(one: worlds.Model, h: float, steps: int) -> tuple[Any, Any]:
    """Return the terms of the first and of the last state of a flight."""
    given = numbers()["ant"]["states"][0]
    state = state_of(one, {"qpos": given["qpos"], "qvel": 3 * np.array(given["qvel"])})
    one.timestep[()] = h
    first = plain.terms(one, state)
    found = first
    for _ in range(steps):
        state = with_accelerations(one, state, found["M_hat"], -found["qfrc_bias"])
        found = plain.terms(one, state)
        state = {**state, "qpos": found["qpos_next"], "qvel": found["qvel_next"]}
        found = plain.terms(one, {**state, "b": 0 * state["b"]})
    return first, found


def test_the_energy_of_a_flight_drifts_with_the_step() -> None:
    drifts = []
    for h, steps in ((0.004, 10), (0.002, 20)):
        first, last = _run(_flight(True), h, steps)
        drifts.append(abs(last["energy"].sum() - first["energy"].sum()))
    assert drifts[0] > 1e-6  # it does drift
    assert 1.6 < drifts[0] / drifts[1] < 2.4


def test_the_centre_of_mass_flies_on_a_straight_line() -> None:
    one = _flight(False)
    one.gravity[:] = 0
    h, places = 0.002, []
    for steps in (0, 8, 16):
        places.append(_run(one, h, steps)[1]["subtree_com"][1])
    first, second = places[1] - places[0], places[2] - places[1]
    assert np.abs(first).max() > 1e-4
    np.testing.assert_allclose(second, first, atol=2e-4 * np.abs(first).max())


def _angular_momentum(found: dict[str, Any], qvel: np.ndarray) -> np.ndarray:
    """Return the angular momentum of an ant about its centre of mass, in world axes."""
    linear, about_root = np.split((full(found["M"]) @ qvel)[:6], 2)
    turn = np.array(plain.module("difftile.worlds.quaternions").matrix(found["xquat"][1]))
    return turn @ about_root - np.cross(found["subtree_com"][1] - found["xpos"][1], linear)


def test_angular_momentum_of_a_flight_drifts_with_the_step() -> None:
    """Legs that swing turn the trunk, and the whole keeps its momentum."""
    drifts = []
    for h, steps in ((0.004, 10), (0.002, 20)):
        one = _flight(False)
        one.timestep[()] = h
        given = numbers()["ant"]["states"][0]
        state = state_of(one, {"qpos": given["qpos"], "qvel": 3 * np.array(given["qvel"])})
        found = plain.terms(one, state)
        first, spin = _angular_momentum(found, state["qvel"]), state["qvel"][3:6]
        for _ in range(steps):
            state = with_accelerations(one, state, found["M_hat"], -found["qfrc_bias"])
            found = plain.terms(one, state)
            state = {**state, "qpos": found["qpos_next"], "qvel": found["qvel_next"]}
            found = plain.terms(one, {**state, "b": 0 * state["b"]})
        drifts.append(_angular_momentum(found, state["qvel"]) - first)
        assert np.abs(state["qvel"][3:6] - spin).max() > np.abs(drifts[-1]).max()
    coarse, fine = drifts
    assert 1e-5 < np.abs(coarse).max() < 0.05 * np.abs(first).max()
    assert np.abs(2 * fine - coarse).max() < 0.1 * np.abs(fine).max()  # no drift without steps


NAMES = ("box_soft", "double_pendulum", "ant", "chain")


@pytest.mark.parametrize("name", NAMES)
def test_forms_for_adjoints_are_those_of_the_terms(name: str) -> None:
    """`excess` is β·(M̂ - M) b, and the transposed solve solves with the transpose of M̂."""
    one, given = model(name), numbers()[name]["states"][1]
    state = state_of(one, {k: given[k] for k in ("qpos", "qvel", "act")})
    if one.sizes.nu:
        state["ctrl"][:] = given["ctrl"][0]
    rng = np.random.default_rng(0)
    sizes = one.sizes
    along, b, total = rng.normal(size=(3, sizes.nv))
    state["total"][:] = total
    found = plain.terms(one, state)
    forms = plain.module("tests.worlds.smooth").Forms(sizes)
    m, s = plain.parameters(one), SimpleNamespace(**state)
    out = SimpleNamespace(solved=Local(sizes.nv), transposed=Local(sizes.nv))
    excess = forms.forms(m, s, along, b, out)
    M = full(found["M"])
    M_hat, (alone, solved, back) = (
        full(found["M_hat"]),
        ([], out.solved.values, out.transposed.values),
    )
    if sizes.nalone:
        alone = one.tables["alone_dofadr"][0] + np.arange(6)
        # M̂ from its inverse, column by column: the part that is not symmetric is in `excess` alone.
        columns = []
        for i in range(sizes.nv):
            s.total = np.eye(sizes.nv)[i]
            each = SimpleNamespace(solved=Local(sizes.nv), transposed=Local(sizes.nv))
            forms.forms(m, s, along, b, each)
            columns.append(each.solved.values)
        M_hat = np.linalg.inv(np.array(columns).T)
        assert np.abs(M_hat - M_hat.T).max() > 1e-6
        np.testing.assert_allclose(M_hat @ solved, total, rtol=1e-9)
        np.testing.assert_allclose(M_hat.T @ back, total, rtol=1e-9)
    np.testing.assert_allclose(excess, along @ ((M_hat - M) @ b), rtol=1e-8, atol=1e-12)


def test_a_spring_takes_two_steps_at_least() -> None:
    solref, solimp = np.array([0.001, 0.8]), np.array([0.9, 0.95, 0.001, 0.5, 2.0])
    for h, time in ((0.005, 0.01), (0.0001, 0.001)):
        k, b = spring.function(solref, solimp, 2.0 * h)
        assert b == pytest.approx(2 / (0.95 * time))
        assert k == pytest.approx(1 / (0.95 * time * 0.8) ** 2)
