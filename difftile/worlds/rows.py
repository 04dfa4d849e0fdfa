"""Rows of constraints: what contacts, limits and frictionloss ask of the acceleration.

A contact has three rows whatever its cone: the acceleration J a of its point along the normal and
the two tangents, less a reference. With torsional friction there is one more, about the normal, and
with rolling friction three, about all three axes. How pyramids and elliptic cones punish these
numbers is in `cones`. Jacobians are not stored: the motions of bodies give J a, and chains of
joints its columns.
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.bounds import near
from difftile.worlds.collide import FAR, ZERO, Collision
from difftile.worlds.impedance import (
    LEAST,
    SMOOTH_START,
    bounded,
    impedance,
    regularisation,
    spring,
)
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import BALL, ELLIPTIC
from difftile.worlds.paths import Paths

MANY = 256  # slots, from which on geoms that are far apart are found by their bounds
SHORT = 1e-7  # half an angle below which a ball has no axis [rad]


@dt.func
def rotation_of(q):
    """Return the angle in 0..pi and the axis of the rotation of a quaternion of any length."""
    u = q / q.norm()
    if u[0] < 0.0:
        u = -u
    part = ti.Vector([u[1], u[2], u[3]])
    sine = part.norm()
    axis = ti.Vector([1.0, 0.0, 0.0])
    angle = 0.0
    if sine > SHORT:
        axis = part / sine
        angle = 2.0 * ti.atan2(sine, u[0])
    return angle, axis


@dt.func
def found_in(rows, m, c, geom_xpos, geom_xmat, found):
    """Write the features of a pair, without a derivative: they are frozen within a step."""
    rows.collision.find(m, c, rows.distance, geom_xpos, geom_xmat, found)


@found_in.backward
def _(rows, m, c, geom_xpos, geom_xmat, found):
    pass


@dt.data_oriented(frozen=True)
class ConstraintRows:
    """The rows of a model in a state.

    Args:
        sizes: The sizes of the model.
        smooth: Whether contacts and limits appear with an impedance of nearly 0, whatever the
            model says.
        distance: Contacts have rows up to this distance beyond their margin [m]; see `distance.py`.
    """

    def __init__(self, sizes: Any, smooth: bool = False, distance: float = 0.0) -> None:
        self.smooth, self.distance, self.afar = smooth, distance, distance > 0.0
        self.collision = Collision(sizes)
        self.elliptic = sizes.cone == ELLIPTIC
        self.nv, self.nbody, self.nslot = sizes.nv, sizes.nbody, sizes.nslot
        self.npair = sum(sizes.collisions)
        self.nlimit, self.tendon_limits = sizes.nlimit, sizes.ntendonlimit
        self.nfriction, self.tendon_frictions = sizes.nfriction, sizes.ntendonfriction
        self.nend, self.ndry = sizes.nend, sizes.ndry
        self.paths, self.limited = Paths(sizes), JointTypes(sizes.limited)
        self.many = sizes.nslot > MANY
        self.nrow, self.safe = sizes.nrow, sizes.refsafe

    @dt.func
    def motions(self, m, axis_r, axis_t, x, motion_r, motion_t):
        """Set the motions of all bodies, about the centres of their trees, that x gives them."""
        for b in range(1, self.nbody):
            parent = ti.min(m.body_parentid[b], b - 1)
            r, t = motion_r[parent], motion_t[parent]
            for k in range(m.body_dofnum[b]):
                i = m.body_dofadr[b] + k
                r += axis_r[i] * x[i]
                t += axis_t[i] * x[i]
            motion_r[b] = r
            motion_t[b] = t

    @dt.func
    def apart(self, m, s, point, frame, com, motion_r, motion_t):
        """Return the rows of slot s of the motion of its second body from the first."""
        b1, b2 = self.bodies(m, s)
        v = motion_t[b2] + motion_r[b2].cross(point - com[b2])
        v -= motion_t[b1] + motion_r[b1].cross(point - com[b1])
        return self.row(frame, v, motion_r[b2] - motion_r[b1])

    @dt.func
    def bodies(self, m, s):
        """Return the two bodies of slot s."""
        return m.geom_bodyid[m.slot_geom1[s]], m.geom_bodyid[m.slot_geom2[s]]

    @dt.func
    def row(self, frame, moving, turning):
        """Return the rows of a velocity and a rotation at a contact: in its frame."""
        v = frame @ moving
        if ti.static(self.nrow == 6):
            w = frame @ turning
            found = ti.Vector([v[0], v[1], v[2], w[0], w[1], w[2]])
        elif ti.static(self.nrow == 4):
            w = frame @ turning
            found = ti.Vector([v[0], v[1], v[2], w[0]])
        else:
            found = v
        return found

    @dt.func
    def wrench(self, frame, push):
        """Return the force and the torque at a contact of forces along its rows."""
        force = frame.transpose() @ ti.Vector([push[0], push[1], push[2]])
        torque = ti.Vector([0.0, 0.0, 0.0])
        if ti.static(self.nrow == 6):
            torque = frame.transpose() @ ti.Vector([push[3], push[4], push[5]])
        elif ti.static(self.nrow == 4):
            torque = frame.transpose() @ ti.Vector([push[3], 0.0, 0.0])
        return force, torque

    @dt.func
    def start(self, solimp):
        """Return the impedance with which a contact or limit appears."""
        if ti.static(self.smooth):
            d0 = SMOOTH_START
        else:
            d0 = bounded(solimp[0])
        return d0

    @dt.func
    def shortest(self, h):
        """Return the least time constant of constraints [s]: two steps, which refsafe asks for."""
        found = 0.0
        if ti.static(self.safe):
            found = 2.0 * h
        return found

    @dt.func
    def features(self, m, c, geoms):
        """Return the features of a pair, if it has to be searched; see `Features`."""
        found = self.collision.convex.nearest.features.empty()
        if ti.static(self.collision.featured):
            found_in(self, m, c, geoms[0], geoms[1], found)
        return found

    @dt.func
    def contact(self, m, s, geoms, found):
        """Return the contact in slot s, as `Collision.contact`, its margin, and if it has rows."""
        margin, reach = self.collision.margins(m, s)
        reach += self.distance
        dist, point, frame = FAR, ZERO, ti.Matrix.zero(float, 3, 3)
        together = True
        if ti.static(self.many):
            together = near(m, m.slot_geom1[s], m.slot_geom2[s], reach, geoms[0])
        if together:
            dist, point, frame = self.collision.contact(m, s, reach, geoms[0], geoms[1], found)
        return dist, point, frame, margin, dist < margin + self.distance

    @dt.func
    def fold(self, m, h, geoms, com, motions, visit, start, given):
        """Return what a func makes of all contacts, one after the other in the order of slots.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            geoms, com: Positions and matrices of geoms; the centres of trees.
            motions: Motions of bodies that the velocities give them: rotations and translations.
            visit: The func: it gets m, the slot, the point and the frame, the law as `contact_law`
                has it, the value up to there, and `given`, and returns the value with the contact.
            start: The value of no contacts.
            given: Anything for `visit`.
        """
        value = start
        for pair in range(self.npair):
            found = self.features(m, pair, geoms)
            for s in range(m.collision_slot[pair], m.collision_slot[pair + 1]):
                dist, point, frame, margin, near = self.contact(m, s, geoms, found)
                if near:
                    speed = self.apart(m, s, point, frame, com, *motions)
                    law = self.contact_law(m, s, dist, margin, speed, h)
                    value = visit(m, s, (point, frame), law, value, given)
        return value

    @dt.func
    def contact_law(self, m, s, dist, margin, speed, h):
        """Return the law of a contact: dim, reference, D, and frictions.

        Args:
            speed: The rows of the velocity of the second body from the first.

        Returns:
            The number of dimensions; the vector r such that the rows are J a + r; the weight D of
            the rows, for an elliptic cone the normal one; mu, mu_1, mu_2 and so on, with mu = mu_1
            / sqrt(impratio), and 0 for rows that the contact does not have.
        """
        dim, friction, solref, solimp = self.collision.surface(m, s)
        b1, b2 = self.bodies(m, s)
        rho, d0 = dist - margin, self.start(solimp)
        if ti.static(self.afar):
            if rho > 0.0:
                rho -= self.distance
                d0 = LEAST
                solimp[2] = self.distance
        d = impedance(solimp, rho, d0)
        k, b = spring(solref, solimp, self.shortest(h))
        mu = friction[0] / ti.sqrt(m.impratio[None])
        a = m.body_invweight0[b1][0] + m.body_invweight0[b2][0]
        r = regularisation(d, a)
        if ti.static(not self.elliptic):
            if dim > 1:
                r = 2.0 * mu * mu * regularisation(d, a * (1.0 + friction[0] * friction[0]))
        reference = b * speed
        if ti.static(self.elliptic and self.collision.explicit_pairs):
            pair = m.slot_pair[s]
            if pair >= 0 and m.pair_solreffriction[pair].norm_sqr() > 0.0:
                damping = spring(m.pair_solreffriction[pair], solimp, self.shortest(h))[1]
                for n in ti.static(range(1, self.nrow)):
                    reference[n] = damping * speed[n]
        reference[0] += k * d * rho
        frictions = ti.Vector.zero(float, self.nrow)
        frictions[0] = mu
        for n in ti.static(range(1, self.nrow)):
            if ti.static(n < 3) or n < dim:
                frictions[n] = friction[n - 1]
        return dim, reference, 1.0 / r, frictions

    @dt.func
    def limit(self, m, k, side, qpos, paths):
        """Return the violation and the direction of a limit: of the range in row k, below or above.

        Args:
            side: 0 for the lower end of the range, 1 for the upper.
            qpos, paths: Coordinates, and lengths and moments of paths.

        Returns:
            The distance from the end [m or rad], and the Jacobian: of a ball its three columns, of
            another joint the first; of a tendon the factor of its moments.
        """
        dist, jacobian = FAR, ZERO
        if self.is_tendon(k):
            if ti.static(self.tendon_limits > 0):
                t = m.limit_tendonid[k - self.nlimit]
                if self.paths.moves(m, t, paths[1]):
                    dist, jacobian = self.end(m.tendon_range[t], side, paths[0][t])
        else:
            j = m.limit_jntid[k]
            at = m.jnt_qposadr[j]
            if not self.limited.match(m.jnt_type[j], BALL):
                dist, jacobian = self.end(m.jnt_range[j], side, qpos[at])
            elif side == 1:
                q = ti.Vector([qpos[at], qpos[at + 1], qpos[at + 2], qpos[at + 3]])
                angle, axis = rotation_of(q)
                dist, jacobian = max(m.jnt_range[j][0], m.jnt_range[j][1]) - angle, -axis
        return dist, jacobian

    @dt.func
    def end(self, ends, side, x):
        """Return the distance of a number from an end of its range, and its derivative."""
        sign = 1.0 - 2.0 * side
        return sign * (x - ends[side]), ti.Vector([sign, 0.0, 0.0])

    @dt.func
    def is_tendon(self, k):
        """Return whether row k of the limits is of a tendon."""
        if ti.static(self.tendon_limits > 0):
            return k >= self.nlimit
        return False

    @dt.func
    def limit_margin(self, m, k):
        """Return the distance at which a limit begins [m or rad]."""
        found = 0.0
        if self.is_tendon(k):
            if ti.static(self.tendon_limits > 0):
                found = m.tendon_margin[m.limit_tendonid[k - self.nlimit]]
        else:
            found = m.jnt_margin[m.limit_jntid[k]]
        return found

    @dt.func
    def along(self, m, k, jacobian, x, moment):
        """Return J x of a limit."""
        value = 0.0
        if self.is_tendon(k):
            if ti.static(self.tendon_limits > 0):
                t = m.limit_tendonid[k - self.nlimit]
                value = jacobian[0] * self.paths.along(m, t, moment, x)
        else:
            i = m.jnt_dofadr[m.limit_jntid[k]]
            value = jacobian[0] * x[i]
            if self.limited.match(m.jnt_type[m.limit_jntid[k]], BALL):
                value += jacobian[1] * x[i + 1] + jacobian[2] * x[i + 2]
        return value

    @dt.func
    def pull(self, m, k, jacobian, moment, f, force):
        """Add J^T f of a limit to a force in the coordinates of joints."""
        if self.is_tendon(k):
            if ti.static(self.tendon_limits > 0):
                t = m.limit_tendonid[k - self.nlimit]
                self.paths.pull(m, t, moment, jacobian[0] * f, force)
        else:
            i = m.jnt_dofadr[m.limit_jntid[k]]
            force[i] += jacobian[0] * f
            if self.limited.match(m.jnt_type[m.limit_jntid[k]], BALL):
                force[i + 1] += jacobian[1] * f
                force[i + 2] += jacobian[2] * f

    @dt.func
    def square(self, m, k, jacobian, moment, s, hessian):
        """Add s J^T J of a limit to a packed matrix."""
        if self.is_tendon(k):
            if ti.static(self.tendon_limits > 0):
                t = m.limit_tendonid[k - self.nlimit]
                self.paths.square(m, t, moment, s, hessian, True)
        else:
            i, n = m.jnt_dofadr[m.limit_jntid[k]], 1
            if self.limited.match(m.jnt_type[m.limit_jntid[k]], BALL):
                n = 3
            for p in range(n):
                for q in range(p + 1):
                    entry = (i + p) * (i + p + 1) // 2 + i + q
                    hessian[entry] += s * jacobian[p] * jacobian[q]

    @dt.func
    def limit_law(self, m, k, dist, speed, h):
        """Return the reference r and the weight D of a limit, whose row is J a + r."""
        rho = dist - self.limit_margin(m, k)
        stiff, damped, d, w = 0.0, 0.0, 0.0, 0.0
        if self.is_tendon(k):
            if ti.static(self.tendon_limits > 0):
                t = m.limit_tendonid[k - self.nlimit]
                solref, solimp, w = (
                    m.tendon_solref_lim[t],
                    m.tendon_solimp_lim[t],
                    m.tendon_invweight0[t],
                )
                d = impedance(solimp, rho, self.start(solimp))
                stiff, damped = spring(solref, solimp, self.shortest(h))
        else:
            j = m.limit_jntid[k]
            d, w = (
                impedance(m.jnt_solimp[j], rho, self.start(m.jnt_solimp[j])),
                m.dof_invweight0[m.jnt_dofadr[j]],
            )
            stiff, damped = spring(m.jnt_solref[j], m.jnt_solimp[j], self.shortest(h))
        return damped * speed + stiff * d * rho, 1.0 / regularisation(d, w)

    @dt.func
    def is_rope(self, k):
        """Return whether row k of frictionloss is of a tendon."""
        if ti.static(self.tendon_frictions > 0):
            return k >= self.nfriction
        return False

    @dt.func
    def rubbed(self, m, k, x, moment):
        """Return J x of a row of frictionloss."""
        value = 0.0
        if self.is_rope(k):
            if ti.static(self.tendon_frictions > 0):
                value = self.paths.along(m, m.friction_tendonid[k - self.nfriction], moment, x)
        else:
            value = x[m.friction_dofid[k]]
        return value

    @dt.func
    def rub(self, m, k, moment, f, force):
        """Add J^T f of a row of frictionloss to a force in the coordinates of joints."""
        if self.is_rope(k):
            if ti.static(self.tendon_frictions > 0):
                self.paths.pull(m, m.friction_tendonid[k - self.nfriction], moment, f, force)
        else:
            force[m.friction_dofid[k]] += f

    @dt.func
    def rub_square(self, m, k, moment, s, hessian):
        """Add s J^T J of a row of frictionloss to a packed matrix."""
        if self.is_rope(k):
            if ti.static(self.tendon_frictions > 0):
                t = m.friction_tendonid[k - self.nfriction]
                self.paths.square(m, t, moment, s, hessian, True)
        else:
            i = m.friction_dofid[k]
            hessian[i * (i + 1) // 2 + i] += s

    @dt.func
    def most_friction(self, m, k):
        """Return the largest force of a row of frictionloss."""
        found = 0.0
        if self.is_rope(k):
            if ti.static(self.tendon_frictions > 0):
                found = m.tendon_frictionloss[m.friction_tendonid[k - self.nfriction]]
        else:
            found = m.dof_frictionloss[m.friction_dofid[k]]
        return found

    @dt.func
    def friction_law(self, m, k, speed, h):
        """Return the reference r and the weight D of a row of frictionloss."""
        d, damping, w = 0.0, 0.0, 0.0
        if self.is_rope(k):
            if ti.static(self.tendon_frictions > 0):
                t = m.friction_tendonid[k - self.nfriction]
                solimp, w = m.tendon_solimp_fri[t], m.tendon_invweight0[t]
                d = impedance(solimp, 0.0, bounded(solimp[0]))
                damping = spring(m.tendon_solref_fri[t], solimp, self.shortest(h))[1]
        else:
            i = m.friction_dofid[k]
            d, w = impedance(m.dof_solimp[i], 0.0, bounded(m.dof_solimp[i][0])), m.dof_invweight0[i]
            damping = spring(m.dof_solref[i], m.dof_solimp[i], self.shortest(h))[1]
        return damping * speed, 1.0 / regularisation(d, w)
