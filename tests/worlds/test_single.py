"""Worlds in single precision, and any start of the solver, compared with the numbers of MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.diagnostics import NotDifferentiable
from tests.worlds.bounds import check_gradients, check_starts, check_states
from tests.worlds.conformance import NAMES, model
from tests.worlds.test_gradients import Rollout

# Models compile for long, and one stands for all by default.
_SLOW = pytest.mark.slow
NAMED = [name if name == "cartpole" else pytest.param(name, marks=_SLOW) for name in NAMES]


@pytest.fixture(scope="module")
def rollouts() -> Any:
    """Return a function from names to rollouts in single precision, which are kept."""
    made: dict[str, Rollout] = {}

    def of(name: str) -> Rollout:
        return made.setdefault(name, made.get(name) or Rollout(name, ti.f32))

    return of


@pytest.mark.parametrize("name", NAMED)
def test_states_and_starts_in_single_precision(name: str, rollouts: Any) -> None:
    check_states(rollouts(name))
    check_starts(rollouts(name))
    assert rollouts(name).sim._outcome.to_numpy()[:, 0].max() < 1e-5  # the residual


@pytest.mark.filterwarnings("ignore:A gradient passes contacts")  # box, on purpose
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("case", ["gradient", "gradient_long"])
def test_gradients_in_single_precision(name: str, case: str, rollouts: Any) -> None:
    check_gradients(rollouts(name), case)


@_SLOW
@pytest.mark.parametrize("name", NAMES)
def test_states_and_starts_in_double_precision(name: str) -> None:
    rollout = Rollout(name)
    check_states(rollout, 100)
    check_starts(rollout)


def test_worlds_do_not_depend_on_those_beside_them(rollouts: Any) -> None:
    """A world has the same bits whatever the others are, and whichever thread steps it."""
    sim, found = rollouts("cartpole").sim, []
    for other in (0.0, 0.3):
        rollouts("cartpole").start()
        sim.qpos[0, 1] = other
        sim.qvel[2, 0] = other
        for _ in range(5):
            sim.step()
        found.append((sim.qpos.to_numpy(), sim.qvel.to_numpy()))
    for one, another in zip(*found, strict=True):
        np.testing.assert_array_equal(one[1], another[1])
        assert (one[0] != another[0]).any()


def test_tangents_through_gradients_from_a_distance_are_refused() -> None:
    """Their rule is one for adjoints, of another model, so forward mode says so at its line."""
    sim = worlds.Worlds(model("box_soft"), 2, dtype=ti.f32, contact_gradient="distance")

    def after(qvel: Any) -> Any:
        sim.qvel.copy_from(qvel)
        sim.step()
        return sim.qpos

    with pytest.raises(NotDifferentiable, match="has only a backward rule") as caught:
        dt.jvp(after, dt.zeros((2, 6), grad=True), np.ones((2, 6), np.float32))
    assert "Hint: write '@accelerated_afar.forward'" in str(caught.value)
