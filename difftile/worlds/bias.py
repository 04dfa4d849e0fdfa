"""Coriolis, centrifugal and gravitational forces, by the recursive Newton-Euler algorithm.

Source: Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 5, with the motion axes of
kinematics; `mj_comVel` and `mj_rne` of MuJoCo.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.inertia import momentum
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import FREE
from difftile.worlds.quaternions import three_at, vec3
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class Bias:
    """Velocities, and forces that follow from velocities.

    Args:
        sizes: The sizes of the model.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nbody = sizes.nbody
        self.nnode = sizes.nnode
        self.nv = sizes.nv
        self.joints = JointTypes(sizes.joints)

    @dt.func
    def velocities(self, m, qvel, axis_r, axis_t, vel_r, vel_t):
        """Compute the velocity of each node.

        Args:
            m: The parameters of the model.
            qvel: Velocities, (nv,).
            axis_r, axis_t: Motion axes, (nv,) of vec3.
            vel_r, vel_t: Result: rotation [rad/s], and translation at c [m/s], (nnode,) of vec3.
                Those of a body are at `m.body_nodeid[b]`.
        """
        for n in range(1, self.nnode):
            r, t = vel_r[m.node_parentid[n]], vel_t[m.node_parentid[n]]
            for i in range(m.node_dofadr[n], m.node_dofadr[n] + m.node_dofnum[n]):
                r += axis_r[i] * qvel[i]
                t += axis_t[i] * qvel[i]
            vel_r[n] = r
            vel_t[n] = t

    @dt.func
    def accelerations(self, m, qvel, a, axes, vel, acc_r, acc_t):
        """Compute the acceleration of each node, in the sense of spatial vectors.

        Args:
            m: The parameters of the model.
            qvel, a: Velocities, and accelerations, (nv,).
            axes, vel: Motion axes, and velocities of nodes: rotations and translations.
            acc_r, acc_t: Result: rotation, and translation at c, (nnode,) of vec3; with that of the
                world, node 0, set before.
        """
        axis_r, axis_t = axes
        for n in range(1, self.nnode):
            parent, first = ti.min(m.node_parentid[n], n - 1), m.node_dofadr[n]
            v_r, v_t, a_r, a_t = vel[0][parent], vel[1][parent], acc_r[parent], acc_t[parent]
            start = 0
            if self.joints.match(
                m.node_type[n], FREE
            ):  # translations come first, and their axes do not turn
                v_t += three_at(qvel, first)
                start = 3
            for k in range(m.node_dofnum[n]):
                i = first + k
                a_r += axis_r[i] * a[i]
                a_t += axis_t[i] * a[i]
                if k >= start:
                    a_r += v_r.cross(axis_r[i]) * qvel[i]
                    a_t += (v_r.cross(axis_t[i]) + v_t.cross(axis_r[i])) * qvel[i]
            acc_r[n] = a_r
            acc_t[n] = a_t

    @dt.func
    def forces(self, m, qvel, axis_r, axis_t, vel_r, vel_t, moment, rotational, tau):
        """Compute Coriolis, centrifugal and gravitational forces.

        Args:
            m: The parameters of the model.
            qvel: Velocities, (nv,).
            axis_r, axis_t: Motion axes, (nv,) of vec3.
            vel_r, vel_t: From `velocities`.
            moment, rotational: From `Inertia.bodies`.
            tau: Result: what joints have to exert for no acceleration, (nv,) [N, N m].
        """
        acc_r = dt.local(self.nnode, vec3)
        acc_t = dt.local(self.nnode, vec3)
        for n in range(1, self.nnode):
            parent, i0 = m.node_parentid[n], m.node_dofadr[n]
            i1 = i0 + m.node_dofnum[n]
            u_r, u_t = vel_r[parent], vel_t[parent]
            a_r = acc_r[parent]
            a_t = -m.gravity[None]
            if parent > 0:
                a_t = acc_t[parent]
            start = i0
            if self.joints.match(
                m.node_type[n], FREE
            ):  # translations come first, and their axes do not turn
                u_t += three_at(qvel, i0)
                start = i0 + 3
            s_r, s_t = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
            for i in range(start, i1):
                s_r += axis_r[i] * qvel[i]
                s_t += axis_t[i] * qvel[i]
            a_r += u_r.cross(s_r)
            a_t += u_r.cross(s_t) + u_t.cross(s_r)
            acc_r[n] = a_r
            acc_t[n] = a_t
        f_r = dt.local(self.nbody, vec3)
        f_t = dt.local(self.nbody, vec3)
        for b in range(1, self.nbody):
            n = m.body_nodeid[b]
            p_r, p_t = momentum(m.body_mass[b], moment[b], rotational[b], vel_r[n], vel_t[n])
            q_r, q_t = momentum(m.body_mass[b], moment[b], rotational[b], acc_r[n], acc_t[n])
            f_r[b] += q_r + vel_r[n].cross(p_r) + vel_t[n].cross(p_t)
            f_t[b] += q_t + vel_r[n].cross(p_t)
        for k in range(self.nbody - 1):
            b = self.nbody - 1 - k
            p = m.body_parentid[b]
            f_r[p] += f_r[b]
            f_t[p] += f_t[b]
        for i in range(self.nv):
            b = m.dof_bodyid[i]
            tau[i] = axis_r[i].dot(f_r[b]) + axis_t[i].dot(f_t[b])
