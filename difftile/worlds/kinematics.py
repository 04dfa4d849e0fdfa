"""Frames of bodies, centres of mass, and motion axes.

Notation, formulas and signs are MuJoCo's (documentation, "Computation"; `mj_kinematics`,
`mj_comPos`). Spatial vectors are two vectors, of rotation and of translation, in world axes, about
the centre of mass c of the whole tree.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import BALL, FIXED, FREE, HINGE, SLIDE
from difftile.worlds.quaternions import matrix, product, three_at, turned, unit_at, vec3, vec4
from difftile.worlds.topology import Sizes

_NO_MASS = 1e-15  # below which the centre of a subtree is that of its first body


@dt.data_oriented(frozen=True)
class Kinematics:
    """Positions that follow from coordinates, for models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nbody = sizes.nbody
        self.nnode = sizes.nnode
        self.nv = sizes.nv
        self.joints = JointTypes(sizes.joints)
        self.ncollider = sizes.ncollider

    @dt.func
    def frames(self, m, qpos, xpos, xquat, anchor, axis):
        """Compute the frames of bodies, and anchors and axes of joints.

        Args:
            m: The parameters of the model.
            qpos: Coordinates, (nq,).
            xpos, xquat: Result: positions [m] and orientations of bodies, (nbody,) of vec3, vec4.
            anchor, axis: Result: a point of each joint [m], and its axis, (njnt,) of vec3.
        """
        if ti.static(self.nnode == self.nbody):
            xquat[0] = ti.Vector([1.0, 0.0, 0.0, 0.0])
            self.chain(m, qpos, xpos, xquat, anchor, axis)
        else:
            pos, quat = dt.local(self.nnode, vec3), dt.local(self.nnode, vec4)
            quat[0] = ti.Vector([1.0, 0.0, 0.0, 0.0])
            self.chain(m, qpos, pos, quat, anchor, axis)
            for b in range(self.nbody):
                xpos[b] = pos[m.body_nodeid[b]]
                xquat[b] = quat[m.body_nodeid[b]]

    @dt.func
    def chain(self, m, qpos, pos, quat, anchor, axis):
        """Compute the frames of nodes, (nnode,), after that of the world; see `frames`."""
        for n in range(1, self.nnode):
            b, j, kind = m.node_bodyid[n], m.node_jntid[n], m.node_type[n]
            at, parent = m.node_qposadr[n], ti.min(m.node_parentid[n], n - 1)
            x, q = pos[parent], quat[parent]
            if m.node_first[n] == 1:
                x += turned(q, m.body_pos[b])
                q = product(q, m.body_quat[b])
            if not self.joints.match(kind, FIXED):
                a = x + turned(q, m.jnt_pos[j])
                direction = turned(q, m.jnt_axis[j])
                if self.joints.match(kind, FREE):
                    x = three_at(qpos, at)
                    q = unit_at(qpos, at + 3)
                    a = x
                elif self.joints.match(kind, SLIDE):
                    x += direction * (qpos[at] - m.qpos0[at])
                else:
                    if self.joints.match(kind, BALL):
                        q = product(q, unit_at(qpos, at))
                    else:
                        half = 0.5 * (qpos[at] - m.qpos0[at])
                        e = ti.sin(half) * m.jnt_axis[j]
                        q = product(q, ti.Vector([ti.cos(half), e[0], e[1], e[2]]))
                    x = a - turned(q, m.jnt_pos[j])
                anchor[j] = a
                axis[j] = direction
            pos[n] = x
            quat[n] = q

    @dt.func
    def matrices(self, xquat, xmat):
        """Compute the rotation matrices of bodies, (nbody,) of mat3."""
        for b in range(self.nbody):
            xmat[b] = matrix(xquat[b])

    @dt.func
    def colliders(self, m, xpos, xquat, geom_xpos, geom_xmat):
        """Compute the frames of the geoms that can collide, (ngeom,) of vec3 and mat3."""
        for k in range(self.ncollider):
            g = m.collider_geomid[k]
            b = m.geom_bodyid[g]
            geom_xpos[g] = xpos[b] + turned(xquat[b], m.geom_pos[g])
            geom_xmat[g] = matrix(product(xquat[b], m.geom_quat[g]))

    @dt.func
    def centres(self, m, xpos, xquat, xipos, subtree_com, com):
        """Compute centres of mass, (nbody,) of vec3 [m].

        Masses of subtrees are summed here, so that derivatives by masses are whole.

        Args:
            m: The parameters of the model.
            xpos, xquat: Frames of bodies.
            xipos: Result: the centre of each body.
            subtree_com: Result: of each body with its descendants.
            com: Result: of the whole tree that a body belongs to; for the world, of everything.
        """
        self.roots(m, xpos, xquat, xipos, com)
        mass, moment = dt.local(self.nbody), dt.local(self.nbody, vec3)
        for b in range(self.nbody):
            mass[b] += m.body_mass[b]
            moment[b] += m.body_mass[b] * xipos[b]
        for k in range(self.nbody - 1):
            b = self.nbody - 1 - k
            p = m.body_parentid[b]
            mass[p] += mass[b]
            moment[p] += moment[b]
        for b in range(self.nbody):
            c = xipos[b]
            if mass[b] > _NO_MASS:
                c = moment[b] / mass[b]
            subtree_com[b] = c
        com[0] = subtree_com[0]

    @dt.func
    def roots(self, m, xpos, xquat, xipos, com):
        """Compute the centres of mass of bodies and of their whole trees, but not the world's."""
        mass, moment = dt.local(self.nbody), dt.local(self.nbody, vec3)
        for b in range(self.nbody):
            centre = xpos[b] + turned(xquat[b], m.body_ipos[b])
            xipos[b] = centre
            mass[m.body_rootid[b]] += m.body_mass[b]
            moment[m.body_rootid[b]] += m.body_mass[b] * centre
        for b in range(self.nbody):
            root = m.body_rootid[b]
            c = xipos[root]
            if mass[root] > _NO_MASS:
                c = moment[root] / mass[root]
            com[b] = c

    @dt.func
    def axes(self, m, xquat, com, anchor, axis, axis_r, axis_t):
        """Compute the motion axis of each degree of freedom.

        Args:
            m: The parameters of the model.
            xquat, com, anchor, axis: From `frames` and `centres`.
            axis_r, axis_t: Result: rotation and translation about c, (nv,) of vec3.
        """
        for i in range(self.nv):
            b, j = m.dof_bodyid[i], m.dof_jntid[i]
            kind = m.jnt_type[j]
            k = i - m.jnt_dofadr[j]
            arm = com[b] - anchor[j]
            e = ti.Vector([0.0, 0.0, 0.0])
            e[k % 3] = 1.0
            r = ti.Vector([0.0, 0.0, 0.0])
            t = axis[j]
            if self.joints.match(kind, FREE) and k < 3:
                t = e
            elif self.joints.match(kind, HINGE):
                r = axis[j]
                t = r.cross(arm)
            elif not self.joints.match(kind, SLIDE):
                r = turned(xquat[b], e)
                t = r.cross(arm)
            axis_r[i] = r
            axis_t[i] = t
