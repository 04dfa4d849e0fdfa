"""Gradients of steps through contacts of convex geoms, beside differences of the steps themselves.

Differences of fourth order of steps here are the oracle for all pairs, and differences of MuJoCo's
steps for polytopes. MuJoCo finds the contacts of curved geoms up to a tolerance, and its steps are
compared with those here alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")
STEPS = 5
STONE = "0.2 0.1 -0.1 -0.2 0.15 -0.12 -0.1 -0.2 -0.1 0.18 -0.15 -0.11 0.05 0.02 0.2 0.1 0.12 0.15"
GEOMS = {
    "plane": 'type="plane" size="1 1 1"',
    "sphere": 'type="sphere" size=".15"',
    "capsule": 'type="capsule" size=".08 .15"',
    "ellipsoid": 'type="ellipsoid" size=".2 .15 .1"',
    "cylinder": 'type="cylinder" size=".15 .1"',
    "box": 'type="box" size=".2 .15 .1"',
    "mesh": 'type="mesh" mesh="stone"',
}
POLYTOPES = [("box", "box"), ("box", "mesh"), ("mesh", "mesh"), ("plane", "mesh")]
CURVED = [
    *(("plane", "cylinder"), ("sphere", "cylinder"), ("capsule", "cylinder")),
    *(("cylinder", "cylinder"), ("box", "cylinder"), ("mesh", "cylinder")),
    *(("plane", "ellipsoid"), ("sphere", "ellipsoid"), ("capsule", "ellipsoid")),
    *(("box", "ellipsoid"), ("mesh", "ellipsoid"), ("ellipsoid", "ellipsoid")),
    ("cylinder", "ellipsoid"),
]
POINTS = ((1, 8), (-1, -8), (2, -1), (-2, 1))  # of a difference of fourth order, and weights


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    """Run steps by their meaning: a pair takes half a minute, where a compiler takes minutes."""
    dt.init(arch="python")
    yield


class Fall:
    """A geom that falls on another one: a number, as a function of its first velocity.

    Args:
        pair: The types of geoms.
    """

    def __init__(self, pair: tuple[str, str]) -> None:
        self.source = mujoco.MjModel.from_xml_string(
            f"""<mujoco><option timestep="0.002" tolerance="1e-15" ccd_tolerance="1e-14"
            ccd_iterations="500" iterations="200"/><asset><mesh name="stone" vertex="{STONE}"/>
            </asset><default><geom solimp="0 0.95 0.02" solref="0.02 1"/></default><worldbody>
            <geom {GEOMS[pair[0]]} euler="{"0 0 0" if pair[0] == "plane" else "3 5 7"}"/>
            <body pos="0.03 0.02 0.24" euler="18 -16 30"><freejoint/><geom {GEOMS[pair[1]]}/></body>
            </worldbody></mujoco>"""
        )
        self.data, rng = mujoco.MjData(self.source), np.random.default_rng(1)
        self.weights, self.along = rng.normal(size=(2, 6)), rng.normal(size=6)
        self.v0 = np.array([0.1, -0.2, -0.5, 0.5, 0.1, -0.4])
        self.q0 = self.source.qpos0.copy()
        low, high = 0.0, 0.6  # the height at which they touch
        for _ in range(40):
            self.q0[2] = 0.5 * (low + high)
            self.data.qpos[:] = self.q0
            mujoco.mj_kinematics(self.source, self.data)
            apart = mujoco.mj_geomDistance(self.source, self.data, 0, 1, 1.0, None) > 0
            low, high = (low, self.q0[2]) if apart else (self.q0[2], high)
        self.q0[2] = low - 0.004
        self.sim = worlds.Worlds(worlds.load(self.source), 1, dtype=ti.f64, tolerance=1e-15)

    def theirs(self, v: np.ndarray) -> float:
        """Return the number after steps of MuJoCo."""
        mujoco.mj_resetData(self.source, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.q0, v
        for _ in range(STEPS):
            mujoco.mj_step(self.source, self.data)
        assert self.data.ncon
        return float(self.weights[0] @ self.data.qpos[:6] + self.weights[1] @ self.data.qvel)

    def put(self, v: np.ndarray) -> None:
        """Set the first state."""
        self.sim.qpos.from_numpy(self.q0[None])
        self.sim.qvel.from_numpy(v[None])

    def ours(self, v: np.ndarray) -> float:
        """Return the number after steps here."""
        self.put(v)
        self.sim.step(STEPS)
        qpos, qvel = self.sim.qpos.to_numpy()[0], self.sim.qvel.to_numpy()[0]
        return float(self.weights[0] @ qpos[:6] + self.weights[1] @ qvel)

    def slope(self) -> float:
        """Return the derivative along a direction, by the adjoint of the steps here."""
        self.put(self.v0)
        with dt.Tape() as tape:
            self.sim.step(STEPS)
        bars = np.append(self.weights[0], 0.0)[None], self.weights[1][None]
        tape.backward(dict(zip((self.sim.qpos, self.sim.qvel), bars, strict=True)))
        return float(self.sim.qvel.grad.to_numpy()[0] @ self.along)

    def difference(self, number: Any, h: float) -> float:
        """Return that derivative by differences of fourth order."""
        return sum(w * number(self.v0 + t * h * self.along) for t, w in POINTS) / (12 * h)


@pytest.mark.slow  # half a minute each
@pytest.mark.parametrize("pair", POLYTOPES + CURVED, ids="-".join)
def test_gradients_of_steps_are_those_of_differences(pair: tuple[str, str]) -> None:
    fall = Fall(pair)
    slope = fall.slope()
    assert abs(fall.ours(fall.v0) - fall.theirs(fall.v0)) < 1e-6
    wanted = fall.difference(fall.ours, 1e-4)
    assert abs(slope - wanted) < 1e-8 * (1 + abs(wanted))
    if pair in POLYTOPES:
        wanted = fall.difference(fall.theirs, 1e-4)
        assert abs(slope - wanted) < 1e-8 * (1 + abs(wanted))
