"""Sensors of accelerations, of the forces between bodies, and of constraints.

With the accelerations known, the forces on a body beyond gravity follow: what accelerates it, less
those of contacts and applied ones, is what its parent exerts on it (`mj_rnePostConstraint`).
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.bias import Bias
from difftile.worlds.cones import WIDTH
from difftile.worlds.constraint_forces import ConstraintForces
from difftile.worlds.equalities import Equalities
from difftile.worlds.forces import Forces
from difftile.worlds.inertia import momentum
from difftile.worlds.kinds import (
    ACCELEROMETER,
    FORCE,
    FRAMEANGACC,
    FRAMELINACC,
    JOINTLIMITPOS,
    JOINTLIMITVEL,
    LIMITS,
    MOVED,
    SITE,
    TENDONLIMITPOS,
    TENDONLIMITVEL,
    TORQUE,
    TOUCH,
)
from difftile.worlds.quaternions import conjugate, three_at, turned, vec3
from difftile.worlds.sensors import Sensors
from difftile.worlds.topology import Sizes
from difftile.worlds.zones import meets


@dt.func
def back(q, v):
    """Return a vector of the world in the axes of the orientation q."""
    return turned(conjugate(q), v)


@dt.data_oriented(frozen=True)
class Reactions:
    """Readings that need accelerations, for models of some sizes.

    Args:
        sizes: The sizes.
        pushed: Whether there are forces on bodies.
        smooth, width: As for `Cones` and `ConstraintRows`.
    """

    def __init__(
        self, sizes: Sizes, pushed: bool = True, smooth: bool = False, width: float = WIDTH
    ) -> None:
        self.acting = ConstraintForces(sizes, smooth, width)
        self.rows = self.acting.rows
        self.sensors, self.bias = Sensors(sizes), Bias(sizes)
        self.tied, self.equalities = sizes.nequality > 0, Equalities(sizes)
        self.nbody, self.nnode, self.nv = sizes.nbody, sizes.nnode, sizes.nv
        self.nsensor = sizes.nsensor
        found = set(sizes.sensors)
        self.touching, self.pushed = TOUCH in found, pushed
        self.strung, self.ntendon, self.forces = sizes.spatial, sizes.ntendon, Forces(sizes)
        self.moving, self.ending = not found.isdisjoint(MOVED), not found.isdisjoint(LIMITS)

    @dt.func
    def read(
        self,
        m,
        h,
        state,
        both,
        outer,
        bodies,
        com,
        axes,
        vel,
        paths,
        acted,
        inertias,
        geoms,
        sensordata,
    ):
        """Compute the readings of touch sensors, accelerations, forces, torques, and limits.

        Args:
            m: The parameters of the model.
            h: The time step [s], on which the reference of contacts depends.
            state: Coordinates, velocities, and forces on bodies, as for `Forces.applied`.
            both: The accelerations that the solver found, from which forces follow, and those that
                bodies have, which differ after the sweeps of `noslip`, (nv,).
            outer: The forces on bodies that these add, torques about c and forces, (nbody,) of
                vec3.
            bodies: Positions, orientations and centres of mass of bodies.
            com: The centres of trees, about which motions are written.
            axes, vel: Axes of motion, and velocities of nodes: rotations and translations.
            paths, acted: From `Paths.of`, and forces of actuators.
            inertias: From `Inertia.bodies`.
            geoms: Positions and matrices of geoms that can collide.
            sensordata: Result, (nsensordata,); other sensors are left as they are.
        """
        (a, moving), (outer_r, outer_t) = both, outer
        felt = dt.local(max(1, self.nsensor))
        if ti.static(self.moving or self.touching):
            self.contacts(m, h, state[1], a, bodies, com, axes, geoms, outer_r, outer_t, felt)
        if ti.static(self.ending):
            self.limits(m, h, state[0], state[1], a, paths, sensordata)
        acc_r, acc_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        if ti.static(self.moving):
            acc_t[0] = -m.gravity[None]
            self.bias.accelerations(m, state[1], moving, axes, vel, acc_r, acc_t)
            nodes = (vel, (acc_r, acc_t))
            self.outer(m, h, state, a, bodies, com, axes, nodes, paths, acted, outer_r, outer_t)
        if ti.static(self.touching):
            for s in range(self.nsensor):
                if m.sensor_type[s] == TOUCH:
                    self.sensors.scalar(m, s, felt[s], sensordata)
        if ti.static(self.moving):
            inner_r, inner_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
            self.inner(m, vel, acc_r, acc_t, inertias, outer_r, outer_t, inner_r, inner_t)
            acc, inner = (acc_r, acc_t), (inner_r, inner_t)
            for s in range(self.nsensor):
                self.moved(m, s, bodies, com, vel, acc, inner, sensordata)

    @dt.func
    def outer(self, m, h, state, a, bodies, com, axes, nodes, paths, acted, outer_r, outer_t):
        """Add the forces of equalities and tendons, and those applied, to those on bodies.

        Args:
            m, h, state, a, bodies, com, axes, paths, acted: As for `read`.
            nodes: Velocities, and accelerations, of nodes.
            outer_r, outer_t: Torques about c and forces on bodies, (nbody,) of vec3.
        """
        qpos, qvel, xfrc = state
        if ti.static(self.pushed):
            for b in range(1, self.nbody):
                force = three_at(xfrc, 6 * b)
                outer_r[b] += three_at(xfrc, 6 * b + 3) + (bodies[2][b] - com[b]).cross(force)
                outer_t[b] += force
        if ti.static(self.tied):
            tree = (com, axes[0], axes[1])
            self.equalities.push(m, h, qpos, qvel, bodies, tree, paths, a, outer_r, outer_t)
        if ti.static(self.strung):
            for t in range(self.ntendon):
                pull = self.tension(m, h, t, qvel, a, paths, acted)
                if ti.static(self.forces.paths.armed):
                    armature = self.forces.laws.tendon_armature(m, t)
                    pull -= armature * self.forces.paths.drift(m, t, bodies, com, *nodes)
                if ti.static(self.equalities.ropes):
                    pull += self.equalities.tension(m, h, t, qpos, qvel, bodies, paths, a)
                self.rows.paths.push(m, t, pull, bodies, com, outer_r, outer_t)

    @dt.func
    def moved(self, m, s, bodies, com, vel, acc, inner, sensordata):
        """Store the reading of a sensor of accelerations, or of forces between bodies.

        Args:
            m, bodies, com, vel, sensordata: As for `read`.
            s: The sensor.
            acc: From `Bias.accelerations`.
            inner: From `inner`.
        """
        kind = m.sensor_type[s]
        local = kind == ACCELEROMETER or kind == FORCE or kind == TORQUE
        if local or kind == FRAMELINACC or kind == FRAMEANGACC:
            b, x, q = self.sensors.place(
                m, m.sensor_objtype[s], m.sensor_objid[s], bodies[0], bodies[1]
            )
            arm, n = x - com[b], m.body_nodeid[b]
            found = inner[1][b]
            if kind == TORQUE:
                found = inner[0][b] - arm.cross(inner[1][b])
            elif kind == FRAMEANGACC:
                found = acc[0][n]
            elif kind == ACCELEROMETER or kind == FRAMELINACC:
                w = vel[0][n]
                found = acc[1][n] + acc[0][n].cross(arm) + w.cross(vel[1][n] + w.cross(arm))
            if local:
                found = back(q, found)
            self.sensors.vector(m, s, found, sensordata)

    @dt.func
    def limits(self, m, h, qpos, qvel, a, paths, sensordata):
        """Store the readings of sensors of limits: how far beyond its margin, its speed, its force.

        They read the end of a range that is within its margin, the lower one if both are; 0 where
        none is.
        """
        for s in range(self.nsensor):
            kind, row = m.sensor_type[s], m.sensor_limitid[s]
            if row >= 0:
                found, reached = 0.0, False
                for side in range(2):
                    dist, jacobian = self.rows.limit(m, row, side, qpos, paths)
                    margin = self.rows.limit_margin(m, row)
                    if dist < margin and not reached:
                        reached = True
                        if kind == JOINTLIMITPOS or kind == TENDONLIMITPOS:
                            found = dist - margin
                        elif kind == JOINTLIMITVEL or kind == TENDONLIMITVEL:
                            found = self.rows.along(m, row, jacobian, qvel, paths[1])
                        else:
                            found = self.acting.limit(m, h, row, dist, jacobian, qvel, a, paths[1])
                self.sensors.scalar(m, s, found, sensordata)

    @dt.func
    def tension(self, m, h, t, qvel, a, paths, force):
        """Return the force that lengthens a tendon: of its spring, its actuators, and its rows."""
        found = self.forces.tendon_force(m, t, qvel, paths)
        for u in range(self.forces.nu):
            if self.forces.transmission.path(m, u) == t:
                found += m.actuator_gear[u][0] * force[u]
        for k in range(self.rows.nlimit, self.rows.nend):
            if m.limit_tendonid[k - self.rows.nlimit] == t:
                for side in range(2):
                    dist, jacobian = self.rows.limit(m, k, side, paths[0], paths)
                    pull = self.acting.limit(m, h, k, dist, jacobian, qvel, a, paths[1])
                    found += jacobian[0] * pull
        for k in range(self.rows.nfriction, self.rows.ndry):
            if m.friction_tendonid[k - self.rows.nfriction] == t:
                found += self.acting.dry(m, h, k, qvel, a, paths[1])
        return found

    @dt.func
    def contacts(self, m, h, qvel, a, bodies, com, axes, geoms, outer_r, outer_t, felt):
        """Add the forces of contacts to those on bodies, and to what touch sensors feel.

        Args:
            m, h, qvel, a, bodies, com, axes, geoms: As for `read`.
            outer_r, outer_t: Torques about c and forces on bodies, (nbody,) of vec3.
            felt: Forces in the zones of touch sensors, (nsensor,) [N].
        """
        v_r, v_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        a_r, a_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        self.rows.motions(m, axes[0], axes[1], qvel, v_r, v_t)
        self.rows.motions(m, axes[0], axes[1], a, a_r, a_t)
        given = (com, (a_r, a_t), bodies, outer_r, outer_t, felt)
        self.rows.fold(m, h, geoms, com, (v_r, v_t), self.feel, 0, given)

    @dt.func
    def feel(self, m, s, place, law, count, given):
        """Add the force of a contact; return the number of contacts. Given is from `contacts`."""
        com, motions, bodies, outer_r, outer_t, felt = given
        point, frame = place
        push = self.acting.contact(m, s, place, law, com, motions)
        b1, b2 = self.rows.bodies(m, s)
        if ti.static(self.moving):
            force, turn = self.rows.wrench(frame, push)
            outer_t[b1] -= force
            outer_r[b1] -= (point - com[b1]).cross(force) + turn
            outer_t[b2] += force
            outer_r[b2] += (point - com[b2]).cross(force) + turn
        if ti.static(self.touching):
            normal = ti.Vector([frame[0, 0], frame[0, 1], frame[0, 2]])
            self.touch(m, b1, b2, point, normal, push[0], bodies, felt)
        return count + 1

    @dt.func
    def touch(self, m, b1, b2, point, normal, push, bodies, felt):
        """Add the normal force of a contact to the sensors whose zone its line enters.

        The line begins at the contact, and points out of the other body.
        """
        for s in range(self.nsensor):
            i = m.sensor_objid[s]
            if m.sensor_type[s] == TOUCH and push > 0.0:
                b = m.site_bodyid[i]
                if b == b1 or b == b2:
                    ray = normal
                    if b == b2:
                        ray = -normal
                    b, place, q = self.sensors.place(m, SITE, i, bodies[0], bodies[1])
                    if meets(m.site_type[i], m.site_size[i], back(q, point - place), back(q, ray)):
                        felt[s] += push

    @dt.func
    def inner(self, m, vel, acc_r, acc_t, inertias, outer_r, outer_t, inner_r, inner_t):
        """Compute what the parent of each body exerts on it: torques about c, and forces.

        Args:
            m, vel, inertias: As for `read`.
            acc_r, acc_t: From `Bias.accelerations`.
            outer_r, outer_t: Forces on bodies from outside.
            inner_r, inner_t: Result, (nbody,) of vec3.
        """
        for b in range(1, self.nbody):
            n = m.body_nodeid[b]
            v_r, v_t = vel[0][n], vel[1][n]
            mass, moment, rotational = m.body_mass[b], inertias[0][b], inertias[1][b]
            p_r, p_t = momentum(mass, moment, rotational, v_r, v_t)
            q_r, q_t = momentum(mass, moment, rotational, acc_r[n], acc_t[n])
            inner_r[b] += q_r + v_r.cross(p_r) + v_t.cross(p_t) - outer_r[b]
            inner_t[b] += q_t + v_r.cross(p_t) - outer_t[b]
        for k in range(self.nbody - 1):
            b = self.nbody - 1 - k
            p = m.body_parentid[b]
            inner_r[p] += inner_r[b]
            inner_t[p] += inner_t[b]
