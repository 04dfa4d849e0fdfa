"""Bounds of section 8 of the reference, for rollouts in either float type and on any device."""

from __future__ import annotations

import numpy as np

from difftile import ti
from tests.worlds.test_gradients import UNCONVERGED, Rollout, compared
from tests.worlds.test_steps import error
from tests.worlds.test_terms import full

STEP = {ti.f64: 1e-9, ti.f32: 1e-5}  # of a state after one step
STATE = {ti.f64: 1e-8, ti.f32: 1e-4}  # after ten
ACCELERATION = {ti.f64: 1e-8, ti.f32: 1e-4}
STARTS = {ti.f64: 1e-12, ti.f32: 1e-5}  # of accelerations from any two starts of Newton's method
GRADIENT = {"gradient": 1e-7, "gradient_long": 1e-6}
COSINE = {"gradient": 0.9999, "gradient_long": 0.999}  # in single precision
SINGLE = 1e-3  # of a gradient over 20 steps


def act(rollout: Rollout, t: int) -> None:
    """Set the controls of a step."""
    if rollout.controls is not None:
        rollout.sim.ctrl.from_numpy(rollout.controls.to_numpy()[t])


def check_states(rollout: Rollout, steps: int = 10) -> None:
    """Compare accelerations, and states after 1, 10 and, in double precision, 100 steps."""
    sim, kind = rollout.sim, rollout.dtype
    rollout.start()
    for t in range(steps):
        act(rollout, t)
        sim.step()
        qacc, qpos, qvel = (f.to_numpy() for f in (sim.qacc, sim.qpos, sim.qvel))
        for w, state in enumerate(rollout.states):
            if wanted := state["after"].get(str(t + 1)):
                bound = STEP[kind] if t == 0 else STATE[kind] * (10 if t > 10 else 1)
                assert error(qpos[w], wanted["qpos"]) < bound, (w, t)
                assert error(qvel[w], wanted["qvel"]) < bound, (w, t)
            if t == 0:
                assert error(qacc[w], state["terms"]["qacc"]) < ACCELERATION[kind], w


def force_error(found: np.ndarray, wanted: np.ndarray, terms: dict[str, list[float]]) -> float:
    """Return the difference of two accelerations as the solver measures its residual: by M a.

    In single precision the inertia of a chain of links, with a condition of 3,400, makes 6e-5 of
    the accelerations of a residual of 6e-7, which is below the tolerance. Forces do not.
    """
    M = full(np.array(terms["M_lower"]))
    weight = 1 / np.sqrt(np.diag(M))
    size = np.linalg.norm(weight * (M @ wanted.astype(float)))
    return float(np.linalg.norm(weight * (M @ (found.astype(float) - wanted))) / size)


def check_starts(rollout: Rollout) -> None:
    """Compare accelerations and states from two starts of the solver."""
    sim, found = rollout.sim, []
    for size in (0.0, 100.0):
        rollout.start()
        act(rollout, 0)
        shape = sim.qacc.shape
        sim.qacc.from_numpy(size * np.cos(np.arange(shape[0] * shape[1])).reshape(shape))
        sim.step()
        found.append([f.to_numpy() for f in (sim.qacc, sim.qpos, sim.qvel)])
    for k, (one, other) in enumerate(zip(*found, strict=True)):
        for w, state in enumerate(rollout.states):
            gap = error(one[w], other[w])
            if k == 0 and rollout.dtype is ti.f32:
                gap = force_error(one[w], other[w], state["terms"])
            assert gap < STARTS[rollout.dtype], w


def check_gradients(rollout: Rollout, case: str) -> list[dict[str, np.ndarray]]:
    """Compare gradients of "gradient" or "gradient_long", and return them."""
    found = rollout.gradient(rollout.states[0][case]["steps"])
    for w, one in enumerate(found):
        for key, ours, wanted, scale, error_ in compared(one, rollout.states[w][case]):
            gap = np.abs(ours - wanted).max(initial=0)
            if rollout.dtype is ti.f64:
                bound = max(UNCONVERGED.get(rollout.name, GRADIENT[case]) * scale, 10 * error_)
                assert gap <= bound, (w, key)
                continue
            if case == "gradient":
                assert gap <= SINGLE * scale, (w, key)
            if (size := np.linalg.norm(ours) * np.linalg.norm(wanted)) > 0:
                assert float(ours @ wanted) / size > COSINE[case], (w, key)
    return found
