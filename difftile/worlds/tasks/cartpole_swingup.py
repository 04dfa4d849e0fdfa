"""A cart on a rail swings its pole up, which hangs at first, and keeps it upright."""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti
from difftile.worlds.task import Task

MODEL = """
<mujoco model="cartpole">
  <option timestep="0.01"/>
  <worldbody>
    <body>
      <joint name="rail" type="slide" axis="1 0 0" damping="0.4"/>
      <geom type="box" size="0.16 0.1 0.07" mass="0.9" contype="0" conaffinity="0"/>
      <body>
        <joint name="pivot" type="hinge" axis="0 1 0" damping="0.01" ref="180"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.7" size="0.03" mass="0.25" contype="0"
          conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="rail" gear="15" ctrlrange="-1 1"/></actuator>
</mujoco>"""
RAIL = 2.0  # to each side [m]


@dt.kernel
def observe(qpos, qvel, obs):
    """Position, direction of the pole, which stands upright at an angle of 0, and velocities."""
    obs[0] = qpos[0]
    obs[1] = ti.cos(qpos[1])
    obs[2] = ti.sin(qpos[1])
    obs[3] = qvel[0]
    obs[4] = 0.2 * qvel[1]


@dt.kernel
def pay(qpos, qvel, action, reward, done):
    """From 0 for a hanging pole to 1 for one that stands still in the middle."""
    upright = 0.5 + 0.5 * ti.cos(qpos[1])
    centred = 1.0 - 0.5 * (qpos[0] / RAIL) ** 2
    reward[None] = upright * centred - 0.002 * qvel[1] ** 2 - 0.01 * action[0] ** 2
    done[None] = ti.select(abs(qpos[0]) < RAIL, 0, 1)


TASK = Task(
    name="cartpole_swingup",
    model=MODEL,
    observe=observe,
    observations=5,
    reward=pay,
    substeps=2,
    episode=250,
    spread={"rail": 0.1, "pivot": 0.2 * math.pi},
    speeds=0.1,
)
