"""A step and its readings in one state: of worlds as plain Python, and of MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np

from difftile import worlds
from tests.worlds.beside_mujoco import VEC3, filled
from tests.worlds.plain import Local, module, parameters

State = tuple[Any, Any, Any]  # coordinates, velocities, controls; activations are 0


def theirs(mujoco: Any, model: Any, state: State) -> list[np.ndarray]:
    """Return acceleration, readings, and velocity after a step of MuJoCo."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = state
    mujoco.mj_forward(model, data)
    found = [data.qacc.copy(), data.sensordata.copy()]
    mujoco.mj_step(model, data)
    return [*found, data.qvel]


def ours(model: worlds.Model, state: State) -> list[np.ndarray]:
    """Return the same of worlds; the velocity is that of Euler or implicitfast."""
    sizes, m = model.sizes, parameters(model)
    qpos, qvel, ctrl = (filled(one) for one in state)
    act, qfrc, xfrc = Local(max(1, sizes.na)), Local(sizes.nv), Local(6 * sizes.nbody)
    solved, a, b = Local(sizes.nv), Local(sizes.nv), Local(sizes.nv)
    made, outer = module("difftile.worlds.step"), Local(6 * sizes.nbody)
    step, given = made.WorldStep(sizes), (m, qpos, qvel, ctrl, act)
    step.accelerate(*given, qfrc, xfrc, solved, b)
    a.values[:] = solved.values
    if sizes.noslip:
        sliding = module("difftile.worlds.noslip")
        sliding.slide(sliding.NoSlip(sizes, step), *given, solved, a, b, outer)
    qvel_next = Local(sizes.nv)
    step.advance(*given, b, Local(sizes.nq), qvel_next, Local(act.shape))
    frames = Local(sizes.nbody, VEC3), Local(sizes.nbody, made.vec4)
    sensordata = Local(sizes.nsensordata)
    observation = module("difftile.worlds.observe").Observation(sizes)
    observation.run(*given, xfrc, (solved, a, outer), sensordata, *frames)
    return [a.values, sensordata.values, qvel_next.values]
