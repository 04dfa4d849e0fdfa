"""What a state looks like: frames of bodies, and readings of sensors."""

from __future__ import annotations

import difftile as dt
from difftile.worlds.bias import Bias
from difftile.worlds.forces import Forces
from difftile.worlds.kinematics import Kinematics
from difftile.worlds.quaternions import vec3, vec4
from difftile.worlds.sensors import Sensors
from difftile.worlds.topology import Sizes


@dt.data_oriented
class Observation:
    """Observations of models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nbody, self.nnode, self.nv = sizes.nbody, sizes.nnode, max(1, sizes.nv)
        self.njnt, self.nu, self.na = max(1, sizes.njnt), max(1, sizes.nu), max(1, sizes.na)
        self.kinematics, self.bias = Kinematics(sizes), Bias(sizes)
        self.forces, self.sensors = Forces(sizes), Sensors(sizes)

    @dt.func
    def run(self, m, qpos, qvel, ctrl, act, sensordata, bodies, turns):
        """Compute readings, positions and orientations; see `observe`."""
        xpos, xquat = dt.local(self.nbody, vec3), dt.local(self.nbody, vec4)
        anchor, axis = dt.local(self.njnt, vec3), dt.local(self.njnt, vec3)
        xipos, com = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        subtree_com = dt.local(self.nbody, vec3)
        axis_r, axis_t = dt.local(self.nv, vec3), dt.local(self.nv, vec3)
        vel_r, vel_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        force, slope = dt.local(self.nu), dt.local(self.nu)
        drive, act_next = dt.local(self.nv), dt.local(self.na)
        self.kinematics.frames(m, qpos, xpos, xquat, anchor, axis)
        self.kinematics.centres(m, xpos, xquat, xipos, subtree_com, com)
        self.kinematics.axes(m, xquat, com, anchor, axis, axis_r, axis_t)
        self.bias.velocities(m, qvel, axis_r, axis_t, vel_r, vel_t)
        self.forces.actuation(
            m, m.timestep[None], qpos, qvel, ctrl, act, force, slope, drive, act_next
        )
        self.sensors.read(
            m, qpos, qvel, xpos, xquat, subtree_com, com, vel_r, vel_t, force, sensordata
        )
        for b in range(self.nbody):
            bodies[b] = xpos[b]
            turns[b] = xquat[b]


@dt.kernel
def observe(observation, m, qpos, qvel, ctrl, act, sensordata, xpos, xquat):
    """Compute the readings of sensors and the frames of bodies of a world.

    Args:
        observation: The funcs, for the sizes of the model.
        m: The parameters of the model.
        qpos, qvel, ctrl, act: The state, and controls.
        sensordata: Result, (nsensordata,).
        xpos, xquat: Result, (nbody,) of vec3 and vec4.
    """
    observation.run(m, qpos, qvel, ctrl, act, sensordata, xpos, xquat)
