"""Lengths and moments of what is no joint: tendons, and actuators on sites.

A path has a length, and a moment for each degree of freedom that it may depend on, by which
velocities become its velocity, and its force becomes forces. Moments are stored for the degrees of
freedom of `path_dofid` only. Source: MuJoCo's documentation, "Modeling", "Tendons", and "Actuation
model"; `mj_tendon` and `mj_transmission`.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import CRANK, SPHERE
from difftile.worlds.quaternions import conjugate, product, turned
from difftile.worlds.topology import Sizes
from difftile.worlds.wrapping import unit_of, wrapped

_LEAST = 1e-15


@dt.data_oriented(frozen=True)
class Paths:
    """The paths of models of some sizes.

    Funcs share `paths`, the lengths (npath,) and the moments of all paths one after the other.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.ntendon, self.nv = sizes.ntendon, sizes.nv
        self.lengths, self.moments = max(1, sizes.npath), max(1, sizes.nmoment)
        self.some, self.spatial, self.wrapping = sizes.npath > 0, sizes.spatial, sizes.wrapping
        self.nsited, self.cranked = sizes.npath - sizes.ntendon, sizes.cranked
        self.armed = sizes.armed and sizes.ntendon > 0

    @dt.func
    def of(self, m, qpos, bodies, tree):
        """Return the lengths and the moments of all paths.

        Args:
            m: The parameters of the model.
            qpos: Coordinates.
            bodies: Positions and orientations of bodies.
            tree: Centres of trees, and axes of motion, rotations and translations, about them.
        """
        length, moment = dt.local(self.lengths), dt.local(self.moments)
        if ti.static(self.some):
            for t in range(self.ntendon):
                for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
                    if m.wrap_momentid[w] >= 0:
                        length[t] += m.wrap_prm[w] * qpos[m.wrap_qposadr[w]]
                        moment[m.wrap_momentid[w]] += m.wrap_prm[w]
            if ti.static(self.spatial):
                for t in range(self.ntendon):
                    self.stretch(m, t, bodies, tree, length, moment)
            if ti.static(self.nsited > 0):
                for k in range(self.nsited):
                    cranked = False
                    if ti.static(self.cranked):
                        cranked = m.actuator_trntype[m.path_actuatorid[k]] == CRANK
                        if cranked:
                            self.crank(m, k, bodies, tree, length, moment)
                    if not cranked:
                        self.thrust(m, k, bodies, tree, length, moment)
        return length, moment

    @dt.func
    def stretch(self, m, t, bodies, tree, length, moment):
        """Add up the segments of a spatial tendon, each from a site to the next; see `of`."""
        for k in range(m.tendon_segmentadr[t], m.tendon_segmentadr[t] + m.tendon_segmentnum[t]):
            share, arc, b1, x1, b, near, far, b2, x2 = self.segment(m, k, bodies)
            self.span(m, t, share, b1, x1, b, near, tree, length, moment)
            if ti.static(self.wrapping):
                if arc >= 0.0:
                    length[t] += share * arc
                    self.span(m, t, share, b, far, b2, x2, tree, length, moment)

    @dt.func
    def push(self, m, t, force, bodies, com, outer_r, outer_t):
        """Add what a spatial tendon with a force along its length does to bodies.

        Args:
            m: The parameters of the model.
            t: The tendon.
            force: The force that lengthens it [N].
            bodies, com: Positions and orientations of bodies, and centres of trees.
            outer_r, outer_t: Torques about c, and forces, (nbody,) of vec3.
        """
        for k in range(m.tendon_segmentadr[t], m.tendon_segmentadr[t] + m.tendon_segmentnum[t]):
            share, arc, b1, x1, b, near, far, b2, x2 = self.segment(m, k, bodies)
            self.part(share * force, b1, x1, b, near, com, outer_r, outer_t)
            if ti.static(self.wrapping):
                if arc >= 0.0:
                    self.part(share * force, b, far, b2, x2, com, outer_r, outer_t)

    @dt.func
    def part(self, force, b1, x1, b2, x2, com, outer_r, outer_t):
        """Add forces that push the point x1 of body b1 and x2 of b2 apart; see `push`."""
        pushed = force * unit_of(x2 - x1)[0]
        outer_r[b1] -= (x1 - com[b1]).cross(pushed)
        outer_t[b1] -= pushed
        outer_r[b2] += (x2 - com[b2]).cross(pushed)
        outer_t[b2] += pushed

    @dt.func
    def segment(self, m, k, bodies):
        """Return the way of a segment from its first site to its second.

        Returns:
            The share of its length that counts; the length on a geom, -1 where it touches none;
            the body and the position of the first site, of the point that it goes straight to, of
            the one where it leaves the geom, on the same body, and of the second site.
        """
        x1 = self.point(m, m.segment_site1[k], bodies)
        x2 = self.point(m, m.segment_site2[k], bodies)
        b1, b2 = m.site_bodyid[m.segment_site1[k]], m.site_bodyid[m.segment_site2[k]]
        share, arc, near, far, b = 1.0, -1.0, x2, x2, b2
        if m.segment_pulley[k] >= 0:
            share = 1.0 / m.wrap_prm[m.segment_pulley[k]]
        if ti.static(self.wrapping):
            g = m.segment_geomid[k]
            if g >= 0:
                c = m.geom_bodyid[g]
                pos = bodies[0][c] + turned(bodies[1][c], m.geom_pos[g])
                quat = product(bodies[1][c], m.geom_quat[g])
                side, sided = x1, m.segment_sideid[k] >= 0
                if sided:
                    side = self.point(m, m.segment_sideid[k], bodies)
                arc, near, far = wrapped(
                    x1, x2, pos, quat, m.geom_size[g][0], m.geom_type[g] == SPHERE, side, sided
                )
                if arc >= 0.0:
                    b = c
                else:
                    near = x2
        return share, arc, b1, x1, b, near, far, b2, x2

    @dt.func
    def point(self, m, site, bodies):
        """Return the position of a site."""
        b = m.site_bodyid[site]
        return bodies[0][b] + turned(bodies[1][b], m.site_pos[site])

    @dt.func
    def span(self, m, t, share, b1, x1, b2, x2, tree, length, moment):
        """Add the straight part of a tendon from x1 on body b1 to x2 on body b2."""
        com, axis_r, axis_t = tree
        along, size = unit_of(x2 - x1)
        length[t] += share * size
        for e in range(m.path_adr[t], m.path_adr[t] + m.path_num[t]):
            i = m.path_dofid[e]
            one, other = m.body_moved[b1 * self.nv + i], m.body_moved[b2 * self.nv + i]
            if other > one:
                moment[e] += share * along.dot(axis_t[i] + axis_r[i].cross(x2 - com[b2]))
            elif one > other:
                moment[e] -= share * along.dot(axis_t[i] + axis_r[i].cross(x1 - com[b1]))

    @dt.func
    def frame(self, m, site, bodies):
        """Return the body, the position and the orientation of a site."""
        b = m.site_bodyid[site]
        return b, self.point(m, site, bodies), product(bodies[1][b], m.site_quat[site])

    @dt.func
    def thrust(self, m, k, bodies, tree, length, moment):
        """Set the length and the moments of an actuator on a site, its gears included; see `of`.

        The gears are a force and a torque in the axes of the site, or of the one it refers to. Of
        such a reference the length is the shift and the turn of the site from it, and its own turn
        does not count in the moments, as in MuJoCo.
        """
        com, axis_r, axis_t = tree
        u, p = m.path_actuatorid[k], self.ntendon + k
        gear, target, other = m.actuator_gear[u], m.actuator_trnid[u][0], m.actuator_trnid[u][1]
        b, x, q = self.frame(m, target, bodies)
        push, twist = ti.Vector([gear[0], gear[1], gear[2]]), ti.Vector([gear[3], gear[4], gear[5]])
        o, y, turn = b, x, q
        if other >= 0:
            o, y, turn = self.frame(m, other, bodies)
            back = conjugate(turn)
            length[p] += turned(back, x - y).dot(push)
            if twist.norm_sqr() > 0.0:
                length[p] += dt.rotations.quat_log(product(back, q)).dot(twist)
        force, torque = turned(turn, push), turned(turn, twist)
        for e in range(m.path_adr[p], m.path_adr[p] + m.path_num[p]):
            i = m.path_dofid[e]
            if m.body_moved[b * self.nv + i] == 1:
                moment[e] += force.dot(axis_t[i] + axis_r[i].cross(x - com[b]))
                moment[e] += torque.dot(axis_r[i])
            else:
                moment[e] -= force.dot(axis_t[i] + axis_r[i].cross(y - com[o]))
                moment[e] -= torque.dot(axis_r[i])

    @dt.func
    def crank(self, m, k, bodies, tree, length, moment):
        """Set the length and the moments of a slider-crank, its gear included; see `of`.

        The slider moves along the z axis of its site, and a rod joins it to the site of the crank.
        Where the rod is too short the slider is next to the crank. Source: `mj_transmission`.
        """
        com, axis_r, axis_t = tree
        u, p = m.path_actuatorid[k], self.ntendon + k
        gear, rod = m.actuator_gear[u][0], m.actuator_cranklength[u]
        b, x, _turn = self.frame(m, m.actuator_trnid[u][0], bodies)
        o, y, turn = self.frame(m, m.actuator_trnid[u][1], bodies)
        axis, away = turned(turn, ti.Vector([0.0, 0.0, 1.0])), x - y
        along = axis.dot(away)
        square = along * along + rod * rod - away.dot(away)
        length[p] += gear * along
        push, bend = axis, away  # derivatives by `away`, and by the axis
        if square > 0.0:
            root = ti.sqrt(square)
            length[p] -= gear * root
            bend = (1.0 - along / root) * away
            push = (1.0 - along / root) * axis + away / root
        for e in range(m.path_adr[p], m.path_adr[p] + m.path_num[p]):
            i = m.path_dofid[e]
            if m.body_moved[b * self.nv + i] == 1:
                moment[e] += gear * push.dot(axis_t[i] + axis_r[i].cross(x - com[b]))
            else:
                moment[e] -= gear * push.dot(axis_t[i] + axis_r[i].cross(y - com[o]))
                moment[e] += gear * bend.dot(axis_r[i].cross(axis))

    @dt.func
    def drift(self, m, t, bodies, com, vel, acc):
        """Return how the speed of a tendon changes, under accelerations of nodes [m/s²].

        Args:
            m: The parameters of the model.
            t: The tendon, around no geom.
            bodies, com: Positions and orientations of bodies, and centres of trees.
            vel, acc: Velocities, and accelerations, of nodes: rotations and translations.
        """
        total = 0.0
        if ti.static(self.spatial):
            for k in range(m.tendon_segmentadr[t], m.tendon_segmentadr[t] + m.tendon_segmentnum[t]):
                share, _arc, b1, x1, _b, _near, _far, b2, x2 = self.segment(m, k, bodies)
                v1, a1 = self.motion(m, b1, x1 - com[b1], vel, acc)
                v2, a2 = self.motion(m, b2, x2 - com[b2], vel, acc)
                along, size = unit_of(x2 - x1)
                speed = along.dot(v2 - v1)
                total += share * along.dot(a2 - a1)
                if size > _LEAST:
                    total += share * ((v2 - v1).norm_sqr() - speed * speed) / size
        return total

    @dt.func
    def motion(self, m, b, arm, vel, acc):
        """Return velocity and acceleration of a point of a body, at an arm from c."""
        n = m.body_nodeid[b]
        v = vel[1][n] + vel[0][n].cross(arm)
        return v, acc[1][n] + acc[0][n].cross(arm) + vel[0][n].cross(v)

    @dt.func
    def along(self, m, p, moment, x):
        """Return the motion of a path for one of the degrees of freedom."""
        total = 0.0
        for e in range(m.path_adr[p], m.path_adr[p] + m.path_num[p]):
            total += moment[e] * x[m.path_dofid[e]]
        return total

    @dt.func
    def moves(self, m, p, moment):
        """Return whether anything moves a path; otherwise it has no rows, as in MuJoCo."""
        found = False
        for e in range(m.path_adr[p], m.path_adr[p] + m.path_num[p]):
            if moment[e] != 0.0:
                found = True
        return found

    @dt.func
    def pull(self, m, p, moment, force, tau):
        """Add the force of a path to those of the degrees of freedom."""
        for e in range(m.path_adr[p], m.path_adr[p] + m.path_num[p]):
            tau[m.path_dofid[e]] += moment[e] * force

    @dt.func
    def is_above(self, m, j, i):
        """Return whether degree of freedom j moves what i moves; i itself counts."""
        for _ in range(self.nv):
            if i <= j:
                break
            i = m.dof_parentid[i]
        return i == j

    @dt.func
    def square(self, m, p, moment, weight, M, everywhere: ti.template()):
        """Add a weight times the square of a path's moments to a packed matrix.

        Unless everywhere, only to entries of degrees of freedom above each other, as those of the
        inertia matrix: MuJoCo's integrator drops the others.
        """
        first = m.path_adr[p]
        for e in range(first, first + m.path_num[p]):
            for f in range(first, e + 1):
                i, j = m.path_dofid[e], m.path_dofid[f]
                if ti.static(everywhere) or self.is_above(m, j, i):
                    M[i * (i + 1) // 2 + j] += weight * moment[e] * moment[f]

    @dt.func
    def form(self, m, p, moment, x, y):
        """Return x^T S y with the matrix S that `square` adds for the weight 1."""
        total, first = 0.0, m.path_adr[p]
        for e in range(first, first + m.path_num[p]):
            for f in range(first, first + m.path_num[p]):
                i, j = m.path_dofid[e], m.path_dofid[f]
                if self.is_above(m, j, i) or self.is_above(m, i, j):
                    total += moment[e] * moment[f] * x[i] * y[j]
        return total
