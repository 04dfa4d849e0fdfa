"""Sweeps after the solver that take the softness out of friction: `noslip_iterations` of MuJoCo.

The regularisation of the solver's problem lets contacts creep. Starting from its forces, each sweep
goes through the rows of friction, and chooses the forces of one joint, tendon or contact such that
its point does not accelerate against the reference, within the limits of friction: the minimum of
½ f^T A f + b^T f, A = J M^-1 J^T, over these forces alone. Normal forces, limits and equalities
stay. A sweep whose improvement is small is the last one of its island, the trees that constraints
connect. Source: `mj_solNoSlip`.

There are a few sweeps, which do not converge: the derivative is that of the sweeps as they ran.
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.islands import ConstraintIslands, islands_of
from difftile.worlds.packed import factored, multiply, solution_of
from difftile.worlds.quaternions import vec3
from difftile.worlds.topology import Sizes

LEAST = 1e-15  # of a diagonal entry of A
SINGULAR = 1e-10  # the determinant of a block of A, scaled by its frictions, or its least pivot
SEARCHES = 20
CLOSE = 1e-10  # of a multiplier, of the square of a force [N²], and of a cost


@dt.data_oriented(frozen=True)
class NoSlip:
    """The sweeps of models of some sizes.

    Args:
        sizes: The sizes.
        step: The funcs of their steps, a `WorldStep`.
    """

    def __init__(self, sizes: Sizes, step: Any) -> None:
        self.step, self.solver, self.islands = step, step.solver, ConstraintIslands(sizes, step)
        self.rows, self.cones = step.solver.rows, step.solver.cones
        self.nv, self.nbody, self.npacked, self.nu = sizes.nv, sizes.nbody, step.npacked, step.nu
        self.contacts, self.limits, self.dries = step.contacts, step.limits, step.dries
        self.nrow, self.row, self.ndry = sizes.nrow, step.solver.row, sizes.ndry
        self.nfriction, self.frictions = sizes.nfriction, sizes.ntendonfriction > 0
        self.strung, self.frictional = sizes.spatial, sizes.condim > 1
        self.elliptic = self.cones.elliptic

    @dt.func
    def slide(self, m, qpos, qvel, ctrl, act, start, a, b, outer):
        """Compute accelerations after the sweeps.

        Args:
            m: The parameters of the model.
            qpos, qvel, ctrl, act: The state, and controls.
            start: The acceleration that the solver found, (nv,).
            a, b: Result: accelerations, and those that the integrator takes, (nv,).
            outer: Result: the forces on bodies that the sweeps add, torques about the centres of
                trees and forces, (nbody,) of vec3 each.
        """
        h = self.step.exactly(m.timestep[None])
        bodies, tree, geoms, inertias = self.step.frames(m, qpos)
        paths = self.step.forces.reach(m, qpos, bodies, tree)
        mass, laws = self.step.mass(m, tree, inertias, paths), self.step.laws(paths)
        self.step.set_laws(m, h, qpos, qvel, geoms, tree, laws)
        islands = (dt.local(self.nv, int), dt.local(self.nv), dt.local(self.nv))
        islands_of(self.islands, m, (qpos, qvel), start, bodies, tree, laws, mass, *islands)
        self.sweeps(m, bodies, tree, laws, mass, islands, start, a, outer)
        slope, push = dt.local(self.nu), dt.local(self.nv)
        if ti.static(self.step.integrator.implicit):
            force, drive = dt.local(self.nu), dt.local(self.nv)
            self.step.forces.actuation(m, h, qpos, qvel, ctrl, act, paths, force, slope, drive)
        multiply(mass, a, push, self.nv)
        self.step.integrated(
            m, h, qvel, slope, paths, bodies, tree, inertias[1], mass, push, b, False
        )

    @dt.func
    def sweeps(self, m, bodies, tree, laws, mass, given, start, a, outer):
        """Run all sweeps, from the acceleration `start` to a; see `slide`."""
        factors, order = dt.local(self.npacked), dt.local(self.contacts, int)
        factored(mass, factors, self.nv)
        self.sort(m, laws, order)
        most, push = dt.local(self.contacts, self.row), dt.local(self.contacts, self.row)
        rub, closed = dt.local(self.dries), dt.local(self.nv, int)
        first, before = dt.local(self.contacts, self.row), dt.local(self.dries)
        self.set_forces(m, start, tree, laws, most, first, before)
        for i in range(self.nv):
            a[i] = start[i]
        for c in range(self.solver.count(laws)):
            push[c] = first[c]
        for k in range(self.ndry):
            rub[k] = before[k]
        label, gain, inertia = given
        islands = (label, gain, closed)
        for k in range(m.noslip_iterations[None]):
            for i in range(self.nv):
                if k > 0:
                    if gain[i] < m.noslip_tolerance[None] * inertia[i]:
                        closed[i] = 1
                    gain[i] = 0.0
            for j in range(self.ndry):
                self.sweep_dry(m, j, laws, (mass, factors), islands, rub, a)
            if ti.static(self.frictional):
                for j in range(self.solver.count(laws)):
                    c = order[j]
                    if laws[0][0][c] > 1:
                        self.sweep_contact(
                            m, c, tree, laws, (mass, factors), islands, most[c], push, a
                        )
        self.record(m, bodies, tree, laws, first, push, before, rub, outer)

    @dt.func
    def sort(self, m, laws, order):
        """Set the order of contacts, that in which MuJoCo has them."""
        for c in range(self.solver.count(laws)):
            rank, at = m.slot_rank[laws[0][6][c]], c
            for back in range(c):
                k = c - 1 - back
                if m.slot_rank[laws[0][6][order[k]]] <= rank:
                    break
                order[k + 1] = order[k]
                at = k
            order[at] = c

    @dt.func
    def set_forces(self, m, a, tree, laws, most, push, rub):
        """Set the forces of contacts and of dry joints at the acceleration a.

        Args:
            m, a, tree, laws: The model, and the state.
            most: Result: the largest forces of friction of the rows of a pyramid, (contacts,); of
                an elliptic cone the normal force, in the first row.
            push, rub: Result: the forces of contacts and of dry joints.
        """
        z = (dt.local(self.contacts, self.row), dt.local(self.limits), dt.local(self.dries))
        self.solver.set_rows(m, a, tree, laws, z)
        dims, weights, mus = laws[0][0], laws[0][4], laws[0][5]
        for c in range(self.solver.count(laws)):
            force = self.cones.penalty(dims[c], z[0][c], weights[c], mus[c])[1]
            limit = ti.Vector.zero(float, self.nrow)
            limit[0] = force[0]
            if ti.static(self.frictional and not self.elliptic):
                for k in ti.static(range(1, self.nrow)):
                    edges = self.cones.edges(z[0][c][0], mus[c][k] * z[0][c][k], weights[c])[1]
                    limit[k] = mus[c][k] * (edges[0] + edges[1])
            most[c] = limit
            push[c] = force
        for k in range(self.ndry):
            rub[k] = self.cones.rub(z[2][k], laws[2][1][k], self.rows.most_friction(m, k))[1]

    @dt.func
    def sweep_dry(self, m, k, laws, mass, islands, rub, a):
        """Choose the force of a dry joint or tendon, and add what it changes to a.

        Args:
            m, laws: The model, and the laws of rows.
            k: The row of frictionloss.
            mass: The inertia matrix, and its factors.
            islands: The island of each degree of freedom, and the gain of each, and if it is over.
            rub: Forces of all rows, changed.
            a: The acceleration, changed.
        """
        island = islands[0][self.islands.freedom_of_dry(m, k)]
        if islands[2][island] == 0:
            u, w = dt.local(self.nv), dt.local(self.nv)
            self.rows.rub(m, k, laws[3][1], 1.0, u)
            solution_of(mass[0], mass[1], u, w, self.nv)
            z = self.rows.rubbed(m, k, a, laws[3][1]) + laws[2][0][k]
            limit = self.rows.most_friction(m, k)
            diagonal = max(self.dot(u, w), LEAST)
            found = ti.math.clamp(rub[k] - z / diagonal, -limit, limit)
            change = found - rub[k]
            islands[1][island] -= change * (z + 0.5 * diagonal * change)
            for i in range(self.nv):
                a[i] += w[i] * change
            rub[k] = found

    @dt.func
    def sweep_contact(self, m, c, tree, laws, mass, islands, most, push, a):
        """Choose the friction of a contact, and add what it changes to a.

        Args:
            m, tree, laws, mass, islands, a: As for `sweep_dry`.
            c: The contact.
            most: Its limits, from `set_forces`.
            push: Forces of all contacts, changed.
        """
        b1, b2 = self.rows.bodies(m, laws[0][6][c])
        last = max(m.body_lastdofid[b1], m.body_lastdofid[b2])
        if last >= 0:
            island = islands[0][last]
            if islands[2][island] == 0:
                column, moved = dt.local(self.nv, self.row), dt.local(self.nv * self.nrow)
                self.set_columns(m, c, tree, laws, column)
                block = self.set_moved(mass, column, moved)
                if ti.static(self.elliptic):
                    z = laws[0][3][c]
                    for i in range(self.nv):
                        z += column[i] * a[i]
                    found = self.cone_force(
                        laws[0][0][c], block, z, push[c], laws[0][5][c], most[0]
                    )
                    change = found - push[c]
                    cost = change.dot(z + 0.5 * (block @ change))
                    if cost > CLOSE:  # of a singular block
                        change = 0.0 * change
                        cost = 0.0
                    islands[1][island] -= cost
                    for i in range(self.nv):
                        a[i] += self.pushed(moved, i, change)
                    push[c] = push[c] + change
                else:
                    for k in ti.static(range(1, self.nrow)):
                        if k < laws[0][0][c]:
                            z = laws[0][3][c][k]
                            for i in range(self.nv):
                                z += column[i][k] * a[i]
                            diagonal = max(block[k, k], LEAST)
                            f = push[c][k]
                            found = ti.math.clamp(f - z / diagonal, -most[k], most[k])
                            change = ti.Vector.zero(float, self.nrow)
                            change[k] = found - f
                            islands[1][island] -= change[k] * (z + 0.5 * diagonal * change[k])
                            for i in range(self.nv):
                                a[i] += self.pushed(moved, i, change)
                            push[c] = push[c] + change

    @dt.func
    def pushed(self, moved, i, change):
        """Return what a change of the forces of a contact does to an acceleration."""
        total = 0.0
        for k in ti.static(range(1, self.nrow)):
            total += moved[i * self.nrow + k] * change[k]
        return total

    @dt.func
    def dot(self, x, y):
        """Return the product of two vectors of degrees of freedom."""
        total = 0.0
        for i in range(self.nv):
            total += x[i] * y[i]
        return total

    @dt.func
    def set_columns(self, m, c, tree, laws, column):
        """Set the columns of the Jacobian of a contact, (nv,) of its rows, from zeros."""
        com, axis_r, axis_t = tree
        b1, b2 = self.rows.bodies(m, laws[0][6][c])
        point, frame = laws[0][1][c], laws[0][2][c]
        i1, i2 = m.body_lastdofid[b1], m.body_lastdofid[b2]
        for _ in range(self.nv):
            if i1 == i2:
                break
            i = max(i1, i2)
            if i2 > i1:
                arm = point - com[b2]
                column[i] = self.rows.row(frame, axis_t[i] + axis_r[i].cross(arm), axis_r[i])
                i2 = m.dof_parentid[i]
            else:
                arm = point - com[b1]
                column[i] = -self.rows.row(frame, axis_t[i] + axis_r[i].cross(arm), axis_r[i])
                i1 = m.dof_parentid[i]

    @dt.func
    def set_moved(self, mass, column, moved):
        """Set M^-1 J^T of the rows of friction of a contact, and return their block of A."""
        block = ti.Matrix.zero(float, self.nrow, self.nrow)
        for k in ti.static(range(1, self.nrow)):
            u, w = dt.local(self.nv), dt.local(self.nv)
            for i in range(self.nv):
                u[i] = column[i][k]
            solution_of(mass[0], mass[1], u, w, self.nv)
            for i in range(self.nv):
                moved[i * self.nrow + k] = w[i]
                for n in ti.static(range(1, self.nrow)):
                    block[n, k] += column[i][n] * w[i]
        return block

    @dt.func
    def cone_force(self, dim, block, z, push, mu, normal):
        """Return the forces of an elliptic cone, with the friction that is best.

        Args:
            dim: The number of its dimensions.
            block: A of its rows.
            z: Its rows of the acceleration, less the reference.
            push: Its forces.
            mu: Its frictions, from the second row on.
            normal: Its normal force.
        """
        a = ti.Matrix.zero(float, self.nrow - 1, self.nrow - 1)
        b = ti.Vector.zero(float, self.nrow - 1)
        rest = z - block @ push
        for k in ti.static(range(self.nrow - 1)):
            a[k, k] = 1.0
            if k + 1 < dim:
                b[k] = mu[k + 1] * rest[k + 1]
                for n in ti.static(range(self.nrow - 1)):
                    a[k, n] = 0.0
                    if n + 1 < dim:
                        a[k, n] = mu[k + 1] * mu[n + 1] * block[k + 1, n + 1]
        found = ti.Vector.zero(float, self.nrow)
        found[0] = push[0]
        if normal >= LEAST:
            v = self.nearest(dim, a, b, normal)
            for k in ti.static(range(self.nrow - 1)):
                found[k + 1] = mu[k + 1] * v[k]
        return found

    @dt.func
    def nearest(self, dim, a, b, most):
        """Return the least ½ v^T A v + b^T v among the v of at most a length, by MuJoCo's search.

        With a multiplier λ of the length, v = -(A + λ)^-1 b. The search ends after a few steps,
        which may be too early where frictions are very different: its steps are differentiated.
        """
        v, multiplier, searching = ti.Vector.zero(float, self.nrow - 1), 0.0, True
        for _ in range(SEARCHES):
            if searching:
                v, bent, least = self.solved(dim, a, b, multiplier)
                over = v.norm_sqr() - most * most
                if least < SINGULAR:
                    v, multiplier = 0.0 * b, 0.0
                    searching = False
                elif over < CLOSE:
                    searching = False
                else:
                    change = 0.5 * over / v.dot(bent)
                    if change < CLOSE:
                        searching = False
                    else:
                        multiplier += change
        if multiplier > 0.0:
            v *= most / v.norm()
        return v

    @dt.func
    def solved(self, dim, a, b, shift):
        """Return v = -(A + shift)^-1 b, (A + shift)^-1 v, and a measure of how singular A is."""
        n = ti.static(self.nrow - 1)
        factors, pivots = a, ti.Vector.zero(float, self.nrow - 1)
        for i in ti.static(range(n)):
            factors[i, i] += shift
        for i in ti.static(range(n)):
            pivots[i] = max(factors[i, i], LEAST)
            for j in ti.static(range(i + 1, n)):
                factors[j, i] = factors[j, i] / pivots[i]
            for j in ti.static(range(i + 1, n)):
                for k in ti.static(range(i + 1, j + 1)):
                    factors[j, k] -= factors[j, i] * factors[k, i] * pivots[i]
        product, least = 1.0, pivots[0]
        for i in ti.static(range(n)):
            product *= pivots[i]
            least = min(least, pivots[i])
        if dim < 6:
            least = product
        v = -self.divided(factors, pivots, b)
        return v, self.divided(factors, pivots, v), least

    @dt.func
    def divided(self, factors, pivots, b):
        """Return the solution of a small system with factors L D L^T, L below the diagonal."""
        n = ti.static(self.nrow - 1)
        x = b
        for i in ti.static(range(n)):
            for j in ti.static(range(i)):
                x[i] -= factors[i, j] * x[j]
        for i in ti.static(range(n)):
            x[i] /= pivots[i]
        for i in ti.static(range(n - 1, -1, -1)):
            for j in ti.static(range(i + 1, n)):
                x[i] -= factors[j, i] * x[j]
        return x

    @dt.func
    def record(self, m, bodies, tree, laws, first, push, before, rub, outer):
        """Set the forces on bodies that the sweeps add; see `slide`."""
        com, outer_r, outer_t = tree[0], outer[0], outer[1]
        for c in range(self.solver.count(laws)):
            point = laws[0][1][c]
            f, turn = self.rows.wrench(laws[0][2][c], push[c] - first[c])
            b1, b2 = self.rows.bodies(m, laws[0][6][c])
            outer_t[b1] -= f
            outer_r[b1] -= (point - com[b1]).cross(f) + turn
            outer_t[b2] += f
            outer_r[b2] += (point - com[b2]).cross(f) + turn
        if ti.static(self.strung and self.frictions):
            for k in range(self.nfriction, self.ndry):
                t = m.friction_tendonid[k - self.nfriction]
                self.rows.paths.push(m, t, rub[k] - before[k], bodies, com, outer_r, outer_t)


@dt.kernel
def slide(sliding, m, qpos, qvel, ctrl, act, start, acc, out, outer):
    """Compute the accelerations of a world after the sweeps.

    Args:
        sliding: The funcs, a `NoSlip`.
        m: The parameters of the model.
        qpos, qvel, ctrl, act: The state, and controls.
        start: The acceleration that the solver found, (nv,).
        acc, out: Result: accelerations, and those that the integrator takes, (nv,).
        outer: Result: the forces on bodies that the sweeps add, see `NoSlip.slide`, six numbers for
            each body, torque and force.
    """
    given, a, b = dt.local(sliding.nv), dt.local(sliding.nv), dt.local(sliding.nv)
    added = (dt.local(sliding.nbody, vec3), dt.local(sliding.nbody, vec3))
    for i in range(sliding.nv):
        given[i] = start[i]
    sliding.slide(m, qpos, qvel, ctrl, act, given, a, b, added)
    for i in range(sliding.nv):
        acc[i] = a[i]
        out[i] = b[i]
    for n in range(sliding.nbody):
        for k in ti.static(range(3)):
            outer[6 * n + k] = added[0][n][k]
            outer[6 * n + 3 + k] = added[1][n][k]
