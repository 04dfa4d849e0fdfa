"""The derivative of the acceleration, as that of the solution of its problem.

The acceleration a solves g(a; theta) = M a + bias - tau - J^T f(J a + r, D) = 0. With the gradient
a_bar, and lambda = H^-1 a_bar (`Solver.adjoint`), the adjoint of everything that enters is the
gradient of the number Phi(theta) = -lambda^T g(a; theta), in which lambda and a are held constant
(the implicit function theorem; Blondel et al., Efficient and modular implicit differentiation,
2022). No matrix is made for Phi: lambda^T (M a + bias) is the power of the forces that accelerate
the bodies, at the motions that lambda gives them, and lambda^T J^T f that of the contacts.

The integrator takes b, where M̂ b = M a. With its gradient b_bar, beta = M̂^-T b_bar, and a_bar is
M beta; Phi gains beta^T (M (a - b) - (M̂ - M) b), b and beta held constant too.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.cones import WIDTH
from difftile.worlds.constraint_forces import ConstraintForces
from difftile.worlds.equalities import Equalities
from difftile.worlds.forces import Forces
from difftile.worlds.inertia import Inertia
from difftile.worlds.integrate import WorldIntegrator
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import FREE
from difftile.worlds.kinematics import Kinematics
from difftile.worlds.quaternions import mat3, matrix, product, turned, vec3, vec4
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class Solution:
    """Phi of models of some sizes: funcs of the state and of the parameters `m`.

    Args:
        sizes: The sizes.
        pushed: Whether there are forces on bodies.
        smooth, width, distance: As for `Cones` and `ConstraintRows`.
    """

    def __init__(
        self,
        sizes: Sizes,
        pushed: bool = False,
        smooth: bool = False,
        width: float = WIDTH,
        distance: float = 0.0,
    ) -> None:
        self.acting = ConstraintForces(sizes, smooth, width, distance)
        self.rows = self.acting.rows
        self.kinematics, self.inertia = Kinematics(sizes), Inertia(sizes)
        self.tied, self.equalities = sizes.nequality > 0, Equalities(sizes)
        self.forces, self.integrator = Forces(sizes), WorldIntegrator(sizes)
        self.nv, self.nbody, self.nnode = sizes.nv, sizes.nbody, sizes.nnode
        self.njnt, self.ngeom = max(1, sizes.njnt), max(1, sizes.ngeom)
        self.nu = max(1, sizes.nu)
        self.alone = sizes.nalone > 0
        self.joints = JointTypes(sizes.joints)
        self.pushed = pushed
        self.applied = pushed or sizes.gravcomp or sizes.fluid

    @dt.func
    def phi(self, m, qpos, qvel, ctrl, act, qfrc, xfrc, com, a, b, multiplier, beta):
        """Return Phi.

        Args:
            m: The parameters of the model.
            qpos, qvel, ctrl, act, qfrc, xfrc: The state, controls and applied forces.
            com: The centres of trees, about which motions are written; Phi does not depend on them.
            a, b: The accelerations of the solver and of the integrator.
            multiplier, beta: lambda and beta.
        """
        h = m.timestep[None]
        xpos, xquat = dt.local(self.nbody, vec3), dt.local(self.nbody, vec4)
        anchor, axis = dt.local(self.njnt, vec3), dt.local(self.njnt, vec3)
        axis_r, axis_t = dt.local(self.nv, vec3), dt.local(self.nv, vec3)
        geom_xpos, geom_xmat = dt.local(self.ngeom, vec3), dt.local(self.ngeom, mat3)
        self.kinematics.frames(m, qpos, xpos, xquat, anchor, axis)
        self.kinematics.colliders(m, xpos, xquat, geom_xpos, geom_xmat)
        self.kinematics.axes(m, xquat, com, anchor, axis, axis_r, axis_t)
        tree = (com, axis_r, axis_t)
        tau = dt.local(self.nv)
        xipos = dt.local(self.nbody, vec3)
        if ti.static(self.applied):
            for n in range(self.nbody):
                xipos[n] = xpos[n] + turned(xquat[n], m.body_ipos[n])
        bodies = (xpos, xquat, xipos)
        paths = self.forces.reach(m, qpos, bodies, tree)
        force, slope, drive = dt.local(self.nu), dt.local(self.nu), dt.local(self.nv)
        self.forces.actuation(m, h, qpos, qvel, ctrl, act, paths, force, slope, drive)
        self.forces.passive(m, qpos, qvel, paths, tau)
        inertial, v, x = self.inertial_power(
            m, tree, xpos, xquat, qvel, paths, a, b, multiplier, beta
        )
        sway = dt.local(self.nv)
        self.forces.sway(m, qvel, bodies, tree, v, paths, sway)
        if ti.static(self.applied):
            self.forces.applied(m, xfrc, bodies, com, axis_r, axis_t, v, paths, tau, self.pushed)
        power = 0.0
        for i in range(self.nv):
            power += multiplier[i] * (tau[i] + drive[i] + qfrc[i])
            power -= multiplier[i] * sway[i]
        power += inertial
        geoms, given = (geom_xpos, geom_xmat), (a, multiplier)
        if ti.static(self.nnode == self.nbody):
            power += self.constraint_power(m, h, qpos, qvel, geoms, tree, paths, given, v, x)
        else:
            power += self.constraint_power(
                *(m, h, qpos, qvel, geoms, tree, paths, given),
                *(self.of_bodies(m, v), self.of_bodies(m, x)),
            )
        if ti.static(self.tied):
            power += self.equalities.power(
                m, h, qpos, qvel, (xpos, xquat), tree, paths, a, multiplier
            )
        power -= self.implicit_power(m, h, qvel, slope, paths, xpos, xquat, tree, b, beta)
        return power

    @dt.func
    def of_bodies(self, m, motion):
        """Return the motions of bodies, (nbody,), from those of nodes: rotations, translations."""
        r, t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        for n in range(self.nbody):
            r[n] = motion[0][m.body_nodeid[n]]
            t[n] = motion[1][m.body_nodeid[n]]
        return r, t

    @dt.func
    def implicit_power(self, m, h, qvel, slope, paths, xpos, xquat, tree, b, beta):
        """Return beta^T (M̂ - M) b."""
        centres, whole = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        xipos, moment = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        rotational = dt.local(self.nbody, mat3)
        if ti.static(self.alone):
            self.kinematics.centres(m, xpos, xquat, xipos, whole, centres)
        elif ti.static(self.integrator.moving):
            for n in range(self.nbody):
                xipos[n] = xpos[n] + turned(xquat[n], m.body_ipos[n])
                centres[n] = tree[0][n]
        if ti.static(self.alone or self.integrator.whole):
            self.inertia.bodies(m, xquat, xipos, centres, moment, rotational)
        bodies, inertias = (xpos, xquat, xipos), (moment, rotational)
        return self.integrator.excess(
            m, h, slope, paths, beta, b, qvel, bodies, tree, centres, inertias
        )

    @dt.func
    def inertial_power(self, m, tree, xpos, xquat, qvel, paths, a, b, x, beta):
        """Compute -x^T (M a + bias) + beta^T M (a - b), in one pass from the root outwards.

        Args:
            m: The parameters of the model.
            tree: Centres of trees, and axes of motion, rotations and translations, about them.
            xpos, xquat: Frames of bodies.
            qvel: Velocities.
            paths: From `Paths.of`.
            a, b, x, beta: Vectors of degrees of freedom.

        Returns:
            The number; and the motions of nodes that qvel and x give them: rotations, translations.
        """
        com, axis_r, axis_t = tree
        v_r, v_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        a_r, a_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        x_r, x_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        c_r, c_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        y_r, y_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        power = 0.0
        for n in range(1, self.nnode):
            parent, first = ti.min(m.node_parentid[n], n - 1), m.node_dofadr[n]
            vr, vt, ar, at = v_r[parent], v_t[parent], a_r[parent], a_t[parent]
            xr, xt, cr, ct = x_r[parent], x_t[parent], c_r[parent], c_t[parent]
            yr, yt = y_r[parent], y_t[parent]
            if parent == 0:
                at -= m.gravity[None]
            turning = 0
            if self.joints.match(m.node_type[n], FREE):
                turning = 3
                for k in range(3):
                    vt += axis_t[first + k] * qvel[first + k]
            before_r, before_t = vr, vt
            for k in range(turning, m.node_dofnum[n]):
                i = first + k
                ar += before_r.cross(axis_r[i]) * qvel[i]
                at += (before_r.cross(axis_t[i]) + before_t.cross(axis_r[i])) * qvel[i]
                vr += axis_r[i] * qvel[i]
                vt += axis_t[i] * qvel[i]
            for k in range(m.node_dofnum[n]):
                i = first + k
                ar += axis_r[i] * a[i]
                at += axis_t[i] * a[i]
                xr += axis_r[i] * x[i]
                xt += axis_t[i] * x[i]
                cr += axis_r[i] * (a[i] - b[i])
                ct += axis_t[i] * (a[i] - b[i])
                yr += axis_r[i] * beta[i]
                yt += axis_t[i] * beta[i]
            v_r[n] = vr
            v_t[n] = vt
            a_r[n] = ar
            a_t[n] = at
            x_r[n] = xr
            x_t[n] = xt
            c_r[n] = cr
            c_t[n] = ct
            y_r[n] = yr
            y_t[n] = yt
        for n in range(1, self.nbody):
            k = m.body_nodeid[n]
            q = xquat[n]
            arm = xpos[n] + turned(q, m.body_ipos[n]) - com[n]
            axes = matrix(product(q, m.body_iquat[n])).transpose()
            vr, ar, xr, cr, yr = v_r[k], a_r[k], x_r[k], c_r[k], y_r[k]
            push = a_t[k] + ar.cross(arm) + vr.cross(v_t[k] + vr.cross(arm))
            power -= m.body_mass[n] * push.dot(x_t[k] + xr.cross(arm))
            power += m.body_mass[n] * (c_t[k] + cr.cross(arm)).dot(y_t[k] + yr.cross(arm))
            spin = axes @ vr
            torque = m.body_inertia[n] * (axes @ ar) + spin.cross(m.body_inertia[n] * spin)
            power -= torque.dot(axes @ xr)
            power += (m.body_inertia[n] * (axes @ cr)).dot(axes @ yr)
        for i in range(self.nv):
            armature = self.inertia.laws.dof_armature(m, i)
            power += armature * (beta[i] * (a[i] - b[i]) - a[i] * x[i])
        if ti.static(self.inertia.paths.armed):
            rest = dt.local(self.nv)
            for i in range(self.nv):
                rest[i] = a[i] - b[i]
            for t in range(self.inertia.ntendon):
                form = self.inertia.paths.form(m, t, paths[1], beta, rest)
                form -= self.inertia.paths.form(m, t, paths[1], a, x)
                power += self.inertia.laws.tendon_armature(m, t) * form
        return power, (v_r, v_t), (x_r, x_t)

    @dt.func
    def constraint_power(self, m, h, qpos, qvel, geoms, tree, paths, given, v_motion, x_motion):
        """Return x^T J^T f(J a + r, D) of all rows in a state.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            qpos, qvel: The state.
            geoms: Positions and orientations of geoms.
            tree: Centres of trees, and axes of motion, rotations and translations, about them.
            paths: From `Paths.of`.
            given: The vectors a and x.
            v_motion, x_motion: Motions of bodies that qvel and x give them.
        """
        com, axis_r, axis_t = tree
        a, x = given
        a_r, a_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        self.rows.motions(m, axis_r, axis_t, a, a_r, a_t)
        moved = (com, (a_r, a_t), x_motion)
        power = self.rows.fold(m, h, geoms, com, v_motion, self.contact_power, 0.0, moved)
        for k in range(2 * self.rows.nend):
            dist, jacobian = self.rows.limit(m, k // 2, k % 2, qpos, paths)
            force = self.acting.limit(m, h, k // 2, dist, jacobian, qvel, a, paths[1])
            power += force * self.rows.along(m, k // 2, jacobian, x, paths[1])
        for k in range(self.rows.ndry):
            force = self.acting.dry(m, h, k, qvel, a, paths[1])
            power += force * self.rows.rubbed(m, k, x, paths[1])
        return power

    @dt.func
    def contact_power(self, m, s, place, law, power, moved):
        """Return the power with that of a contact: moved are c, and motions of a and of x."""
        force = self.acting.contact(m, s, place, law, moved[0], moved[1])
        return power + force.dot(self.rows.apart(m, s, *place, moved[0], *moved[2]))
