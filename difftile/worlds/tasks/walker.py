"""Two legs that stay in the plane of x and z walk along x."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.task import Task
from difftile.worlds.tasks.gaits import effort, observe_planar

_LEG = """
      <body name="{side} thigh" pos="0 {y} -0.2">
        <joint name="{side} hip" range="-1.4 0.9"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
        <body name="{side} shin" pos="0 0 -0.4">
          <joint name="{side} knee" range="0 2.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.42" size="0.04"/>
          <body name="{side} foot" pos="0 0 -0.42">
            <joint name="{side} ankle" range="-0.8 0.8"/>
            <geom type="capsule" fromto="-0.05 0 -0.05 0.18 0 -0.05" size="0.05" contype="1"/>
          </body>
        </body>
      </body>"""
_SIDES = {"left": 0.05, "right": -0.05}
_MOTORS = '<motor joint="{0} hip"/><motor joint="{0} knee"/><motor joint="{0} ankle" gear="50"/>'
MODEL = f"""
<mujoco model="walker">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.004" iterations="20" cone="pyramidal"/>
  <default>
    <geom contype="0" conaffinity="0" density="1000" friction="0.9"
      margin="0.002" solimp="0 0.95 0.01"/>
    <joint axis="0 1 0" armature="0.02" damping="0.8" solimplimit="0 0.95 0.05"/>
    <motor ctrlrange="-1 1" gear="100"/>
    <default class="free"><joint armature="0" damping="0"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="30 5 0.1" conaffinity="1"/>
    <body name="trunk" pos="0 0 1.12">
      <joint name="along" class="free" type="slide" axis="1 0 0"/>
      <joint name="up" class="free" type="slide" axis="0 0 1" ref="1.12"/>
      <joint name="pitch" class="free"/>
      <geom type="capsule" fromto="0 0 -0.18 0 0 0.22" size="0.06"/>{
    "".join(_LEG.format(side=side, y=y) for side, y in _SIDES.items())
}
    </body>
  </worldbody>
  <actuator>{"".join(_MOTORS.format(side) for side in _SIDES)}</actuator>
</mujoco>"""


@dt.kernel
def pay(qpos, qvel, action, reward, done):
    """Speed, an upright trunk, its height, and little effort."""
    well = qpos[1] > 0.7 and qpos[1] < 2.0 and abs(qpos[2]) < 0.8
    gain = qvel[0] + 1.0 - qpos[2] ** 2 + (qpos[1] - 0.7) - 0.02 * effort(action)
    reward[None] = ti.select(well, gain, 0.0)
    done[None] = ti.select(well, 0, 1)


TASK = Task(
    name="walker",
    model=MODEL,
    observe=observe_planar,
    observations=9 - 1 + 9 + 2,
    reward=pay,
    substeps=4,
    episode=256,
    spread={f"{side} hip": 0.2 for side in _SIDES},
    speeds={"along": (0.0, 1.0)},
)
