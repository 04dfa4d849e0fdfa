"""Inertia of bodies and of subtrees, and the joint-space inertia matrix.

Source: Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 2 and 6.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.passive_laws import PassiveLaws
from difftile.worlds.paths import Paths
from difftile.worlds.quaternions import matrix, product, vec3
from difftile.worlds.topology import Sizes

_NO_MASS = 1e-15  # [kg]


@dt.func
def momentum(mass, moment, rotational, r, t):
    """Return the momentum of a spatial inertia that moves.

    Args:
        mass: The mass [kg].
        moment: Mass times the centre of mass, from c, vec3 [kg m].
        rotational: The rotational inertia about c, mat3 [kg m²].
        r, t: Rotation and translation of the motion.

    Returns:
        Angular momentum about c, and linear momentum.
    """
    return rotational @ r + moment.cross(t), mass * t - moment.cross(r)


@dt.data_oriented(frozen=True)
class Inertia:
    """Inertias of models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nbody = sizes.nbody
        self.nv = sizes.nv
        self.nentry, self.ntendon = sizes.nentry, sizes.ntendon
        self.laws, self.paths = PassiveLaws(sizes), Paths(sizes)

    @dt.func
    def bodies(self, m, xquat, xipos, com, moment, rotational):
        """Compute the spatial inertia of each body about c.

        Args:
            m: The parameters of the model.
            xquat, xipos, com: Orientations, centres of mass, and c.
            moment: Result: mass times d = xipos - c, (nbody,) of vec3.
            rotational: Result: R J Rᵀ + m (d·d - d dᵀ), (nbody,) of mat3.
        """
        for b in range(self.nbody):
            d = xipos[b] - com[b]
            mass, j = m.body_mass[b], m.body_inertia[b]
            turn = matrix(product(xquat[b], m.body_iquat[b]))
            diagonal = ti.Matrix([[j[0], 0.0, 0.0], [0.0, j[1], 0.0], [0.0, 0.0, j[2]]])
            shift = d.dot(d) * ti.Matrix.identity(float, 3) - d.outer_product(d)
            moment[b] = mass * d
            rotational[b] = turn @ diagonal @ turn.transpose() + mass * shift

    @dt.func
    def subtrees(self, m, com, centres, moment, rotational, vel, moving, turning):
        """Compute the velocities of subtrees, and their angular momenta about their centres.

        Args:
            m: The parameters of the model.
            com, centres: Of whole trees, of subtrees.
            moment, rotational: From `bodies`.
            vel: Velocities of nodes: rotations and translations.
            moving: Result: velocities of centres of mass, (nbody,) of vec3 [m/s].
            turning: Result: angular momenta, (nbody,) of vec3 [kg m²/s].
        """
        mass = dt.local(self.nbody)
        push_r, push_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        for b in range(self.nbody):
            n = m.body_nodeid[b]
            r, t = momentum(m.body_mass[b], moment[b], rotational[b], vel[0][n], vel[1][n])
            mass[b] += m.body_mass[b]
            push_r[b] += r
            push_t[b] += t
        for k in range(self.nbody - 1):
            b = self.nbody - 1 - k
            p = m.body_parentid[b]
            mass[p] += mass[b]
            push_t[p] += push_t[b]
            push_r[p] += push_r[b] + (com[b] - com[p]).cross(push_t[b])
        for b in range(self.nbody):
            moving[b] = push_t[b] / ti.max(mass[b], _NO_MASS)
            turning[b] = push_r[b] - (centres[b] - com[b]).cross(push_t[b])

    @dt.func
    def composite(self, m, mass, moment, rotational):
        """Add up the inertia of each body and its descendants.

        Args:
            m: The parameters of the model.
            mass: Result, from zeros, (nbody,) [kg].
            moment, rotational: From `bodies`, and replaced by the sums.
        """
        for b in range(self.nbody):
            mass[b] += m.body_mass[b]
        for k in range(self.nbody - 1):
            b = self.nbody - 1 - k
            p = m.body_parentid[b]
            mass[p] += mass[b]
            moment[p] += moment[b]
            rotational[p] += rotational[b]

    @dt.func
    def matrix(self, m, moment, rotational, axis_r, axis_t, paths, M):
        """Compute the inertia matrix by the composite rigid body algorithm.

        Args:
            m: The parameters of the model.
            moment, rotational: From `bodies`; they become those of whole subtrees.
            axis_r, axis_t: Motion axes, (nv,) of vec3.
            paths: Lengths and moments, from `Paths.of`.
            M: Result, from zeros: the lower triangle by rows, (nv (nv + 1) / 2,); M_ij is at
                i (i + 1) / 2 + j.
        """
        mass = dt.local(self.nbody)
        push_r, push_t = dt.local(self.nv, vec3), dt.local(self.nv, vec3)
        self.composite(m, mass, moment, rotational)
        for i in range(self.nv):
            b = m.dof_bodyid[i]
            push_r[i], push_t[i] = momentum(mass[b], moment[b], rotational[b], axis_r[i], axis_t[i])
            M[i * (i + 1) // 2 + i] += self.laws.dof_armature(m, i)
        # Not along the chain of each degree of freedom: entries from a table do not wait for each
        # other, as those of a chain wait for the next parent.
        for e in range(self.nentry):
            i, j = m.entry_row[e], m.entry_column[e]
            M[i * (i + 1) // 2 + j] += axis_r[j].dot(push_r[i]) + axis_t[j].dot(push_t[i])
        if ti.static(self.paths.armed):
            for t in range(self.ntendon):
                self.paths.square(m, t, paths[1], self.laws.tendon_armature(m, t), M, False)
