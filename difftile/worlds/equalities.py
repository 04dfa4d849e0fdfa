"""Equality constraints: connected points of bodies, welded bodies, joints and tendons that follow.

The penalty of an equality is ½ D z² on both sides, z = J a + r, so that it needs no search: J^T D J
is added to the inertia matrix of the problem, and -J^T D r to its forces. An equality has three
rows for a point and three for a turn; a joint or tendon that follows another has one, the first.
Points and turns are of bodies, or of sites on them.

From the documentation of MuJoCo, "Computation", "Constraint model", and "Modeling", "equality".
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.bias import Bias
from difftile.worlds.collide import ZERO
from difftile.worlds.impedance import bounded, impedance, regularisation, spring
from difftile.worlds.kinds import FOLLOWER, ROPE, SITE, WELD
from difftile.worlds.paths import Paths
from difftile.worlds.quaternions import conjugate, product, turned, vec3
from difftile.worlds.rows import ConstraintRows
from difftile.worlds.topology import Sizes


@dt.func
def part_of(q):
    """Return the vector of a quaternion."""
    return ti.Vector([q[1], q[2], q[3]])


@dt.func
def with_part(v):
    """Return the quaternion of a vector."""
    return ti.Vector([0.0, v[0], v[1], v[2]])


@dt.data_oriented(frozen=True)
class Equalities:
    """The equalities of a model in a state.

    Args:
        sizes: The sizes of the model.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nequality, self.nv, self.nbody = sizes.nequality, sizes.nv, sizes.nbody
        self.nnode = sizes.nnode
        self.rows, self.bias = ConstraintRows(sizes), Bias(sizes)
        self.paths, self.ropes = Paths(sizes), sizes.roped

    @dt.func
    def follows(self, m, e):
        """Return whether an equality has a single row, of joints or tendons."""
        return m.eq_type[e] == FOLLOWER or m.eq_type[e] == ROPE

    @dt.func
    def coordinate(self, m, e, which, qpos, length):
        """Return how far a joint or tendon of an equality is from its place at rest."""
        found = 0.0
        if m.eq_type[e] == FOLLOWER:
            at = m.jnt_qposadr[which]
            found = qpos[at] - m.qpos0[at]
        elif ti.static(self.ropes):
            found = length[which] - m.tendon_length0[which]
        return found

    @dt.func
    def bodies(self, m, e):
        """Return the two bodies of an equality; see `point`."""
        one, other = m.eq_obj1id[e], m.eq_obj2id[e]
        if m.eq_objtype[e] == SITE:
            one, other = m.site_bodyid[one], m.site_bodyid[other]
        return one, other

    @dt.func
    def turns(self, m, e, xquat):
        """Return the orientation of the first of two welded frames, and back from the second."""
        data, one, other = m.eq_data[e], m.eq_obj1id[e], m.eq_obj2id[e]
        b1, b2 = self.bodies(m, e)
        q, p = xquat[b1], xquat[b2]
        if m.eq_objtype[e] == SITE:
            q, p = product(q, m.site_quat[one]), product(p, m.site_quat[other])
        else:
            q = product(q, ti.Vector([data[6], data[7], data[8], data[9]]))
        return q, conjugate(p)

    @dt.func
    def tie(self, m, e, qpos, xpos, xquat, length):
        """Return what an equality ties.

        Args:
            m: The parameters of the model.
            e: Its row among `eq_`.
            qpos: Coordinates.
            xpos, xquat: Frames of bodies.
            length: Of tendons.

        Returns:
            The point of each of the two bodies; the matrix that takes the relative angular velocity
            to the rows of a turn; the errors of the rows; and the slope of a joint or tendon by
            the other.
        """
        data, one, other = m.eq_data[e], m.eq_obj1id[e], m.eq_obj2id[e]
        first, second, error, bend = ZERO, ZERO, ZERO, ZERO
        turn = ti.Matrix.zero(float, 3, 3)
        slope = 0.0
        if self.follows(m, e):
            gap = self.coordinate(m, e, one, qpos, length) - data[0]
            if other >= 0:
                x = self.coordinate(m, e, other, qpos, length)
                gap -= x * (data[1] + x * (data[2] + x * (data[3] + x * data[4])))
                slope = data[1] + x * (2.0 * data[2] + x * (3.0 * data[3] + x * 4.0 * data[4]))
            error = ti.Vector([gap, 0.0, 0.0])
        else:
            near = ti.Vector([data[0], data[1], data[2]])
            far = ti.Vector([data[3], data[4], data[5]])
            if m.eq_type[e] == WELD:
                near, far = far, near
            b1, b2 = self.bodies(m, e)
            if m.eq_objtype[e] == SITE:
                near, far = m.site_pos[one], m.site_pos[other]
            first = xpos[b1] + turned(xquat[b1], near)
            second = xpos[b2] + turned(xquat[b2], far)
            error = first - second
            if m.eq_type[e] == WELD:
                q, back = self.turns(m, e, xquat)
                bend = data[10] * part_of(product(back, q))
                for k in ti.static(range(3)):
                    axis = ti.Vector([0.0, 0.0, 0.0, 0.0])
                    axis[k + 1] = 1.0
                    column = 0.5 * data[10] * part_of(product(product(back, axis), q))
                    for n in ti.static(range(3)):
                        turn[n, k] = column[n]
        return first, second, turn, error, bend, slope

    @dt.func
    def drift(self, m, e, tied, com, xquat, vel, acc):
        """Return the accelerations of the rows that no joint accelerates, of point and turn.

        Args:
            m: The parameters of the model.
            e: The row among `eq_`.
            tied: From `tie`.
            com, xquat: Centres of trees, and orientations of bodies.
            vel, acc: Of nodes, where no joint accelerates: rotations and translations.
        """
        moved, bent = ZERO, ZERO
        if not self.follows(m, e):
            one, other = self.bodies(m, e)
            n1, n2 = m.body_nodeid[one], m.body_nodeid[other]
            w1, w2 = vel[0][n1], vel[0][n2]
            arm1, arm2 = tied[0] - com[one], tied[1] - com[other]
            moved = acc[1][n1] + acc[0][n1].cross(arm1) + w1.cross(vel[1][n1] + w1.cross(arm1))
            moved -= acc[1][n2] + acc[0][n2].cross(arm2) + w2.cross(vel[1][n2] + w2.cross(arm2))
            if m.eq_type[e] == WELD:
                # Of conj(q2) (w1 - w2) q1, where both quaternions turn.
                gap, (q, back) = w1 - w2, self.turns(m, e, xquat)
                twice = product(with_part(gap), with_part(w1))
                twice -= product(with_part(w2), with_part(gap))
                turned_on = part_of(product(product(back, twice), q))
                bent = tied[2] @ (acc[0][n1] - acc[0][n2]) + 0.25 * m.eq_data[e][10] * turned_on
        return moved, bent

    @dt.func
    def law(self, m, h, e, error, bend, speed, turning):
        """Return the references r of the rows, and the weights D of the point and of the turn.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            e: The row among `eq_`.
            error, bend: Errors of the rows.
            speed, turning: Their velocities.
        """
        square = error.norm_sqr() + bend.norm_sqr()
        rho = 0.0
        if square > 0.0:
            rho = ti.sqrt(square)
        solref, solimp = m.eq_solref[e], m.eq_solimp[e]
        d = impedance(solimp, rho, bounded(solimp[0]))
        k, b = spring(solref, solimp, self.rows.shortest(h))
        one, other = m.eq_obj1id[e], m.eq_obj2id[e]
        moving, bending = 0.0, 0.0
        if m.eq_type[e] == FOLLOWER:
            moving = m.dof_invweight0[m.jnt_dofadr[one]]
            if other >= 0:
                moving += m.dof_invweight0[m.jnt_dofadr[other]]
        elif m.eq_type[e] == ROPE:
            moving = m.tendon_invweight0[one]
            if other >= 0:
                moving += m.tendon_invweight0[other]
        else:
            one, other = self.bodies(m, e)
            moving = m.body_invweight0[one][0] + m.body_invweight0[other][0]
            bending = m.body_invweight0[one][1] + m.body_invweight0[other][1]
        firm = 0.0
        if m.eq_type[e] == WELD:
            firm = 1.0 / regularisation(d, bending)
        stiff = k * d
        return (
            b * speed + stiff * error,
            b * turning + stiff * bend,
            (1.0 / regularisation(d, moving)),
            firm,
        )

    @dt.func
    def column(self, m, e, i, above_one, above_other, tied, tree):
        """Return the column of the Jacobian for a degree of freedom: of the point, and of the turn.

        Args:
            m: The parameters of the model.
            e: The row among `eq_`, of bodies or sites.
            i: The degree of freedom.
            above_one, above_other: Whether it moves the first and the second body.
            tied: From `tie`.
            tree: Centres of trees, and axes of motion.
        """
        com, axis_r, axis_t = tree
        moved, spin = ZERO, ZERO
        one, other = self.bodies(m, e)
        if above_one:
            moved += axis_t[i] + axis_r[i].cross(tied[0] - com[one])
            spin += axis_r[i]
        if above_other:
            moved -= axis_t[i] + axis_r[i].cross(tied[1] - com[other])
            spin -= axis_r[i]
        return moved, tied[2] @ spin

    @dt.func
    def slope_by(self, m, e, which, i, moment):
        """Return the derivative of a joint or tendon of an equality by a degree of freedom."""
        found = 0.0
        if m.eq_type[e] == FOLLOWER:
            if i == m.jnt_dofadr[which]:
                found = 1.0
        elif ti.static(self.ropes):
            for k in range(m.path_adr[which], m.path_adr[which] + m.path_num[which]):
                if m.path_dofid[k] == i:
                    found = moment[k]
        return found

    @dt.func
    def columns(self, m, e, tied, tree, moment, freedom, moved, bent):
        """Set the columns of the Jacobian that may not be zero; return their number.

        Args:
            m, e, tied, tree: As for `column`.
            moment: Of paths.
            freedom: Result: their degrees of freedom, in falling order, (nv,).
            moved, bent: Result: the columns, (nv,) of vec3.
        """
        one, other, count = m.eq_obj1id[e], m.eq_obj2id[e], 0
        if self.follows(m, e):
            for k in range(self.nv):
                i = self.nv - 1 - k
                slope = self.slope_by(m, e, one, i, moment)
                if other >= 0:
                    slope -= tied[5] * self.slope_by(m, e, other, i, moment)
                if slope != 0.0:
                    moved[count], bent[count] = ti.Vector([slope, 0.0, 0.0]), ZERO
                    freedom[count] = i
                    count += 1
        else:
            one, other = self.bodies(m, e)
            i1, i2 = m.body_lastdofid[one], m.body_lastdofid[other]
            for _ in range(self.nv):
                i = max(i1, i2)
                if i < 0:
                    break
                moved[count], bent[count] = self.column(m, e, i, i == i1, i == i2, tied, tree)
                freedom[count] = i
                count += 1
                if i == i1:
                    i1 = m.dof_parentid[i]
                if i == i2:
                    i2 = m.dof_parentid[i]
        return count

    @dt.func
    def is_felt(self, m, e, tied, tree):
        """Return whether a joint moves what an equality ties; otherwise it has no rows.

        As in MuJoCo, which drops rows whose Jacobian is zero: their regularisation is that of
        bodies that cannot move, 0 or nearly, and their force is rounding divided by it.

        Args:
            m, e, tied, tree: As for `column`.
        """
        found = self.follows(m, e)
        if not found:
            least, (one, other) = m.rounding[None] * m.rounding[None], self.bodies(m, e)
            i1, i2 = m.body_lastdofid[one], m.body_lastdofid[other]
            for _ in range(self.nv):
                i = max(i1, i2)
                if i < 0 or found:
                    break
                moved, bent = self.column(m, e, i, i == i1, i == i2, tied, tree)
                found = moved.norm_sqr() > least or bent.norm_sqr() > least
                if i == i1:
                    i1 = m.dof_parentid[i]
                if i == i2:
                    i2 = m.dof_parentid[i]
        return found

    @dt.func
    def motions(self, m, qvel, tree):
        """Return velocities of nodes, and accelerations where no joint accelerates."""
        vel = (dt.local(self.nnode, vec3), dt.local(self.nnode, vec3))
        acc = (dt.local(self.nnode, vec3), dt.local(self.nnode, vec3))
        still = dt.local(self.nv)
        self.bias.velocities(m, qvel, tree[1], tree[2], vel[0], vel[1])
        self.bias.accelerations(m, qvel, still, (tree[1], tree[2]), vel, acc[0], acc[1])
        return vel, acc

    @dt.func
    def absorb(self, m, h, qpos, qvel, bodies, tree, paths, mass, tau):
        """Add J^T D J to a packed inertia matrix, and -J^T D r to forces.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            qpos, qvel: The state.
            bodies: Positions and orientations of bodies.
            tree: Centres of trees, and axes of motion.
            paths: Lengths and moments, from `Paths.of`.
            mass: The matrix.
            tau: The forces, (nv,).
        """
        vel, acc = self.motions(m, qvel, tree)
        freedom = dt.local(self.nv, int)
        moved, bent = dt.local(self.nv, vec3), dt.local(self.nv, vec3)
        for k in range(self.nequality):
            e = m.tie_eqid[k]
            tied = self.tie(m, e, qpos, bodies[0], bodies[1], paths[0])
            count = self.columns(m, e, tied, tree, paths[1], freedom, moved, bent)
            speed, turning = ZERO, ZERO
            for p in range(count):
                speed += moved[p] * qvel[freedom[p]]
                turning += bent[p] * qvel[freedom[p]]
            r, s, weight, firm = self.law(m, h, e, tied[3], tied[4], speed, turning)
            if not self.is_felt(m, e, tied, tree):
                weight, firm = 0.0, 0.0
            moves, bends = self.drift(m, e, tied, tree[0], bodies[1], vel, acc)
            r += moves
            s += bends
            for p in range(count):
                pull, twist = weight * moved[p], firm * bent[p]
                tau[freedom[p]] -= pull.dot(r) + twist.dot(s)
                row = freedom[p] * (freedom[p] + 1) // 2
                for q in range(p, count):
                    mass[row + freedom[q]] += pull.dot(moved[q]) + twist.dot(bent[q])

    @dt.func
    def along(self, m, e, tied, com, moment, motions, x):
        """Return J x of an equality, of the point and of the turn.

        Args:
            m: The parameters of the model.
            e: The row among `eq_`.
            tied: From `tie`.
            com: Centres of trees.
            moment: Of paths.
            motions: Of bodies, from `ConstraintRows.motions` of x.
            x: A vector of degrees of freedom.
        """
        one, other = m.eq_obj1id[e], m.eq_obj2id[e]
        moved, bent = ZERO, ZERO
        if m.eq_type[e] == FOLLOWER:
            moved[0] = x[m.jnt_dofadr[one]]
            if other >= 0:
                moved[0] -= tied[5] * x[m.jnt_dofadr[other]]
        elif m.eq_type[e] == ROPE:
            if ti.static(self.ropes):
                moved[0] = self.paths.along(m, one, moment, x)
                if other >= 0:
                    moved[0] -= tied[5] * self.paths.along(m, other, moment, x)
        else:
            one, other = self.bodies(m, e)
            moved = motions[1][one] + motions[0][one].cross(tied[0] - com[one])
            moved -= motions[1][other] + motions[0][other].cross(tied[1] - com[other])
            bent = tied[2] @ (motions[0][one] - motions[0][other])
        return moved, bent

    @dt.func
    def power(self, m, h, qpos, qvel, bodies, tree, paths, a, x):
        """Return x^T J^T f, with the forces f = -D (J a + r) of all equalities."""
        com, axis_r, axis_t = tree
        vel, acc = self.motions(m, qvel, tree)
        v = (dt.local(self.nbody, vec3), dt.local(self.nbody, vec3))
        w = (dt.local(self.nbody, vec3), dt.local(self.nbody, vec3))
        y = (dt.local(self.nbody, vec3), dt.local(self.nbody, vec3))
        self.rows.motions(m, axis_r, axis_t, qvel, v[0], v[1])
        self.rows.motions(m, axis_r, axis_t, a, w[0], w[1])
        self.rows.motions(m, axis_r, axis_t, x, y[0], y[1])
        total = 0.0
        for k in range(self.nequality):
            e = m.tie_eqid[k]
            tied = self.tie(m, e, qpos, bodies[0], bodies[1], paths[0])
            if self.is_felt(m, e, tied, tree):
                speed, turning = self.along(m, e, tied, com, paths[1], v, qvel)
                r, s, weight, firm = self.law(m, h, e, tied[3], tied[4], speed, turning)
                moves, bends = self.drift(m, e, tied, com, bodies[1], vel, acc)
                moved, bent = self.along(m, e, tied, com, paths[1], w, a)
                push, twist = self.along(m, e, tied, com, paths[1], y, x)
                total -= weight * push.dot(moved + moves + r)
                total -= firm * twist.dot(bent + bends + s)
        return total

    @dt.func
    def tension(self, m, h, t, qpos, qvel, bodies, paths, a):
        """Return the force along the length of a tendon of the equalities that tie it [N].

        Args:
            m, h, qpos, qvel, bodies, paths, a: As for `push`.
            t: The tendon.
        """
        found, com = 0.0, bodies[0]
        motions = (bodies[0], bodies[0])  # of bodies, which tendons do not read
        for k in range(self.nequality):
            e = m.tie_eqid[k]
            one, other = m.eq_obj1id[e], m.eq_obj2id[e]
            if m.eq_type[e] == ROPE and (one == t or other == t):
                tied = self.tie(m, e, qpos, bodies[0], bodies[1], paths[0])
                speed = self.along(m, e, tied, com, paths[1], motions, qvel)[0]
                r, _s, weight, _firm = self.law(m, h, e, tied[3], tied[4], speed, ZERO)
                moved = self.along(m, e, tied, com, paths[1], motions, a)[0]
                force = -weight * (moved[0] + r[0])
                if one == t:
                    found += force
                if other == t:
                    found -= tied[5] * force
        return found

    @dt.func
    def push(self, m, h, qpos, qvel, bodies, tree, paths, a, outer_r, outer_t):
        """Add the forces of connections and welds to those on bodies.

        Args:
            m, h, qpos, qvel, bodies, tree, paths: As for `absorb`.
            a: Accelerations, (nv,).
            outer_r, outer_t: Torques about c, and forces, (nbody,) of vec3.
        """
        com, axis_r, axis_t = tree
        vel, acc = self.motions(m, qvel, tree)
        v = (dt.local(self.nbody, vec3), dt.local(self.nbody, vec3))
        w = (dt.local(self.nbody, vec3), dt.local(self.nbody, vec3))
        self.rows.motions(m, axis_r, axis_t, qvel, v[0], v[1])
        self.rows.motions(m, axis_r, axis_t, a, w[0], w[1])
        for k in range(self.nequality):
            e = m.tie_eqid[k]
            tied = self.tie(m, e, qpos, bodies[0], bodies[1], paths[0])
            if not self.follows(m, e) and self.is_felt(m, e, tied, tree):
                speed, turning = self.along(m, e, tied, com, paths[1], v, qvel)
                r, s, weight, firm = self.law(m, h, e, tied[3], tied[4], speed, turning)
                moves, bends = self.drift(m, e, tied, com, bodies[1], vel, acc)
                moved, bent = self.along(m, e, tied, com, paths[1], w, a)
                force = -weight * (moved + moves + r)
                torque = -firm * (tied[2].transpose() @ (bent + bends + s))
                one, other = self.bodies(m, e)
                outer_t[one] += force
                outer_r[one] += torque + (tied[0] - com[one]).cross(force)
                outer_t[other] -= force
                outer_r[other] -= torque + (tied[1] - com[other]).cross(force)
