"""Sensors of positions, velocities and actuators."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds import kinds
from difftile.worlds.gaps import GapSensors
from difftile.worlds.kinds import BODY, CAMERA, GEOM, POSITIVE, REAL, SITE
from difftile.worlds.quaternions import conjugate, product, turned, unit_at
from difftile.worlds.topology import Sizes
from difftile.worlds.transmission import Transmission
from difftile.worlds.zones import pierced, sight

_JOINTS = (kinds.JOINTPOS, kinds.JOINTVEL, kinds.JOINTACTFRC, kinds.BALLQUAT, kinds.BALLANGVEL)
_ACTUATORS = (kinds.ACTUATORPOS, kinds.ACTUATORVEL, kinds.ACTUATORFRC)
_TENDONS = (kinds.TENDONPOS, kinds.TENDONVEL, kinds.TENDONACTFRC)
_AXES = (kinds.FRAMEXAXIS, kinds.FRAMEYAXIS, kinds.FRAMEZAXIS)
_FRAMES = (kinds.FRAMEPOS, kinds.FRAMEQUAT, *_AXES, kinds.FRAMELINVEL, kinds.FRAMEANGVEL)
_SITES = (kinds.GYRO, kinds.VELOCIMETER, kinds.MAGNETOMETER)
_SUBTREES = (kinds.SUBTREECOM, kinds.SUBTREELINVEL, kinds.SUBTREEANGMOM)


@dt.data_oriented(frozen=True)
class Sensors:
    """Readings of sensors, for models of some sizes, of the kinds that these have.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        found = set(sizes.sensors)
        self.nsensor, self.nu = sizes.nsensor, sizes.nu
        self.transmission = Transmission(sizes)
        self.joints, self.actuators = (
            not found.isdisjoint(_JOINTS),
            not found.isdisjoint(_ACTUATORS),
        )
        self.tendons, self.subtrees = (
            not found.isdisjoint(_TENDONS),
            not found.isdisjoint(_SUBTREES),
        )
        self.frames = not found.isdisjoint((*_FRAMES, *_SITES))
        self.sighting, self.nseen = kinds.RANGEFINDER in found, sizes.nseen
        self.pierced = sizes.pierced
        self.measuring, self.gaps = not found.isdisjoint(kinds.GAPS), GapSensors(sizes)
        self.relative, self.cameras = sizes.relative, sizes.ncam > 0

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
        if ti.static(self.cameras):
            if kind == CAMERA:
                b = m.cam_bodyid[index]
                at = m.cam_pos[index]
                turn = m.cam_quat[index]
        return b, xpos[b] + turned(xquat[b], at), product(xquat[b], turn)

    @dt.func
    def read(self, m, qpos, qvel, bodies, com, vel, paths, subtrees, force, drive, sensordata):
        """Compute the readings at the beginning of a step.

        Args:
            m: The parameters of the model.
            qpos, qvel: Coordinates and velocities.
            bodies: Positions and orientations of bodies.
            com: The centres of trees.
            vel: Velocities of nodes, from `Bias.velocities`: rotations and translations.
            paths: Lengths and moments, from `Paths.of`.
            subtrees: Of bodies with their descendants: centres, velocities and angular momenta;
                from `Kinematics.centres` and `Inertia.subtrees`.
            force, drive: Of actuators, (nu,), and of all of them on degrees of freedom, (nv,).
            sensordata: Result, (nsensordata,).
        """
        for s in range(self.nsensor):
            kind, index = m.sensor_type[s], m.sensor_objid[s]
            if ti.static(self.joints):
                self.of_joint(m, s, kind, index, qpos, qvel, drive, sensordata)
            if ti.static(self.actuators):
                if kind == kinds.ACTUATORPOS:
                    self.scalar(m, s, self.transmission.length(m, index, qpos, paths), sensordata)
                elif kind == kinds.ACTUATORVEL:
                    self.scalar(m, s, self.transmission.along(m, index, qvel, paths), sensordata)
                elif kind == kinds.ACTUATORFRC:
                    self.scalar(m, s, force[index], sensordata)
            if ti.static(self.tendons):
                if kind == kinds.TENDONPOS:
                    self.scalar(m, s, paths[0][index], sensordata)
                elif kind == kinds.TENDONVEL:
                    self.scalar(
                        m, s, self.transmission.paths.along(m, index, paths[1], qvel), sensordata
                    )
                elif kind == kinds.TENDONACTFRC:
                    total = 0.0
                    for u in range(self.nu):
                        if self.transmission.path(m, u) == index:
                            total += force[u]
                    self.scalar(m, s, total, sensordata)
            if ti.static(self.subtrees):
                if kind == kinds.SUBTREECOM:
                    self.vector(m, s, subtrees[0][index], sensordata)
                elif kind == kinds.SUBTREELINVEL:
                    self.vector(m, s, subtrees[1][index], sensordata)
                elif kind == kinds.SUBTREEANGMOM:
                    self.vector(m, s, subtrees[2][index], sensordata)
            if ti.static(self.sighting):
                if kind == kinds.RANGEFINDER:
                    self.scalar(m, s, self.range(m, index, bodies), sensordata)
            if ti.static(self.measuring):
                self.of_gap(m, s, kind, bodies, sensordata)
            if ti.static(self.frames):
                self.of_frame(m, s, kind, index, bodies, com, vel, sensordata)

    @dt.func
    def of_gap(self, m, s, kind, bodies, sensordata):
        """Store the reading of a sensor of a distance; see `read`."""
        if kind >= kinds.GEOMDIST and kind <= kinds.GEOMFROMTO:
            dist, start, end = self.gaps.nearest(m, s, bodies)
            way = end - start
            if kind == kinds.GEOMDIST:
                self.scalar(m, s, dist, sensordata)
            elif kind == kinds.GEOMNORMAL:
                if way.norm_sqr() > 0.0:
                    self.vector(m, s, way.normalized(), sensordata)
                else:
                    self.vector(m, s, way, sensordata)
            else:
                for k in range(3):
                    sensordata[m.sensor_adr[s] + k] = start[k]
                    sensordata[m.sensor_adr[s] + 3 + k] = end[k]

    @dt.func
    def range(self, m, site, bodies):
        """Return how far a site sees along its z axis, past its own body; -1 for nothing [m]."""
        b, x, q = self.place(m, SITE, site, bodies[0], bodies[1])
        ray = turned(q, ti.Vector([0.0, 0.0, 1.0]))
        nearest, which = -1.0, -1
        for k in range(self.nseen):
            g = m.seen_geomid[k]
            if m.geom_bodyid[g] != b:
                away = self.distance(m, g, x, ray, bodies)
                if away >= 0.0 and (which < 0 or away < nearest):
                    nearest, which = away, g
        found = -1.0
        if which >= 0:
            found = self.distance(m, which, x, ray, bodies)
        return found

    @dt.func
    def distance(self, m, g, x, ray, bodies):
        """Return the distance of a geom from x along a ray, or -1."""
        _b, place, q = self.place(m, GEOM, g, bodies[0], bodies[1])
        back = conjugate(q)
        p, u = turned(back, x - place), turned(back, ray)
        found = -1.0
        if m.geom_type[g] != kinds.MESH:
            found = sight(m.geom_type[g], m.geom_size[g], p, u)
        elif ti.static(self.pierced):
            found = self.through(m, g, p, u)
        return found

    @dt.func
    def through(self, m, g, p, u):
        """Return the distance of the triangles of a mesh along a ray in its frame, or -1."""
        nearest, which, beside = -1.0, -1, p - p.dot(u) * u
        if beside.norm() <= m.geom_rbound[g]:
            for k in range(m.triangle_adr[g], m.triangle_adr[g] + m.triangle_num[g]):
                away = self.triangle(m, k, p, u)
                if away >= 0.0 and (which < 0 or away < nearest):
                    nearest, which = away, k
        found = -1.0
        if which >= 0:
            found = self.triangle(m, which, p, u)
        return found

    @dt.func
    def triangle(self, m, k, p, u):
        """Return the distance of a triangle along a ray, or -1."""
        corners = m.triangle_vert
        return pierced(corners[3 * k], corners[3 * k + 1], corners[3 * k + 2], p, u)

    @dt.func
    def of_joint(self, m, s, kind, j, qpos, qvel, drive, sensordata):
        """Store the reading of a sensor of a joint; see `read`."""
        at, i = m.sensor_adr[s], 0
        if kind == kinds.JOINTPOS:
            self.scalar(m, s, qpos[m.jnt_qposadr[j]], sensordata)
        elif kind == kinds.JOINTVEL:
            self.scalar(m, s, qvel[m.jnt_dofadr[j]], sensordata)
        elif kind == kinds.JOINTACTFRC:
            self.scalar(m, s, drive[m.jnt_dofadr[j]], sensordata)
        elif kind == kinds.BALLQUAT:
            q = unit_at(qpos, m.jnt_qposadr[j])
            for k in range(4):
                sensordata[at + k] = q[k]
        elif kind == kinds.BALLANGVEL:
            i = m.jnt_dofadr[j]
            self.vector(m, s, ti.Vector([qvel[i], qvel[i + 1], qvel[i + 2]]), sensordata)

    @dt.func
    def velocity(self, m, b, x, com, vel):
        """Return the velocity of the point x of body b, and its angular velocity."""
        n = m.body_nodeid[b]
        return vel[1][n] + vel[0][n].cross(x - com[b]), vel[0][n]

    @dt.func
    def of_frame(self, m, s, kind, index, bodies, com, vel, sensordata):
        """Store the reading of a sensor of a frame; see `read`.

        One with a reference frame reads positions and velocities in it, and as it sees them.
        """
        framed = kind >= kinds.FRAMEPOS and kind <= kinds.FRAMEANGVEL
        if framed or kind == kinds.GYRO or kind == kinds.VELOCIMETER or kind == kinds.MAGNETOMETER:
            b, x, q = self.place(m, m.sensor_objtype[s], index, bodies[0], bodies[1])
            moving, turning = self.velocity(m, b, x, com, vel)
            back = ti.Vector([1.0, 0.0, 0.0, 0.0])
            if ti.static(self.relative):
                if m.sensor_refid[s] >= 0:
                    o, y, p = self.place(
                        m, m.sensor_reftype[s], m.sensor_refid[s], bodies[0], bodies[1]
                    )
                    along, about = self.velocity(m, o, y, com, vel)
                    back = conjugate(p)
                    x -= y
                    moving -= along + about.cross(x)
                    turning -= about
            if kind == kinds.GYRO or kind == kinds.VELOCIMETER or kind == kinds.MAGNETOMETER:
                back = conjugate(q)
            if kind == kinds.FRAMEQUAT:
                q = product(back, q)
                for k in range(4):
                    sensordata[m.sensor_adr[s] + k] = q[k]
            else:
                v = x
                if kind >= kinds.FRAMEXAXIS and kind <= kinds.FRAMEZAXIS:
                    e = ti.Vector([0.0, 0.0, 0.0])
                    e[kind - kinds.FRAMEXAXIS] = 1.0
                    v = turned(q, e)
                elif kind == kinds.FRAMEANGVEL or kind == kinds.GYRO:
                    v = turning
                elif kind == kinds.FRAMELINVEL or kind == kinds.VELOCIMETER:
                    v = moving
                elif kind == kinds.MAGNETOMETER:
                    v = m.magnetic[None]
                self.vector(m, s, turned(back, v), sensordata)

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
