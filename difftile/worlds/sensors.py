"""Sensors of positions, velocities and actuators."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import (
    ACTUATORFRC,
    BODY,
    FRAMEANGVEL,
    FRAMELINVEL,
    FRAMEPOS,
    FRAMEQUAT,
    FRAMEXAXIS,
    FRAMEZAXIS,
    GEOM,
    GYRO,
    JOINTPOS,
    JOINTVEL,
    POSITIVE,
    REAL,
    SITE,
    SUBTREECOM,
    VELOCIMETER,
)
from difftile.worlds.quaternions import product, turned
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class Sensors:
    """Readings of sensors, for models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nsensor = sizes.nsensor

    @dt.func
    def place(self, m, kind, index, xpos, xquat):
        """Return the body of an object, and its position and orientation in the world.

        Args:
            m: The parameters of the model.
            kind, index: What the object is, and which one.
            xpos, xquat: Frames of bodies.
        """
        b = index
        at = ti.Vector([0.0, 0.0, 0.0])
        turn = ti.Vector([1.0, 0.0, 0.0, 0.0])
        if kind == BODY:
            at = m.body_ipos[index]
            turn = m.body_iquat[index]
        elif kind == GEOM:
            b = m.geom_bodyid[index]
            at = m.geom_pos[index]
            turn = m.geom_quat[index]
        elif kind == SITE:
            b = m.site_bodyid[index]
            at = m.site_pos[index]
            turn = m.site_quat[index]
        return b, xpos[b] + turned(xquat[b], at), product(xquat[b], turn)

    @dt.func
    def read(self, m, qpos, qvel, xpos, xquat, subtree_com, com, vel_r, vel_t, force, sensordata):
        """Compute the readings at the beginning of a step.

        Args:
            m: The parameters of the model.
            qpos, qvel: Coordinates and velocities.
            xpos, xquat, subtree_com, com: From `Kinematics`.
            vel_r, vel_t: From `Bias.velocities`.
            force: Of actuators, (nu,).
            sensordata: Result, (nsensordata,).
        """
        for s in range(self.nsensor):
            kind, index, at = m.sensor_type[s], m.sensor_objid[s], m.sensor_adr[s]
            if kind == JOINTPOS:
                self.scalar(m, s, qpos[m.jnt_qposadr[index]], sensordata)
            elif kind == JOINTVEL:
                self.scalar(m, s, qvel[m.jnt_dofadr[index]], sensordata)
            elif kind == ACTUATORFRC:
                self.scalar(m, s, force[index], sensordata)
            elif kind == SUBTREECOM:
                self.vector(m, s, subtree_com[index], sensordata)
            elif (kind >= FRAMEPOS and kind <= FRAMEANGVEL) or kind == GYRO or kind == VELOCIMETER:
                b, x, q = self.place(m, m.sensor_objtype[s], index, xpos, xquat)
                if kind == FRAMEQUAT:
                    for k in range(4):
                        sensordata[at + k] = q[k]
                else:
                    n = m.body_nodeid[b]
                    v = x
                    if kind >= FRAMEXAXIS and kind <= FRAMEZAXIS:
                        e = ti.Vector([0.0, 0.0, 0.0])
                        e[kind - FRAMEXAXIS] = 1.0
                        v = turned(q, e)
                    elif kind == FRAMEANGVEL or kind == GYRO:
                        v = vel_r[n]
                    elif kind == FRAMELINVEL or kind == VELOCIMETER:
                        v = vel_t[n] + vel_r[n].cross(x - com[b])
                    if kind == GYRO or kind == VELOCIMETER:
                        v = turned(ti.Vector([q[0], -q[1], -q[2], -q[3]]), v)
                    self.vector(m, s, v, sensordata)

    @dt.func
    def scalar(self, m, s, x, sensordata):
        """Store a number, within the cutoff of a sensor."""
        sensordata[m.sensor_adr[s]] = self.cut(m, s, x)

    @dt.func
    def vector(self, m, s, v, sensordata):
        """Store three numbers, within the cutoff of a sensor."""
        for k in range(3):
            sensordata[m.sensor_adr[s] + k] = self.cut(m, s, v[k])

    @dt.func
    def cut(self, m, s, x):
        """Return a number within the cutoff of a sensor."""
        found, limit = x, m.sensor_cutoff[s]
        if limit > 0.0 and m.sensor_datatype[s] == REAL:
            found = ti.math.clamp(x, -limit, limit)
        elif limit > 0.0 and m.sensor_datatype[s] == POSITIVE:
            found = min(x, limit)
        return found
