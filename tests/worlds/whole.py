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
    a, qpos_next, qvel_next = Local(sizes.nv), Local(sizes.nq), Local(sizes.nv)
    made = module("difftile.worlds.step")
    given = m, qpos, qvel, ctrl, act, qfrc, xfrc
    made.WorldStep(sizes).step(*given, a, qpos_next, qvel_next, Local(act.shape))
    frames = Local(sizes.nbody, VEC3), Local(sizes.nbody, made.vec4)
    sensordata = Local(sizes.nsensordata)
    observation = module("difftile.worlds.observe").Observation(sizes)
    observation.run(m, qpos, qvel, ctrl, act, xfrc, (a,), sensordata, *frames)
    return [a.values, sensordata.values, qvel_next.values]
