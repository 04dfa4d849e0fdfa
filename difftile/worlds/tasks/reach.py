"""An arm with seven joints brings its tip to a place in space."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.task import Task
from difftile.worlds.tasks.gaits import effort

JOINTS = 7
# Length of a link [m], the axis of the joint at its beginning, half its range [rad], torque [N m].
_LINKS = (
    (0.2, "0 0 1", 2.8, 60),
    (0.2, "0 1 0", 1.8, 60),
    (0.2, "0 0 1", 2.8, 40),
    (0.2, "0 1 0", 2.2, 40),
    (0.15, "0 0 1", 2.8, 15),
    (0.1, "0 1 0", 1.8, 15),
    (0.08, "0 0 1", 2.8, 8),
)


def _arm(k: int = 0, below: float = 0.1) -> str:
    """Return link k with those that it carries."""
    if k == JOINTS:
        return f'<site name="tip" pos="0 0 {below}"/>'
    length, axis, most, _ = _LINKS[k]
    return f"""
    <body name="link{k}" pos="0 0 {below}" gravcomp="1">
      <joint name="joint{k}" axis="{axis}" range="{-most} {most}"/>
      <geom type="capsule" fromto="0 0 0 0 0 {length}" size="{0.05 - 0.004 * k}"/>
      {_arm(k + 1, length)}
    </body>"""


MODEL = f"""
<mujoco model="arm">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.005"/>
  <default>
    <geom contype="0" conaffinity="0" density="1000"/>
    <joint armature="0.05" damping="3" solimplimit="0 0.95 0.05"/>
    <motor ctrlrange="-1 1"/>
  </default>
  <worldbody>{_arm()}
  </worldbody>
  <actuator>{
    "".join(f'<motor joint="joint{k}" gear="{_LINKS[k][3]}"/>' for k in range(JOINTS))
}</actuator>
  <sensor><framepos objtype="site" objname="tip"/></sensor>
</mujoco>"""


@dt.kernel
def observe(qpos, qvel, sensordata, goal, obs):
    """Angles, velocities, the place to go to, and the way there [m]."""
    for i in range(JOINTS):
        obs[i] = qpos[i]
        obs[JOINTS + i] = 0.3 * qvel[i]
    for i in range(3):
        obs[2 * JOINTS + i] = goal[i]
        obs[2 * JOINTS + 3 + i] = goal[i] - sensordata[i]


@dt.kernel
def pay(qvel, sensordata, goal, action, reward):
    """1 at the place and at rest, 0 at 1 m from it, with a slope that is bounded everywhere."""
    square, speed = 1e-4, 0.0
    for i in range(3):
        square += (goal[i] - sensordata[i]) ** 2
    for i in range(JOINTS):
        speed += qvel[i] ** 2
    reward[None] = 1.0 - ti.sqrt(square) - 0.002 * speed - 0.01 * effort(action)


TASK = Task(
    name="reach",
    model=MODEL,
    observe=observe,
    observations=2 * JOINTS + 6,
    reward=pay,
    substeps=4,
    episode=150,
    spread={f"joint{k}": 0.5 for k in range(JOINTS)},
    goal=((-0.5, -0.5, 0.3), (0.5, 0.5, 0.9)),
)
