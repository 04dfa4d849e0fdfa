"""Islands: the trees that constraints connect, and what the softness of their rows costs.

The sweeps of `noslip` end island by island. Source: `mj_island` and `mj_solNoSlip`.
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import FOLLOWER, ROPE
from difftile.worlds.quaternions import vec3
from difftile.worlds.topology import Sizes


@dt.func
def islands_of(islands, m, state, a, bodies, tree, laws, mass, label, gain, inertia):
    """Set the island of each degree of freedom, and what the regularisation of each one costs."""
    islands.connect(m, laws, label)
    for i in range(islands.nv):
        inertia[label[i]] += mass[i * (i + 1) // 2 + i]
    islands.add_costs(m, a, tree, laws, label, gain)
    if ti.static(islands.tied):
        islands.add_costs_of_equalities(
            m, m.timestep[None], state, a, bodies, tree, laws[3], label, gain
        )


@islands_of.backward
def _(islands, m, state, a, bodies, tree, laws, mass, label, gain, inertia):
    pass


@dt.data_oriented(frozen=True)
class ConstraintIslands:
    """The islands of models of some sizes.

    Funcs share `label`, the island of each degree of freedom, which is the first of its degrees of
    freedom, and `gain`, a cost of each island.

    Args:
        sizes: The sizes.
        step: The funcs of their steps, a `WorldStep`.
    """

    def __init__(self, sizes: Sizes, step: Any) -> None:
        self.solver, self.rows, self.cones = step.solver, step.solver.rows, step.solver.cones
        self.nv, self.nbody, self.islands = sizes.nv, sizes.nbody, sizes.islands
        self.ndry, self.nend, self.nlimit = sizes.ndry, sizes.nend, sizes.nlimit
        self.contacts, self.limits, self.dries = step.contacts, step.limits, step.dries
        self.nrow, self.row, self.nfriction = sizes.nrow, step.solver.row, sizes.nfriction
        self.ropes, self.frictions = sizes.ntendonlimit > 0, sizes.ntendonfriction > 0
        self.tied, self.equalities = step.tied, step.equalities
        self.elliptic, self.frictional = self.cones.elliptic, sizes.condim > 1

    @dt.func
    def freedom_of_dry(self, m, k):
        """Return a degree of freedom of a row of frictionloss."""
        found = 0
        if self.rows.is_rope(k):
            if ti.static(self.frictions):
                found = m.path_dofid[m.path_adr[m.friction_tendonid[k - self.nfriction]]]
        else:
            found = m.friction_dofid[k]
        return found

    @dt.func
    def freedom_of_limit(self, m, k):
        """Return a degree of freedom of a limit."""
        found = 0
        if self.rows.is_tendon(k):
            if ti.static(self.ropes):
                found = m.path_dofid[m.path_adr[m.limit_tendonid[k - self.nlimit]]]
        else:
            found = m.jnt_dofadr[m.limit_jntid[k]]
        return found

    @dt.func
    def freedoms_of_equality(self, m, e):
        """Return a degree of freedom of both sides of an equality, or -1."""
        one, other = m.eq_obj1id[e], m.eq_obj2id[e]
        i, j = -1, -1
        if m.eq_type[e] == FOLLOWER:
            i = m.jnt_dofadr[one]
            if other >= 0:
                j = m.jnt_dofadr[other]
        elif m.eq_type[e] == ROPE:
            if ti.static(self.equalities.ropes):
                i = m.path_dofid[m.path_adr[one]]
                if other >= 0:
                    j = m.path_dofid[m.path_adr[other]]
        else:
            b1, b2 = self.equalities.bodies(m, e)
            i, j = m.body_lastdofid[b1], m.body_lastdofid[b2]
        return i, j

    @dt.func
    def connect(self, m, laws, label):
        """Set the island of each degree of freedom."""
        for i in range(self.nv):
            label[i] = 0
            if ti.static(self.islands):
                label[i] = i
                if m.dof_parentid[i] >= 0:
                    label[i] = label[m.dof_parentid[i]]
        if ti.static(self.islands):
            for c in range(self.solver.count(laws)):
                b1, b2 = self.rows.bodies(m, laws[0][6][c])
                self.join(label, m.body_lastdofid[b1], m.body_lastdofid[b2])
            if ti.static(self.ropes):
                for k in range(2 * self.nlimit, 2 * self.nend):
                    if laws[1][2][k] > 0.0:
                        self.join_path(m, m.limit_tendonid[k // 2 - self.nlimit], label)
            if ti.static(self.frictions):
                for k in range(self.nfriction, self.ndry):
                    self.join_path(m, m.friction_tendonid[k - self.nfriction], label)
            if ti.static(self.tied):
                for k in range(self.equalities.nequality):
                    e = m.tie_eqid[k]
                    i, j = self.freedoms_of_equality(m, e)
                    self.join(label, i, j)
                    if m.eq_type[e] == ROPE:
                        if ti.static(self.equalities.ropes):
                            self.join_path(m, m.eq_obj1id[e], label)
                            if m.eq_obj2id[e] >= 0:
                                self.join_path(m, m.eq_obj2id[e], label)

    @dt.func
    def join(self, label, i, j):
        """Make the islands of two degrees of freedom one, if there are both."""
        if i >= 0 and j >= 0:
            low, high = min(label[i], label[j]), max(label[i], label[j])
            if low < high:
                for n in range(self.nv):
                    if label[n] == high:
                        label[n] = low

    @dt.func
    def join_path(self, m, t, label):
        """Make the islands of a tendon one."""
        for e in range(m.path_adr[t], m.path_adr[t] + m.path_num[t]):
            self.join(label, m.path_dofid[m.path_adr[t]], m.path_dofid[e])

    @dt.func
    def add_costs(self, m, a, tree, laws, label, gain):
        """Add ½ f^T R f of all rows but equalities to the islands."""
        z = (dt.local(self.contacts, self.row), dt.local(self.limits), dt.local(self.dries))
        self.solver.set_rows(m, a, tree, laws, z)
        for c in range(self.solver.count(laws)):
            b1, b2 = self.rows.bodies(m, laws[0][6][c])
            i = max(m.body_lastdofid[b1], m.body_lastdofid[b2])
            if i >= 0:
                gain[label[i]] += self.contact_cost(
                    laws[0][0][c], z[0][c], laws[0][4][c], laws[0][5][c]
                )
        for k in range(2 * self.nend):
            if laws[1][2][k] > 0.0:
                f = self.cones.push(z[1][k], laws[1][2][k])[1]
                gain[label[self.freedom_of_limit(m, k // 2)]] += 0.5 * f * f / laws[1][2][k]
        for k in range(self.ndry):
            f = self.cones.rub(z[2][k], laws[2][1][k], self.rows.most_friction(m, k))[1]
            gain[label[self.freedom_of_dry(m, k)]] += 0.5 * f * f / laws[2][1][k]

    @dt.func
    def contact_cost(self, dim, z, weight, mu):
        """Return ½ f^T R f of a contact."""
        force = self.cones.penalty(dim, z, weight, mu)[1]
        cost = 0.5 * force[0] ** 2 / weight
        if ti.static(self.frictional):
            if dim > 1:
                if ti.static(self.elliptic):
                    for k in ti.static(range(1, self.nrow)):
                        if k < dim:
                            cost += 0.5 * (force[k] * mu[0] / mu[k]) ** 2 / weight
                else:
                    cost = 0.0
                    for k in ti.static(range(1, self.nrow)):
                        if k < dim:
                            edges = self.cones.edges(z[0], mu[k] * z[k], weight)[1]
                            cost += 0.5 * edges.norm_sqr() / weight
        return cost

    @dt.func
    def add_costs_of_equalities(self, m, h, state, a, bodies, tree, paths, label, gain):
        """Add ½ f^T R f of equalities to the islands."""
        com, axis_r, axis_t = tree
        qpos, qvel = state
        vel, acc = self.equalities.motions(m, qvel, tree)
        v = (dt.local(self.nbody, vec3), dt.local(self.nbody, vec3))
        w = (dt.local(self.nbody, vec3), dt.local(self.nbody, vec3))
        self.rows.motions(m, axis_r, axis_t, qvel, v[0], v[1])
        self.rows.motions(m, axis_r, axis_t, a, w[0], w[1])
        for k in range(self.equalities.nequality):
            e = m.tie_eqid[k]
            i, j = self.freedoms_of_equality(m, e)
            tied = self.equalities.tie(m, e, qpos, bodies[0], bodies[1], paths[0])
            if max(i, j) >= 0 and self.equalities.is_felt(m, e, tied, tree):
                speed, turning = self.equalities.along(m, e, tied, com, paths[1], v, qvel)
                r, s, weight, firm = self.equalities.law(m, h, e, tied[3], tied[4], speed, turning)
                moves, bends = self.equalities.drift(m, e, tied, com, bodies[1], vel, acc)
                moved, bent = self.equalities.along(m, e, tied, com, paths[1], w, a)
                cost = weight * (moved + moves + r).norm_sqr()
                cost += firm * (bent + bends + s).norm_sqr()
                gain[label[max(i, j)]] += 0.5 * cost
