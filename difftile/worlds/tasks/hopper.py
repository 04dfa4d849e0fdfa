"""A leg that stays in the plane of x and z hops along x."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.task import Task
from difftile.worlds.tasks.gaits import effort, observe_planar

MODEL = """
<mujoco model="hopper">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.004" iterations="20" cone="pyramidal"/>
  <default>
    <geom contype="0" conaffinity="0" density="1000" friction="0.9"
      margin="0.002" solimp="0 0.95 0.01"/>
    <joint axis="0 -1 0" armature="0.02" damping="0.8" solimplimit="0 0.95 0.05"/>
    <motor ctrlrange="-1 1" gear="120"/>
    <default class="free"><joint armature="0" damping="0"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="30 5 0.1" conaffinity="1"/>
    <body name="trunk" pos="0 0 1.12">
      <joint name="along" class="free" type="slide" axis="1 0 0"/>
      <joint name="up" class="free" type="slide" axis="0 0 1" ref="1.12"/>
      <joint name="pitch" class="free" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 -0.18 0 0 0.2" size="0.055"/>
      <body name="thigh" pos="0 0 -0.18">
        <joint name="hip" range="-2.2 0.2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.42" size="0.05"/>
        <body name="shin" pos="0 0 -0.42">
          <joint name="knee" range="-2.2 0.1"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.42" size="0.04"/>
          <body name="foot" pos="0 0 -0.42">
            <joint name="ankle" range="-0.7 0.7"/>
            <geom type="capsule" fromto="-0.1 0 -0.05 0.22 0 -0.05" size="0.05" contype="1"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="hip"/><motor joint="knee"/><motor joint="ankle" gear="70"/></actuator>
</mujoco>"""


@dt.kernel
def pay(qpos, qvel, action, reward, done):
    """Speed, an upright trunk, its height, and little effort."""
    well = qpos[1] > 0.7 and qpos[1] < 3.0 and abs(qpos[2]) < 0.7
    gain = qvel[0] + 1.0 - qpos[2] ** 2 + (qpos[1] - 0.7) - 0.02 * effort(action)
    reward[None] = ti.select(well, gain, 0.0)
    done[None] = ti.select(well, 0, 1)


TASK = Task(
    name="hopper",
    model=MODEL,
    observe=observe_planar,
    observations=6 - 1 + 6 + 2,
    reward=pay,
    substeps=4,
    episode=256,
    spread={"hip": 0.1, "knee": 0.1, "ankle": 0.1},
    speeds={"along": (0.0, 1.0)},
)
