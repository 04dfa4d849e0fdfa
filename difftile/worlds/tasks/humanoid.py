"""A humanoid with 16 motors walks along x on its feet."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.task import Task
from difftile.worlds.tasks.gaits import effort, observe_free, upright

_LEG = """
        <body name="{side} thigh" pos="0 {near} -0.04">
          <joint name="{side} hip x" axis="1 0 0" range="-0.5 0.5"/>
          <joint name="{side} hip z" axis="0 0 1" range="-0.6 0.6"/>
          <joint name="{side} hip y" axis="0 1 0" range="-1.8 0.6"/>
          <geom type="capsule" fromto="0 0 -0.02 0 0 -0.36" size="0.055"/>
          <body name="{side} shin" pos="0 0 -0.38">
            <joint name="{side} knee" axis="0 1 0" range="0 2.4"/>
            <geom type="capsule" fromto="0 0 -0.02 0 0 -0.34" size="0.045"/>
            <body name="{side} foot" pos="0 0 -0.38">
              <joint name="{side} ankle" axis="0 1 0" range="-1 0.8"/>
              <geom type="capsule" fromto="-0.06 0 -0.02 0.14 0 -0.02" size="0.035" contype="1"/>
            </body>
          </body>
        </body>"""
_ARM = """
        <body name="{side} arm" pos="0 {far} 0.3">
          <joint name="{side} shoulder" axis="0 1 0" range="-1.5 1.5"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.26" size="0.035"/>
          <body name="{side} forearm" pos="0 0 -0.26">
            <joint name="{side} elbow" axis="0 -1 0" range="0 2"/>
            <geom type="capsule" fromto="0 0 0 0 0 -0.24" size="0.03"/>
          </body>
        </body>"""
_SIDES = {"left": {"near": 0.1, "far": 0.18}, "right": {"near": -0.1, "far": -0.18}}
_GEARS = {"hip x": 60, "hip z": 40, "hip y": 120, "knee": 100, "ankle": 50}
_GEARS |= {"shoulder": 25, "elbow": 20}
_MOTORS = "".join(
    f'<motor joint="{side} {name}" gear="{gear}"/>'
    for side in _SIDES
    for name, gear in _GEARS.items()
)
MODEL = f"""
<mujoco model="humanoid">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.005" iterations="20" cone="pyramidal"/>
  <default>
    <geom contype="0" conaffinity="0" density="900" friction="0.9"
      margin="0.002" solimp="0 0.95 0.01"/>
    <joint armature="0.03" damping="2" stiffness="20" solimplimit="0 0.95 0.05"/>
    <motor ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <geom type="plane" size="30 30 0.1" conaffinity="1"/>
    <body name="hips" pos="0 0 0.88">
      <freejoint name="root"/>
      <geom type="capsule" fromto="0 -0.08 0 0 0.08 0" size="0.08"/>{
    "".join(_LEG.format(side=side, **at) for side, at in _SIDES.items())
}
      <body name="chest" pos="0 0 0.1">
        <joint name="waist y" axis="0 1 0" range="-0.6 0.6" stiffness="100"/>
        <joint name="waist x" axis="1 0 0" range="-0.4 0.4" stiffness="100"/>
        <geom type="capsule" fromto="0 -0.08 0.2 0 0.08 0.2" size="0.1"/>
        <geom type="sphere" size="0.09" pos="0 0 0.44" density="600"/>{
    "".join(_ARM.format(side=side, **at) for side, at in _SIDES.items())
}
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="waist y" gear="80"/><motor joint="waist x" gear="80"/>{_MOTORS}</actuator>
</mujoco>"""


@dt.kernel
def pay(qpos, qvel, action, reward, done):
    """Speed up to 3 m/s, hips that are upright and look ahead, their height, and little effort."""
    up, ahead = upright(qpos)
    well = qpos[2] > 0.6 and qpos[2] < 1.5 and up > 0.3
    gain = ti.min(qvel[0], 3.0) + up + 0.3 * ahead + (qpos[2] - 0.6) - 0.02 * effort(action)
    reward[None] = ti.select(well, gain, 0.0)
    done[None] = ti.select(well, 0, 1)


TASK = Task(
    name="humanoid",
    model=MODEL,
    observe=observe_free,
    observations=23 - 2 + 22 + 2,
    reward=pay,
    substeps=4,
    episode=256,
    spread={f"{side} hip y": 0.1 for side in _SIDES},
    speeds={"root": ((0.0,) * 6, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))},
)
