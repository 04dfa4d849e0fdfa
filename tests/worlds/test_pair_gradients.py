"""Gradients of steps through contacts of boxes and meshes, beside differences of MuJoCo's steps.

Differences through curved geoms are none: MuJoCo's contacts of these have noise of 1e-5 m. Their
gradients are tested in `test_distances`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")
STEPS = 20
STONE = "0.2 0.1 -0.1 -0.2 0.15 -0.12 -0.1 -0.2 -0.1 0.18 -0.15 -0.11 0.05 0.02 0.2 0.1 0.12 0.15"
GEOMS = {
    "box": 'type="box" size=".2 .15 .1"',
    "mesh": 'type="mesh" mesh="stone"',
}
PAIRS = [("box", "box"), ("box", "mesh")]


@dt.kernel
def judge(qpos, qvel, a, b, loss):
    for i in range(qvel.shape[1]):
        loss[None] += a[i] * qpos[0, i] + b[i] * qvel[0, i]


@pytest.mark.slow  # each pair compiles for long
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_gradients_of_steps_are_those_of_differences_of_mujoco(pair: tuple[str, str]) -> None:
    text = f"""<mujoco><option timestep="0.002" tolerance="1e-15" ccd_tolerance="1e-14"
      ccd_iterations="500" iterations="200"/><asset><mesh name="stone" vertex="{STONE}"/></asset>
      <default><geom solimp="0 0.95 0.02" solref="0.02 1"/></default><worldbody>
      <geom {GEOMS[pair[0]]} euler="3 5 7"/><body pos="0.03 0.02 0.24" euler="8 -6 30"><freejoint/>
      <geom {GEOMS[pair[1]]}/></body></worldbody></mujoco>"""
    source = mujoco.MjModel.from_xml_string(text)
    data, rng = mujoco.MjData(source), np.random.default_rng(1)
    a, b = rng.normal(size=6), rng.normal(size=6)
    start = np.array([0.1, -0.2, -0.5, 0.5, 0.1, -0.4])

    def ends(q: np.ndarray, v: np.ndarray) -> float:
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = q, v, 0.0
        data.time = 0.0
        for _ in range(STEPS):
            mujoco.mj_step(source, data)
        return float(a @ data.qpos[:6] + b @ data.qvel)

    low, high = 0.1, 0.6  # the height at which they touch
    for _ in range(40):
        data.qpos[:] = source.qpos0
        data.qpos[2] = 0.5 * (low + high)
        mujoco.mj_kinematics(source, data)
        apart = mujoco.mj_geomDistance(source, data, 0, 1, 1.0, None) > 0
        low, high = (low, data.qpos[2]) if apart else (data.qpos[2], high)
    q0 = source.qpos0.copy()
    q0[2] = low - 0.004
    sim = worlds.Worlds(worlds.load(source), 1, dtype=ti.f64, tolerance=1e-15)
    sim.qpos.from_numpy(q0[None])
    sim.qvel.from_numpy(start[None])
    loss = dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape(loss):
        for _ in range(STEPS):
            sim.step()
        judge(sim.qpos, sim.qvel, dt.from_numpy(a), dt.from_numpy(b), loss)
    assert abs(loss[None] - ends(q0, start)) < 1e-6
    ours, h = sim.qvel.grad.to_numpy()[0], 1e-5
    for k, e in enumerate(np.eye(6)):
        up, down, far, back = (ends(q0, start + t * h * e) for t in (1, -1, 2, -2))
        wanted = (8 * (up - down) - (far - back)) / (12 * h)
        assert abs(ours[k] - wanted) < 1e-6 * (1 + abs(wanted))
