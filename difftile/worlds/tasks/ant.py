"""An ant with four legs runs along x, by springs in its legs (decision 84)."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.task import Task
from difftile.worlds.tasks.gaits import observe_free, upright

_LEG = """
      <body name="thigh{k}" pos="{x} {y} 0">
        <joint name="hip{k}" axis="0 0 1" range="-0.6 0.6"/>
        <geom type="capsule" fromto="0 0 0 {a} {b} 0" size="0.07"/>
        <body name="shin{k}" pos="{a} {b} 0">
          <joint name="knee{k}" axis="{u} {v} 0" range="0.4 1.7" ref="1" springref="1"/>
          <geom type="capsule" fromto="0 0 0 {c} {d} -0.42" size="0.06" contype="1"/>
        </body>
      </body>"""


def _leg(k: int, x: float, y: float) -> str:
    places = {
        "x": 0.17 * x,
        "y": 0.17 * y,
        "a": 0.2 * x,
        "b": 0.2 * y,
        "c": 0.19 * x,
        "d": 0.19 * y,
    }
    return _LEG.format(k=k, u=-0.7071 * y, v=0.7071 * x, **places)


_LEGS = "".join(_leg(k, *at) for k, at in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))))
_MOTORS = "".join(f'<motor joint="hip{k}"/><motor joint="knee{k}"/>' for k in range(4))
MODEL = f"""
<mujoco model="ant">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.005" iterations="20" cone="pyramidal"/>
  <default>
    <geom contype="0" conaffinity="0" density="600" friction="0.8"
      margin="0.005" solimp="0 0.95 0.01"/>
    <joint armature="0.02" damping="2.4" stiffness="120" solimplimit="0 0.95 0.02"/>
    <motor gear="150" ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <geom type="plane" size="30 30 0.1" conaffinity="1"/>
    <body name="trunk" pos="0 0 0.62">
      <freejoint name="root"/>
      <geom type="sphere" size="0.24" contype="1"/>{_LEGS}
    </body>
  </worldbody>
  <actuator>{_MOTORS}</actuator>
</mujoco>"""


@dt.kernel
def pay(qpos, qvel, reward, done):
    """Speed, an upright trunk that looks ahead, and its height, as in Xu et al. (ICLR 2022)."""
    up, ahead = upright(qpos)
    well = qpos[2] > 0.27 and qpos[2] < 2.0 and up > 0.0 and abs(qvel[0]) < 30.0
    gain = qvel[0] + 0.1 * up + 0.3 * ahead + (qpos[2] - 0.27)
    reward[None] = ti.select(well, gain, 0.0)
    done[None] = ti.select(well, 0, 1)


TASK = Task(
    name="ant",
    model=MODEL,
    observe=observe_free,
    observations=15 - 2 + 14 + 2,
    reward=pay,
    substeps=4,
    episode=256,
    spread=0.17,
    speeds={"root": ((0.0,) * 6, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))},
)
