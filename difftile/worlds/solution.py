"""The derivative of the acceleration, as that of the solution of its problem.

The acceleration a solves g(a; theta) = M a + bias - tau - J^T f(J a + r, D) = 0. With the gradient
a_bar, and lambda = H^-1 a_bar (`Solver.adjoint`), the adjoint of everything that enters is the
gradient of the number Phi(theta) = -lambda^T g(a; theta), in which lambda and a are held constant
(the implicit function theorem; Blondel et al., Efficient and modular implicit differentiation,
2022). No matrix is made for Phi: lambda^T (M a + bias) is the power of the forces that accelerate
the bodies, at the motions that lambda gives them, and lambda^T J^T f that of the contacts.
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.cones import Cones, dry, one_sided
from difftile.worlds.kinds import FREE
from difftile.worlds.rows import Rows

vec3 = ti.types.vector(3, float)


@dt.data_oriented
class Solution:
    """Phi of a model: funcs of the state, of the parameters `m`, and of two accelerations."""

    def __init__(self, sizes: Any) -> None:
        self.rows, self.cones = Rows(sizes), Cones(sizes)
        self.nv, self.nbody, self.nnode = sizes.nv, sizes.nbody, sizes.nnode
        self.nslot, self.nlimit = sizes.nslot, sizes.nlimit
        self.nfriction = sizes.nfriction

    @dt.func
    def inertial_power(self, m, tree, xipos, ximat, qvel, a, x):
        """Return x^T (M a + bias): one pass of inverse dynamics, from the root outwards.

        Args:
            tree: Centres of trees, and axes of motion, rotations and translations, about them.
            xipos: The centres of mass of bodies [m]; ximat, their principal axes.
            a: An acceleration.
            x: A velocity.
        """
        com, axis_r, axis_t = tree
        v_r, v_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        a_r, a_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        x_r, x_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        a_t[0] = -m.gravity[None]
        power = 0.0
        for n in range(1, self.nnode):
            parent, first = m.node_parentid[n], m.node_dofadr[n]
            vr, vt, ar, at = v_r[parent], v_t[parent], a_r[parent], a_t[parent]
            xr, xt = x_r[parent], x_t[parent]
            turning = 0
            if m.node_type[n] == FREE:
                turning = 3
                for k in range(3):
                    vt += axis_t[first + k] * qvel[first + k]
                    at += axis_t[first + k] * a[first + k]
                    xt += axis_t[first + k] * x[first + k]
            before_r, before_t = vr, vt
            for k in range(turning, m.node_dofnum[n]):
                i = first + k
                sr, st = axis_r[i], axis_t[i]
                vr += sr * qvel[i]
                vt += st * qvel[i]
                ar += sr * a[i] + before_r.cross(sr) * qvel[i]
                at += st * a[i] + (before_r.cross(st) + before_t.cross(sr)) * qvel[i]
                xr += sr * x[i]
                xt += st * x[i]
            v_r[n] = vr
            v_t[n] = vt
            a_r[n] = ar
            a_t[n] = at
            x_r[n] = xr
            x_t[n] = xt
            b = m.node_bodyid[n]
            if m.body_nodeid[b] == n:
                arm = xipos[b] - com[b]
                push = at + ar.cross(arm) + vr.cross(vt + vr.cross(arm))
                power += m.body_mass[b] * push.dot(xt + xr.cross(arm))
                axes = ximat[b].transpose()
                spin, turn = axes @ vr, axes @ ar
                torque = m.body_inertia[b] * turn + spin.cross(m.body_inertia[b] * spin)
                power += torque.dot(axes @ xr)
        for i in range(self.nv):
            power += m.dof_armature[i] * a[i] * x[i]
        return power

    @dt.func
    def mass_power(self, m, tree, xipos, ximat, a, x):
        """Return x^T M a."""
        com, axis_r, axis_t = tree
        a_r, a_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        x_r, x_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        self.rows.motions(m, axis_r, axis_t, a, a_r, a_t)
        self.rows.motions(m, axis_r, axis_t, x, x_r, x_t)
        power = 0.0
        for b in range(1, self.nbody):
            arm = xipos[b] - com[b]
            push, along = a_t[b] + a_r[b].cross(arm), x_t[b] + x_r[b].cross(arm)
            axes = ximat[b].transpose()
            power += m.body_mass[b] * push.dot(along)
            power += (m.body_inertia[b] * (axes @ a_r[b])).dot(axes @ x_r[b])
        for i in range(self.nv):
            power += m.dof_armature[i] * a[i] * x[i]
        return power

    @dt.func
    def constraint_power(self, m, h, qpos, qvel, geom_xpos, geom_xmat, tree, a, x):
        """Return x^T J^T f(J a + r, D) of all rows in a state."""
        com, axis_r, axis_t = tree
        v_r, v_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        a_r, a_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        x_r, x_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        self.rows.motions(m, axis_r, axis_t, qvel, v_r, v_t)
        self.rows.motions(m, axis_r, axis_t, a, a_r, a_t)
        self.rows.motions(m, axis_r, axis_t, x, x_r, x_t)
        power = 0.0
        for s in range(self.nslot):
            margin, reach = self.rows.collision.margins(m, s)
            dist, point, frame = self.rows.collision.contact(m, s, reach, geom_xpos, geom_xmat)
            if dist < margin:
                speed = self.rows.apart(m, s, point, frame, com, v_r, v_t)
                dim, r, weight, mu = self.rows.contact_law(m, s, dist, margin, speed, h)
                z = self.rows.apart(m, s, point, frame, com, a_r, a_t) + r
                force = self.cones.penalty(dim, z, weight, mu)[1]
                power += force.dot(self.rows.apart(m, s, point, frame, com, x_r, x_t))
        for k in range(2 * self.nlimit):
            dist, jacobian = self.rows.limit(m, k // 2, k % 2, qpos)
            if dist < m.jnt_margin[m.limit_jntid[k // 2]]:
                speed = self.rows.along(m, k // 2, jacobian, qvel)
                r, weight = self.rows.limit_law(m, k // 2, dist, speed, h)
                force = one_sided(self.rows.along(m, k // 2, jacobian, a) + r, weight)[1]
                power += force * self.rows.along(m, k // 2, jacobian, x)
        for k in range(self.nfriction):
            i = m.friction_dofid[k]
            r, weight = self.rows.friction_law(m, i, qvel[i], h)
            force = dry(a[i] + r, weight, m.dof_frictionloss[i])[1]
            power += force * x[i]
        return power
