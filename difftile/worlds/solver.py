"""Newton's method on the convex problem whose minimum is the acceleration.

The problem of Todorov (2014; MuJoCo's documentation, "Computation"): a minimises
½ (a - a0)^T M (a - a0) + the penalties of z = J a + r. Its gradient is M a - tau - J^T f, and its
Hessian M + J^T S J is positive definite, so the minimum is unique, no matter the start. The length
of each step comes from Newton's method in one dimension, within a bracket, which is exact where the
penalties are quadratic.
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.cones import WIDTH, Cones
from difftile.worlds.packed import factor, multiply, solve
from difftile.worlds.quaternions import vec3
from difftile.worlds.rows import ConstraintRows

SEARCHES = 50
CLOSE = 0.01  # the part of the slope at which a search along a direction ends
LEAST_FORCE = 1e-30


@dt.data_oriented(frozen=True)
class Solver:
    """The acceleration of a model in a state.

    Funcs share tuples of arrays of one world: `tree` is the centres of trees and the axes of
    motion, rotations and translations; `laws` those of contacts (dim, point, frame, reference r,
    weight D, mu, slot, and two counts: of contacts, and of those that there was no room for too),
    of limits, two for each (Jacobian, r, D), and of dry joints and tendons (r, D), where D is 0 if
    there is no row, and `paths`; `z` and others J x of the three kinds of rows. Contacts are in the
    order of their slots.
    """

    def __init__(
        self,
        sizes: Any,
        iterations: int = 100,
        tolerance: float = 1e-15,
        smooth: bool = False,
        width: float = WIDTH,
        distance: float = 0.0,
    ) -> None:
        self.rows, self.cones = ConstraintRows(sizes, smooth, distance), Cones(sizes, smooth, width)
        self.nv, self.nbody, self.nslot = sizes.nv, sizes.nbody, sizes.nslot
        self.nend, self.ndry = sizes.nend, sizes.ndry
        self.npacked = sizes.nv * (sizes.nv + 1) // 2
        self.row = ti.types.vector(sizes.nrow, float)  # the rows of a contact
        # Arrays have at least one element.
        self.contacts, self.limits = max(sizes.ncontact, 1), max(2 * self.nend, 1)
        self.dries = max(self.ndry, 1)
        self.iterations, self.tolerance = iterations, tolerance
        self.stalled = tolerance**0.6  # a residual that steps must halve from here on

    @dt.func
    def set_laws(self, m, h, qpos, qvel, motions, geoms, tree, laws):
        """Set the laws of all rows in a state, in which bodies have the motions of qvel."""
        contacts, limits, dries, paths = laws
        limit_jacobian, limit_reference, limit_weight = limits
        dry_reference, dry_weight = dries
        count = self.rows.fold(m, h, geoms, tree[0], motions, self.keep, 0, contacts)
        contacts[7][0] = min(count, self.contacts)
        contacts[7][1] = count
        for k in range(2 * self.nend):
            dist, jacobian = self.rows.limit(m, k // 2, k % 2, qpos, paths)
            limit_weight[k] = 0.0
            if dist < self.rows.limit_margin(m, k // 2):
                speed = self.rows.along(m, k // 2, jacobian, qvel, paths[1])
                reference, weight = self.rows.limit_law(m, k // 2, dist, speed, h)
                limit_jacobian[k] = jacobian
                limit_reference[k] = reference
                limit_weight[k] = weight
        for k in range(self.ndry):
            speed = self.rows.rubbed(m, k, qvel, paths[1])
            reference, weight = self.rows.friction_law(m, k, speed, h)
            dry_reference[k] = reference
            dry_weight[k] = weight

    @dt.func
    def keep(self, m, s, place, law, count, contacts):
        """Keep the law of a contact if there is room; return the number of contacts."""
        if count < self.contacts:
            contacts[0][count] = law[0]
            contacts[1][count] = place[0]
            contacts[2][count] = place[1]
            contacts[3][count] = law[1]
            contacts[4][count] = law[2]
            contacts[5][count] = law[3]
            contacts[6][count] = s
        return count + 1

    @dt.func
    def count(self, laws):
        """Return the number of contacts, a literal 0 for models that cannot have any."""
        found = 0
        if ti.static(self.nslot > 0):
            found = laws[0][7][0]
        return found

    @dt.func
    def set_products(self, m, x, tree, laws, products):
        """Set J x of all rows."""
        com, axis_r, axis_t = tree
        contacts, limits, paths = laws[0], laws[1], laws[3]
        law_point, law_frame, law_slot = contacts[1], contacts[2], contacts[6]
        limit_jacobian, limit_weight = limits[0], limits[2]
        contact_x, limit_x, dry_x = products
        motion_r, motion_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        self.rows.motions(m, axis_r, axis_t, x, motion_r, motion_t)
        for c in range(self.count(laws)):
            contact_x[c] = self.rows.apart(
                m, law_slot[c], law_point[c], law_frame[c], com, motion_r, motion_t
            )
        for k in range(2 * self.nend):
            if limit_weight[k] > 0.0:
                limit_x[k] = self.rows.along(m, k // 2, limit_jacobian[k], x, paths[1])
        for k in range(self.ndry):
            dry_x[k] = self.rows.rubbed(m, k, x, paths[1])

    @dt.func
    def set_rows(self, m, a, tree, laws, z):
        """Set z = J a + r of all rows."""
        contacts, limits, dries = laws[0], laws[1], laws[2]
        contact_z, limit_z, dry_z = z
        self.set_products(m, a, tree, laws, z)
        for c in range(self.count(laws)):
            contact_z[c] += contacts[3][c]
        for k in range(2 * self.nend):
            limit_z[k] += limits[1][k]
        for k in range(self.ndry):
            dry_z[k] += dries[0][k]

    @dt.func
    def advance(self, laws, t, p, z):
        """Add t J p to z."""
        contact_z, limit_z, dry_z = z
        contact_p, limit_p, dry_p = p
        for c in range(self.count(laws)):
            contact_z[c] += t * contact_p[c]
        for k in range(2 * self.nend):
            limit_z[k] += t * limit_p[k]
        for k in range(self.ndry):
            dry_z[k] += t * dry_p[k]

    @dt.func
    def add_forces(self, m, tree, laws, z, force):
        """Add J^T f to a force in the coordinates of joints."""
        com, axis_r, axis_t = tree
        contacts, limits, dries, paths = laws
        law_dim, law_point, law_frame = contacts[0], contacts[1], contacts[2]
        law_weight, law_mu = contacts[4], contacts[5]
        limit_jacobian, limit_weight, dry_weight = limits[0], limits[2], dries[1]
        contact_z, limit_z, dry_z = z
        force_r, force_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        for c in range(self.count(laws)):
            pushed = self.cones.penalty(law_dim[c], contact_z[c], law_weight[c], law_mu[c])[1]
            f, turn = self.rows.wrench(law_frame[c], pushed)
            b1, b2 = self.rows.bodies(m, contacts[6][c])
            force_t[b1] -= f
            force_r[b1] -= (law_point[c] - com[b1]).cross(f) + turn
            force_t[b2] += f
            force_r[b2] += (law_point[c] - com[b2]).cross(f) + turn
        for back in range(self.nbody - 1):
            b = self.nbody - 1 - back
            for k in range(m.body_dofnum[b]):
                i = m.body_dofadr[b] + k
                force[i] += axis_r[i].dot(force_r[b]) + axis_t[i].dot(force_t[b])
            parent = m.body_parentid[b]
            if parent > 0:
                force_r[parent] += force_r[b]
                force_t[parent] += force_t[b]
        for k in range(2 * self.nend):
            if limit_weight[k] > 0.0:
                f = self.cones.push(limit_z[k], limit_weight[k])[1]
                self.rows.pull(m, k // 2, limit_jacobian[k], paths[1], f, force)
        for k in range(self.ndry):
            f = self.cones.rub(dry_z[k], dry_weight[k], self.rows.most_friction(m, k))[1]
            self.rows.rub(m, k, paths[1], f, force)

    @dt.func
    def add_curvature(self, m, tree, laws, z, hessian):
        """Add J^T S J to a packed matrix, contact by contact.

        The columns of the Jacobian of a contact that are not zero belong to the joints between its
        two bodies, along the tree.
        """
        com, axis_r, axis_t = tree
        contacts, limits, dries, paths = laws
        law_dim, law_point, law_frame = contacts[0], contacts[1], contacts[2]
        law_weight, law_mu = contacts[4], contacts[5]
        limit_jacobian, limit_weight, dry_weight = limits[0], limits[2], dries[1]
        contact_z, limit_z, dry_z = z
        column = dt.local(self.nv, self.row)
        freedom = dt.local(self.nv, int)
        for c in range(self.count(laws)):
            value, _force, curvature = self.cones.penalty(
                law_dim[c], contact_z[c], law_weight[c], law_mu[c]
            )
            if value > 0.0:
                b1, b2 = self.rows.bodies(m, contacts[6][c])
                arm1, arm2 = law_point[c] - com[b1], law_point[c] - com[b2]
                i1, i2 = m.body_lastdofid[b1], m.body_lastdofid[b2]
                count = 0
                for _ in range(self.nv):
                    if i1 == i2:
                        break
                    i = max(i1, i2)
                    if i2 > i1:
                        column[count] = self.rows.row(
                            law_frame[c], axis_t[i] + axis_r[i].cross(arm2), axis_r[i]
                        )
                        i2 = m.dof_parentid[i]
                    else:
                        column[count] = -self.rows.row(
                            law_frame[c], axis_t[i] + axis_r[i].cross(arm1), axis_r[i]
                        )
                        i1 = m.dof_parentid[i]
                    freedom[count] = i
                    count += 1
                for p in range(count):
                    bent = curvature @ column[p]
                    row = freedom[p] * (freedom[p] + 1) // 2
                    for q in range(p, count):
                        hessian[row + freedom[q]] += bent.dot(column[q])
        for k in range(2 * self.nend):
            if limit_weight[k] > 0.0:
                s = self.cones.push(limit_z[k], limit_weight[k])[2]
                self.rows.square(m, k // 2, limit_jacobian[k], paths[1], s, hessian)
        for k in range(self.ndry):
            s = self.cones.rub(dry_z[k], dry_weight[k], self.rows.most_friction(m, k))[2]
            self.rows.rub_square(m, k, paths[1], s, hessian)

    @dt.func
    def slope(self, m, t, laws, z, p):
        """Return the first and the second derivative of the penalties by t, at z + t p."""
        contacts, limits, dries = laws[0], laws[1], laws[2]
        law_dim, law_weight, law_mu = contacts[0], contacts[4], contacts[5]
        limit_weight, dry_weight = limits[2], dries[1]
        contact_z, limit_z, dry_z = z
        contact_p, limit_p, dry_p = p
        first, second = 0.0, 0.0
        for c in range(self.count(laws)):
            _value, f, curvature = self.cones.penalty(
                law_dim[c], contact_z[c] + t * contact_p[c], law_weight[c], law_mu[c]
            )
            first -= f.dot(contact_p[c])
            second += contact_p[c].dot(curvature @ contact_p[c])
        for k in range(2 * self.nend):
            if limit_weight[k] > 0.0:
                _value, f, curvature = self.cones.push(limit_z[k] + t * limit_p[k], limit_weight[k])
                first -= f * limit_p[k]
                second += curvature * limit_p[k] * limit_p[k]
        for k in range(self.ndry):
            most = self.rows.most_friction(m, k)
            _value, f, curvature = self.cones.rub(dry_z[k] + t * dry_p[k], dry_weight[k], most)
            first -= f * dry_p[k]
            second += curvature * dry_p[k] * dry_p[k]
        return first, second

    @dt.func
    def step_length(self, m, start, linear, quadratic, laws, z, p):
        """Return the t > 0 at which the problem is least along p.

        Args:
            start: The derivative of the problem by t at 0.
            linear: The derivative at 0 of the part without penalties; quadratic: its second.
        """
        t, low, high = 1.0, 0.0, -1.0  # high is below 0 until it is known
        for _ in range(SEARCHES):
            first, second = self.slope(m, t, laws, z, p)
            first += linear + t * quadratic
            second += quadratic
            if abs(first) <= CLOSE * abs(start):
                break
            if first > 0.0:
                high = t
            else:
                low = t
            t -= first / second
            if high > 0.0 and (t <= low or t >= high):
                t = 0.5 * (low + high)
            elif t <= low:
                t = 2.0 * low
        return t

    @dt.func
    def minimise(self, m, tree, laws, mass, tau, a, inertial):
        """Replace a, a start, by the acceleration.

        Args:
            mass: The mass matrix, packed.
            tau: All forces but those of constraints.
            inertial: Result: M a.

        Returns:
            The residual: the gradient, relative to the forces that cancel in it, each measured by
            the diagonal of the mass matrix; and the number of steps.
        """
        contact_z, contact_p = dt.local(self.contacts, self.row), dt.local(self.contacts, self.row)
        limit_z, limit_p = dt.local(self.limits), dt.local(self.limits)
        dry_z, dry_p = dt.local(self.dries), dt.local(self.dries)
        z, zp = (contact_z, limit_z, dry_z), (contact_p, limit_p, dry_p)
        hessian = dt.local(self.npacked)
        force, p = dt.local(self.nv), dt.local(self.nv)
        self.set_rows(m, a, tree, laws, z)
        multiply(mass, a, inertial, self.nv)
        residual, last, steps = 1.0, 1.0, 0
        for _ in range(self.iterations + 1):
            for i in range(self.nv):
                force[i] = 0.0
            self.add_forces(m, tree, laws, z, force)
            over, under = 0.0, LEAST_FORCE
            for i in range(self.nv):
                g = inertial[i] - tau[i] - force[i]
                p[i] = -g
                w = 1.0 / mass[i * (i + 1) // 2 + i]
                over += w * g * g
                under += w * (inertial[i] ** 2 + tau[i] ** 2 + force[i] ** 2)
            residual = ti.sqrt(over / under)
            stalls = residual < self.stalled and residual > 0.5 * last
            if residual <= self.tolerance or stalls or steps == self.iterations:
                break
            last = residual
            for e in range(self.npacked):
                hessian[e] = mass[e]
            self.add_curvature(m, tree, laws, z, hessian)
            factor(hessian, self.nv)
            solve(hessian, p, self.nv)
            start, linear, quadratic = 0.0, 0.0, 0.0
            for i in range(self.nv):
                linear += p[i] * (inertial[i] - tau[i])
                start += p[i] * (inertial[i] - tau[i] - force[i])
            multiply(mass, p, force, self.nv)
            for i in range(self.nv):
                quadratic += p[i] * force[i]
            self.set_products(m, p, tree, laws, zp)
            t = self.step_length(m, start, linear, quadratic, laws, z, zp)
            for i in range(self.nv):
                a[i] += t * p[i]
                inertial[i] += t * force[i]
            self.advance(laws, t, zp, z)
            steps += 1
        return residual, steps

    @dt.func
    def adjoint(self, m, tree, laws, mass, a, a_bar):
        """Replace a_bar, the gradient by the acceleration a, by H^-1 a_bar."""
        z = (dt.local(self.contacts, self.row), dt.local(self.limits), dt.local(self.dries))
        self.set_rows(m, a, tree, laws, z)
        hessian, factors = dt.local(self.npacked), dt.local(self.npacked)
        rest, x = dt.local(self.nv), dt.local(self.nv)
        for e in range(self.npacked):
            hessian[e] = mass[e]
        self.add_curvature(m, tree, laws, z, hessian)
        for e in range(self.npacked):
            factors[e] = hessian[e]
        factor(factors, self.nv)
        for i in range(self.nv):
            x[i] = a_bar[i]
        solve(factors, x, self.nv)
        multiply(hessian, x, rest, self.nv)  # one step of refinement, for single precision
        for i in range(self.nv):
            rest[i] = a_bar[i] - rest[i]
        solve(factors, rest, self.nv)
        for i in range(self.nv):
            a_bar[i] = x[i] + rest[i]
