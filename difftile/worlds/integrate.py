"""The end of a step: velocities and coordinates from accelerations.

All integrators solve M̂ b = M a for the acceleration b that velocities take, where a solves the
constraint problem and M̂ has the derivatives of forces by velocities that are treated implicitly
(documentation of MuJoCo, "Numerical integration"). Coordinates follow the new velocities.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.bias import Bias
from difftile.worlds.fluid import Fluid
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import BALL, FREE, IMPLICIT, IMPLICITFAST
from difftile.worlds.packed import eliminate
from difftile.worlds.passive_laws import PassiveLaws
from difftile.worlds.paths import Paths
from difftile.worlds.quaternions import advanced, four_at, matrix, three_at, vec3
from difftile.worlds.topology import Sizes
from difftile.worlds.transmission import Transmission


@dt.data_oriented(frozen=True)
class WorldIntegrator:
    """The integrator of models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nbody = sizes.nbody
        self.njnt = sizes.njnt
        self.nv = sizes.nv
        self.nu = sizes.nu
        self.nalone = sizes.nalone
        self.joints = JointTypes(sizes.joints)
        self.damped = sizes.damped
        self.implicit = sizes.integrator in (IMPLICIT, IMPLICITFAST)
        self.whole, self.nnode = sizes.integrator == IMPLICIT, sizes.nnode
        self.laws, self.bias, self.fluid = PassiveLaws(sizes), Bias(sizes), Fluid(sizes)
        self.wet = self.implicit and self.fluid.some
        self.moving = self.whole or self.wet  # whether M̂ has derivatives of forces on bodies
        self.transmission, self.paths, self.ntendon = (
            Transmission(sizes),
            Paths(sizes),
            sizes.ntendon,
        )

    @dt.func
    def matrix(self, m, h, M, qvel, slope, paths, bodies, tree, M_hat):
        """Compute the symmetric part of M̂.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            M: The inertia matrix, its lower triangle by rows.
            qvel: Velocities, (nv,).
            slope: The derivatives of actuator forces by their velocities, (nu,).
            paths: From `Paths.of`.
            bodies, tree: Frames and centres of mass of bodies; c, and the motion axes.
            M_hat: Result, in the form of M.
        """
        for k in range(self.nv * (self.nv + 1) // 2):
            M_hat[k] = M[k]
        self.add_implicit(m, h, qvel, slope, paths, bodies, tree, M_hat)

    @dt.func
    def add_implicit(self, m, h, qvel, slope, paths, bodies, tree, M_hat):
        """Add the symmetric part of M̂ - M to M.

        Free bodies on their own have another part under implicitfast; see `solve_alone`.
        """
        if ti.static(self.damped):
            for i in range(self.nv):
                M_hat[i * (i + 1) // 2 + i] += h * self.laws.dof_damping(m, i, qvel[i])[1]
        if ti.static(self.implicit):
            for u in range(self.nu):
                self.transmission.square(m, u, -h * slope[u], paths, M_hat)
            if ti.static(self.ntendon > 0):
                for t in range(self.ntendon):
                    slack = self.slack(m, t, qvel, paths)
                    self.paths.square(m, t, paths[1], h * slack, M_hat, False)

            if ti.static(self.wet and not self.whole):  # the symmetric part of the fluid's
                for j in range(self.nv):
                    unit, column = dt.local(self.nv), dt.local(self.nv)
                    unit[j] = 1.0
                    self.fluid_along(m, qvel, unit, bodies, tree, -h, column)
                    for i in range(self.nv):
                        row, low = max(i, j), min(i, j)
                        share = 1.0 if i == j else 0.5
                        M_hat[row * (row + 1) // 2 + low] += share * column[i]

    @dt.func
    def fluid_along(self, m, qvel, along, bodies, tree, weight, tau):
        """Add a weight times the derivative of a fluid's forces along velocities to tau, (nv,).

        Args:
            m: The parameters of the model.
            qvel, along: Velocities, and the direction, (nv,).
            bodies, tree: Frames and centres of mass of bodies; c, and the motion axes.
            weight: The weight.
        """
        com, axis_r, axis_t = tree
        vel, change = self.nodes(m, qvel, tree), self.nodes(m, along, tree)
        f_r, f_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        self.fluid.slope(m, bodies, com, vel, change, f_r, f_t)
        for k in range(self.nbody - 1):
            b = self.nbody - 1 - k
            f_r[m.body_parentid[b]] += f_r[b]
            f_t[m.body_parentid[b]] += f_t[b]
        for i in range(self.nv):
            b = m.dof_bodyid[i]
            tau[i] += weight * (axis_r[i].dot(f_r[b]) + axis_t[i].dot(f_t[b]))

    @dt.func
    def nodes(self, m, qvel, tree):
        """Return the velocities of nodes: rotations and translations."""
        vel_r, vel_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        self.bias.velocities(m, qvel, tree[1], tree[2], vel_r, vel_t)
        return vel_r, vel_t

    @dt.func
    def slack(self, m, t, qvel, paths):
        """Return minus the derivative of the force of a tendon's damper by its speed."""
        return self.laws.tendon_damping(m, t, self.paths.along(m, t, paths[1], qvel))[1]

    @dt.func
    def bias_along(self, m, qvel, along, tree, inertias, weight, tau):
        """Add a weight times the derivative of the bias along a vector of velocities to tau, (nv,).

        The bias is of second degree in the velocities, so a difference is its derivative.

        Args:
            m: The parameters of the model.
            qvel, along: Velocities, and the direction, (nv,).
            tree: c, and the motion axes.
            inertias: From `Inertia.bodies`.
            weight: The weight.
        """
        for sign in ti.static((1.0, -1.0)):
            moved, bias = dt.local(self.nv), dt.local(self.nv)
            for i in range(self.nv):
                moved[i] = qvel[i] + sign * along[i]
            vel = self.nodes(m, moved, tree)
            self.bias.forces(m, moved, tree[1], tree[2], *vel, *inertias, bias)
            for i in range(self.nv):
                tau[i] += 0.5 * sign * weight * bias[i]

    @dt.func
    def solve_whole(
        self, m, h, M_hat, force, qvel, bodies, tree, inertias, b, transposed: ti.template()
    ):
        """Solve M̂ b = M a with the derivative of the bias in M̂, or its transpose.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            M_hat: The symmetric part, from `matrix`.
            force: M a, (nv,).
            qvel, bodies, tree, inertias: As for `bias_along` and `fluid_along`.
            b: Result, (nv,).
            transposed: Whether to solve with the transpose.
        """
        full = dt.local((self.nv, self.nv))
        for j in range(self.nv):
            unit, column = dt.local(self.nv), dt.local(self.nv)
            unit[j] = 1.0
            self.bias_along(m, qvel, unit, tree, inertias, h, column)
            if ti.static(self.wet):
                self.fluid_along(m, qvel, unit, bodies, tree, -h, column)
            for i in range(self.nv):
                row, low = max(i, j), min(i, j)
                if ti.static(transposed):
                    full[j, i] = M_hat[row * (row + 1) // 2 + low] + column[i]
                else:
                    full[i, j] = M_hat[row * (row + 1) // 2 + low] + column[i]
        for i in range(self.nv):
            b[i] = force[i]
        eliminate(full, b, self.nv)

    @dt.func
    def turning(self, m, k, qvel, xpos, xquat, com, inertia):
        """Return the derivative of the bias of a free body by its rotation.

        With r = c - x, ω the rotation in world axes, and the inertia of the tree about c, the bias
        is m ω × (ω × r) along the translations, and Rᵀ (ω × I ω + r × m ω × (ω × r)) about the axes
        of the body, besides gravity.

        Args:
            m: The parameters of the model.
            k: The row of `alone_dofadr`.
            qvel, xpos, xquat, com: Velocities, frames, and c.
            inertia: Rotational, of the whole tree about c.

        Returns:
            Derivatives of the forces along the translations and about the axes, mat3 each.
        """
        i0 = m.alone_dofadr[k]
        root = m.dof_bodyid[i0]
        mass = 0.0
        for b in range(root, self.nbody):
            if m.body_rootid[b] == root:
                mass += m.body_mass[b]
        turn = matrix(xquat[root])
        arm = com[root] - xpos[root]
        spin = turn @ three_at(qvel, i0 + 3)
        omega, lever = dt.rotations.skew(spin), dt.rotations.skew(arm)
        along = -mass * (dt.rotations.skew(spin.cross(arm)) + omega @ lever)
        about = omega @ inertia - dt.rotations.skew(inertia @ spin) + lever @ along
        return along @ turn, turn.transpose() @ about @ turn

    @dt.func
    def odd_part(self, m, h, i0, qvel, bodies, tree, odd):
        """Set odd, (36,), to what the block of M̂ of a free body has besides its symmetric part."""
        for n in range(6):
            unit, column = dt.local(self.nv), dt.local(self.nv)
            unit[i0 + n] = 1.0
            self.fluid_along(m, qvel, unit, bodies, tree, -0.5 * h, column)
            for r in range(6):
                odd[6 * r + n] += column[i0 + r]
                odd[6 * n + r] -= column[i0 + r]

    @dt.func
    def solve_alone(
        self,
        m,
        h,
        M_hat,
        force,
        qvel,
        bodies,
        tree,
        rotational,
        acceleration,
        transposed: ti.template(),
    ):
        """Solve M̂ b = M a for the free bodies whose block of M̂ is not symmetric.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            M_hat: From `matrix`.
            force: M a, the sum of all forces, (nv,).
            qvel: Velocities.
            bodies, tree: Frames and centres of mass of bodies; c, and the motion axes.
            rotational: Of subtrees, from `Inertia.matrix`.
            acceleration: Result: b; only the elements of these bodies are stored, (nv,).
            transposed: Whether to solve with the transpose of M̂.
        """
        for k in range(self.nalone):
            i0 = m.alone_dofadr[k]
            a = self.block(M_hat, i0, i0)
            q = self.block(M_hat, i0 + 3, i0)
            p = q.transpose()
            w = self.block(M_hat, i0 + 3, i0 + 3)
            inertia = rotational[m.dof_bodyid[i0]]
            along, about = self.turning(m, k, qvel, bodies[0], bodies[1], tree[0], inertia)
            if ti.static(self.wet):
                odd = dt.local(36)
                self.odd_part(m, h, i0, qvel, bodies, tree, odd)
                for n in ti.static(range(3)):
                    for r in ti.static(range(3)):
                        sign = -1.0 if ti.static(transposed) else 1.0
                        a[n, r] += sign * odd[6 * n + r]
                        p[n, r] += sign * odd[6 * n + 3 + r]
                        q[n, r] += sign * odd[6 * n + 18 + r]
                        w[n, r] += sign * odd[6 * n + 21 + r]
            if ti.static(transposed):
                q += h * along.transpose()
                w += h * about.transpose()
            else:
                p += h * along
                w += h * about
            inverse = a.inverse()
            below = q @ inverse
            rest = three_at(force, i0 + 3) - below @ three_at(force, i0)
            turning = (w - below @ p).inverse() @ rest
            moving = inverse @ (three_at(force, i0) - p @ turning)
            for n in range(3):
                acceleration[i0 + n] = moving[n]
                acceleration[i0 + 3 + n] = turning[n]

    @dt.func
    def block(self, M, i0, j0):
        """Return a 3x3 block of a symmetric matrix, of which the lower triangle is stored."""
        found = ti.Matrix.zero(float, 3, 3)
        for k in ti.static(range(3)):
            for n in ti.static(range(3)):
                i, j = max(i0 + k, j0 + n), min(i0 + k, j0 + n)
                found[k, n] = M[i * (i + 1) // 2 + j]
        return found

    @dt.func
    def excess(self, m, h, slope, paths, along, b, qvel, bodies, tree, centres, inertias):
        """Return along · (M̂ - M) b, for the adjoint of a step.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            slope, paths: As in `matrix`.
            along, b: Vectors of degrees of freedom, (nv,).
            qvel: Velocities.
            bodies, tree: Frames and centres of mass of bodies; c, and the motion axes.
            centres: The centres of trees as they depend on the state, which c does not.
            inertias: Of bodies, from `Inertia.bodies`, about these.
        """
        total = 0.0
        if ti.static(self.damped):
            for i in range(self.nv):
                total += h * self.laws.dof_damping(m, i, qvel[i])[1] * along[i] * b[i]
        if ti.static(self.implicit):
            for u in range(self.nu):
                total -= h * slope[u] * self.transmission.form(m, u, along, b, paths)
            if ti.static(self.ntendon > 0):
                for t in range(self.ntendon):
                    form = self.paths.form(m, t, paths[1], along, b)
                    total += h * self.slack(m, t, qvel, paths) * form
            for k in range(self.nalone):
                i0 = m.alone_dofadr[k]
                root = m.dof_bodyid[i0]
                inertia = ti.Matrix.zero(float, 3, 3)
                for n in range(root, self.nbody):
                    if m.body_rootid[n] == root:
                        inertia += inertias[1][n]
                moved, turned = self.turning(m, k, qvel, bodies[0], bodies[1], centres, inertia)
                spin = three_at(b, i0 + 3)
                total += h * three_at(along, i0).dot(moved @ spin)
                total += h * three_at(along, i0 + 3).dot(turned @ spin)
            if ti.static(self.whole):
                bent = dt.local(self.nv)
                self.bias_along(m, qvel, b, tree, inertias, h, bent)
                if ti.static(self.wet):
                    self.fluid_along(m, qvel, b, bodies, tree, -h, bent)
                for i in range(self.nv):
                    total += along[i] * bent[i]
            elif ti.static(self.wet):
                here, there = dt.local(self.nv), dt.local(self.nv)
                self.fluid_along(m, qvel, b, bodies, tree, -0.5 * h, here)
                self.fluid_along(m, qvel, along, bodies, tree, -0.5 * h, there)
                for i in range(self.nv):
                    total += along[i] * here[i] + b[i] * there[i]
                for k in range(self.nalone):  # here the derivative itself
                    for i in range(m.alone_dofadr[k], m.alone_dofadr[k] + 6):
                        total += along[i] * here[i] - b[i] * there[i]
        return total

    @dt.func
    def advance(self, m, h, qpos, qvel, b, qpos_next, qvel_next):
        """Compute velocities and coordinates after a step.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            qpos, qvel: Before the step, (nq,) and (nv,).
            b: Accelerations, (nv,).
            qpos_next, qvel_next: Result. Quaternions have length 1.
        """
        for i in range(self.nv):
            qvel_next[i] = qvel[i] + h * b[i]
        self.move(m, h, qpos, qvel_next, qpos_next)

    @dt.func
    def move(self, m, h, qpos, qvel, qpos_next):
        """Compute coordinates after a time h [s] with the velocities qvel, (nv,)."""
        for j in range(self.njnt):
            kind, at, i = m.jnt_type[j], m.jnt_qposadr[j], m.jnt_dofadr[j]
            free = self.joints.match(kind, FREE)
            if free or self.joints.match(kind, BALL):
                if free:
                    for k in range(3):
                        qpos_next[at + k] = qpos[at + k] + h * qvel[i + k]
                    at += 3
                    i += 3
                q = advanced(four_at(qpos, at), h * three_at(qvel, i))
                for k in range(4):
                    qpos_next[at + k] = q[k]
            else:
                qpos_next[at] = qpos[at] + h * qvel[i]
