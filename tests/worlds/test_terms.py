"""Smooth terms of the reference models, compared with the numbers of MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from difftile import worlds
from difftile.worlds.kinds import IMPLICIT
from tests.worlds import plain
from tests.worlds.conformance import NAMES, model, numbers

TIGHT = 1e-12  # of terms; section 8 of the reference
AFTER = 1e-9  # of a step


def near(found: Any, wanted: Any, bound: float, name: str = "") -> None:
    """Check a difference relative to 1 + the largest entry."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    assert found.shape == wanted.shape, name
    if wanted.size:
        assert np.abs(found - wanted).max() <= bound * (1 + np.abs(wanted).max()), name


def full(lower: np.ndarray) -> np.ndarray:
    """Return a symmetric matrix from its lower triangle by rows."""
    n = int((8 * len(lower) + 1) ** 0.5) // 2
    matrix = np.zeros((n, n))
    matrix[np.tril_indices(n)] = lower
    return matrix + np.tril(matrix, -1).T


def state_of(one: worlds.Model, given: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return a state as `Smooth.terms` takes it, with zeros for what is not given."""
    sizes = one.sizes
    shapes = {"qpos": sizes.nq, "ctrl": max(1, sizes.nu), "act": max(1, sizes.na)}
    shapes |= {"xfrc": 6 * sizes.nbody}
    shapes |= dict.fromkeys(("qvel", "qfrc", "qacc", "total", "b"), sizes.nv)
    found = {name: np.zeros(size) for name, size in shapes.items()}
    for name, values in given.items():
        found[name][: np.size(values)] = np.ravel(values)
    return found


def with_accelerations(
    one: worlds.Model, state: dict[str, np.ndarray], M_hat: np.ndarray, total: np.ndarray
) -> dict[str, np.ndarray]:
    """Return a state with the sum of forces, and the accelerations that follow from it."""
    b = np.linalg.solve(full(M_hat), total)
    for i in one.tables["alone_dofadr"] if one.sizes.nalone else ():
        b[i : i + 6] = 0.0
    if one.sizes.integrator == IMPLICIT:  # solved where the bias is known
        b[:] = 0.0
    return {**state, "total": total, "b": b}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index", range(3))
def test_terms_are_those_of_mujoco(name: str, index: int) -> None:
    one, given = model(name), numbers()[name]["states"][index]
    wanted = given["terms"]
    state = state_of(one, {k: given[k] for k in ("qpos", "qvel", "act")})
    if one.sizes.nu:
        state["ctrl"][:] = given["ctrl"][0]
    found = plain.terms(one, state)
    near(found["M"], wanted["M_lower"], TIGHT, "M")
    for force in ("bias", "passive", "actuator"):
        near(found[f"qfrc_{force}"], wanted[f"qfrc_{force}"], TIGHT, force)
    for frame in ("xpos", "xquat", "subtree_com"):
        near(found[frame], wanted[frame], TIGHT, frame)
    near(found["energy"], wanted["energy"], TIGHT, "energy")
    total = (
        found["qfrc_passive"]
        + found["qfrc_actuator"]
        - found["qfrc_bias"]
        + wanted["qfrc_constraint"]
    )
    found = plain.terms(one, with_accelerations(one, state, found["M_hat"], total))
    after = given["after"]["1"]
    near(found["qpos_next"], after["qpos"], AFTER, "qpos after a step")
    near(found["qvel_next"], after["qvel"], AFTER, "qvel after a step")
    near(found["act_next"][: one.sizes.na], after["act"], AFTER, "act after a step")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index", range(3))
def test_sensors_are_those_of_mujoco(name: str, index: int) -> None:
    one, given = model(name), numbers()[name]["states"][index]
    if one.sizes.nsensor:
        state = state_of(one, {k: given[k] for k in ("qpos", "qvel", "act")})
        found = plain.terms(one, state)["sensordata"]
        near(found, given["terms"]["sensordata"], TIGHT, "sensordata")
