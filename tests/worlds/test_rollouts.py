"""Promises about rollouts of worlds: resets, truncation, budgets, shared parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.integrate import WorldIntegrator
from tests.worlds.conformance import model
from tests.worlds.test_gradients import control, judge

ROBOT, WORLDS, STEPS = "cartpole", 3, 8
MIDDLE = 3  # the step before which a world is reset, or all are detached


class Rollout:
    """Worlds of a cartpole under random controls.

    Args:
        per_world: Whether each world has masses of its own.
    """

    def __init__(self, per_world: bool = False) -> None:
        own = "body_mass" if per_world else ()
        self.sim = worlds.Worlds(
            model(ROBOT), WORLDS, dtype=ti.f64, per_world=own, grad="body_mass"
        )
        self.first, self.second = self.start(1), self.start(2)
        rng = np.random.default_rng(0)
        controls = 0.4 * rng.standard_normal((STEPS, WORLDS, 1))
        self.controls = dt.from_numpy(controls, grad=True)
        self.weights = [dt.from_numpy(rng.standard_normal(n)) for n in (2, 2)]

    def start(self, seed: int) -> worlds.Start:
        """Return a state of each world, with gradients; in one of them the rail ends."""
        qpos, qvel = np.random.default_rng(seed).standard_normal((2, WORLDS, 2))
        qpos[:, 0] = np.clip(0.2 * qpos[:, 0], -0.3, 0.3)
        qpos[1, 0] = 0.355
        fields = (dt.from_numpy(one, grad=True) for one in (qpos, qvel))
        return worlds.Start(*fields, self.sim.start().act)

    def gradient(
        self,
        between: Callable[[], None] = lambda: None,
        steps: range = range(STEPS),
        start: worlds.Start | None = None,
        memory: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Return the gradient by starts, controls and masses.

        Args:
            between: Is called before step `MIDDLE`.
            steps: The steps of the rollout; there are controls for `STEPS`.
            start: The first state; by default `first`.
            memory: The budget of the tape, in bytes.
        """
        first, second = self.first, self.second
        inputs = {"qpos": first.qpos, "qvel": first.qvel, "controls": self.controls}
        inputs |= {"second_qpos": second.qpos, "second_qvel": second.qvel}
        inputs["mass"] = self.sim.m.body_mass
        for field in inputs.values():
            field.grad.fill(0.0)
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(memory=memory) as tape:
            self.sim.reset(start=start or first)
            for t in steps:
                if t == MIDDLE:
                    between()
                control(t % STEPS, self.controls, self.sim.ctrl, loss)
                self.sim.step()
            judge(self.sim.qpos, self.sim.qvel, *self.weights, loss)
        self.kept = tape.nbytes
        tape.backward(loss)
        return {name: field.grad.to_numpy() for name, field in inputs.items()}

    def reset(self) -> None:
        """Put the world in the middle into its second state."""
        self.sim.reset(dt.from_numpy(np.array([0, 1, 0], np.int32)), self.second)


@pytest.fixture(scope="module")
def rollout() -> Rollout:
    return Rollout()


def same(found: Any, wanted: Any) -> None:
    """Check that numbers have the same bits."""
    assert np.isfinite(wanted).all()
    np.testing.assert_array_equal(found, wanted)


def test_a_reset_ends_the_gradient_of_its_world_and_of_no_other(rollout: Rollout) -> None:
    whole = rollout.gradient()
    alone = rollout.gradient(start=rollout.second, steps=range(MIDDLE, STEPS))
    found = rollout.gradient(rollout.reset)
    others = [0, 2]
    for name in ("qpos", "qvel"):
        same(found[name][others], whole[name][others])
        same(found[f"second_{name}"][1], alone[f"second_{name}"][1])
        assert np.abs(alone[f"second_{name}"][1]).min() > 1e-6  # it is not 0
        assert not found[name][1].any() and not found[f"second_{name}"][others].any()
    same(found["controls"][:, others], whole["controls"][:, others])
    same(found["controls"][MIDDLE:, 1], alone["controls"][MIDDLE:, 1])
    # What is left of earlier controls is their own cost.
    cost = 0.02 * rollout.controls.to_numpy()
    np.testing.assert_allclose(found["controls"][:MIDDLE, 1], cost[:MIDDLE, 1], rtol=1e-15)


@pytest.mark.compiled  # two programs agree to the bit
def test_the_unused_side_of_a_reset_may_be_nan(rollout: Rollout) -> None:
    wanted = rollout.gradient(rollout.reset)
    second, first = rollout.second.qpos.to_numpy(), rollout.first.qpos.to_numpy()
    rollout.second.qpos.from_numpy(np.where([[0], [1], [0]], second, np.nan))
    rollout.first.qpos.from_numpy(np.where([[1], [0], [1]], first, np.nan))
    found = rollout.gradient(rollout.reset)
    rollout.second.qpos.from_numpy(second)
    rollout.first.qpos.from_numpy(first)
    for name, values in wanted.items():
        same(found[name], values)


@dt.data_oriented
class Advance:
    """The end of a step of models of some sizes, as a kernel."""

    def __init__(self, sizes: worlds.Sizes) -> None:
        self.integrator = WorldIntegrator(sizes)

    @dt.kernel
    def run(self, m, qpos, qvel, b, qpos_next, qvel_next):
        for _ in range(1):
            self.integrator.advance(m, m.timestep[None], qpos, qvel, b, qpos_next, qvel_next)


def test_turns_that_are_nan_take_no_part_in_gradients_of_zero() -> None:
    for kept in (1.0, 0.0):
        qpos, qvel, b, qpos_next, qvel_next = (
            dt.zeros(n, ti.f64, grad=True) for n in (7, 6, 6, 7, 6)
        )
        for field in (qpos, qvel, b):
            field.fill(np.nan if kept == 0 else 0.5)
        with dt.Tape() as tape:
            Advance(model("box").sizes).run(
                model("box").parameters(ti.f64), qpos, qvel, b, qpos_next, qvel_next
            )
        seed = np.array([0.0, 0, 0, 0, kept, 0, 0])
        tape.backward({qpos_next: seed})
        for field in (qpos, qvel, b):
            assert np.isfinite(field.grad.to_numpy()).all()
            assert field.grad.to_numpy().any() == (kept != 0)


def test_gradients_end_where_worlds_are_detached(rollout: Rollout) -> None:
    whole, found = rollout.gradient(), rollout.gradient(rollout.sim.detach)
    same(found["controls"][MIDDLE:], whole["controls"][MIDDLE:])
    cost = 0.02 * rollout.controls.to_numpy()
    np.testing.assert_allclose(found["controls"][:MIDDLE], cost[:MIDDLE], rtol=1e-15)
    assert not found["qpos"].any() and not found["qvel"].any()


def test_budgets_give_the_same_gradient(rollout: Rollout) -> None:
    steps = range(320)  # of which a 64th holds three snapshots
    wanted = rollout.gradient(steps=steps)
    whole = rollout.kept
    for part in (16, 64):
        found = rollout.gradient(steps=steps, memory=whole // part)
        assert rollout.kept <= whole // part
        for name, values in wanted.items():
            same(found[name], values)


@pytest.mark.slow  # worlds with parameters of their own are compiled
def test_the_gradient_of_a_shared_parameter_is_the_sum_over_worlds(rollout: Rollout) -> None:
    shared, own = rollout.gradient(), Rollout(per_world=True).gradient()
    assert own["mass"].shape == (WORLDS, 3) and np.abs(own["mass"][:, 1:]).min() > 1e-6
    np.testing.assert_allclose(shared["mass"], own["mass"].sum(0), rtol=1e-12)
    for name in ("qpos", "qvel", "controls"):  # other kernels, which may round in another way
        np.testing.assert_allclose(own[name], shared[name], rtol=1e-12)


def test_one_step_passes_the_check_of_gradients(rollout: Rollout) -> None:
    def step() -> Any:
        loss = dt.zeros((), ti.f64, grad=True)
        rollout.sim.reset(start=rollout.first)
        control(0, rollout.controls, rollout.sim.ctrl, loss)
        rollout.sim.step()
        judge(rollout.sim.qpos, rollout.sim.qvel, *rollout.weights, loss)
        return loss

    first, mass = rollout.first, rollout.sim.m.body_mass
    assert dt.gradcheck(step, [first.qpos, first.qvel, rollout.controls, mass], atol=1e-9)
