"""Contacts, rows and solver as plain Python beside MuJoCo.

Frames, motion axes, mass matrix and smooth forces come from MuJoCo.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from difftile import worlds
from difftile.worlds.kinds import CAPSULE
from tests.plain_python import Shaped
from tests.worlds.plain import Local, module, parameters
from tests.worlds.test_terms import full

VEC3, MAT3 = Shaped((3,)), Shaped((3, 3))
NEAR = 1e-3  # of the axes of two capsules, where rounding turns the normal between them [m]


def filled(values: Any, *element: int) -> Local:
    """Return a local array of numbers, or of vectors or matrices, with these values."""
    values = np.array(values, float)
    found = Local(values.shape[: values.ndim - len(element)], Shaped(element))
    found.values[...] = values
    return found


class World:
    """A model in MuJoCo and here.

    Args:
        mujoco: The package.
        source: A model of MuJoCo, which is changed by nothing here.
        options: `smooth` and `width`.
    """

    def __init__(self, mujoco: Any, source: Any, **options: Any) -> None:
        self.mujoco, self.source, self.data = mujoco, source, mujoco.MjData(source)
        self.model = worlds.load(source)
        self.m = parameters(self.model)
        self.solver = module("difftile.worlds.solver").Solver(self.model.sizes, **options)
        self.equalities = module("difftile.worlds.equalities").Equalities(self.model.sizes)
        self.solution = module("difftile.worlds.solution").Solution(self.model.sizes, **options)

    def forward(self, qpos: Any, qvel: Any, act: Any = (), ctrl: Any = ()) -> None:
        """Put MuJoCo into a state, and compute everything there."""
        source, data = self.source, self.data
        data.qpos[:], data.qvel[:], data.act[:], data.ctrl[:] = qpos, qvel, act, ctrl
        data.qacc_warmstart[:] = 0
        self.mujoco.mj_forward(source, data)
        triangle = np.zeros((source.nv, source.nv))
        self.mujoco.mj_fullM(source, data, triangle)
        self.mass = filled(triangle[np.tril_indices(source.nv)])
        self.tau = filled(data.qfrc_smooth)
        com = data.subtree_com[source.body_rootid]
        axes = filled(data.cdof[:, :3], 3), filled(data.cdof[:, 3:], 3)
        self.tree = (filled(com, 3), *axes)
        self.qpos, self.qvel, self.h = filled(qpos), filled(qvel), source.opt.timestep
        self.bodies = filled(data.xpos, 3), filled(data.xquat, 4)
        self.paths = self.equalities.paths.of(self.m, self.qpos, self.bodies, self.tree)
        self.geom_xpos = filled(data.geom_xpos, 3)
        self.geom_xmat = filled(data.geom_xmat.reshape(-1, 3, 3), 3, 3)

    def set_laws(self) -> None:
        """Compute the laws of all rows."""
        most, limits, dries = self.solver.contacts, self.solver.limits, self.solver.dries
        contacts = Local(most, int), Local(most, VEC3), Local(most, MAT3)
        contacts += Local(most, self.solver.row), Local(most), Local(most, self.solver.row)
        contacts += Local(most, int), Local(2, int)
        ends = Local(limits, VEC3), Local(limits), Local(limits)
        self.laws = contacts, ends, (Local(dries), Local(dries)), self.paths
        self.order: list[int] | None = None
        geoms, count = (self.geom_xpos, self.geom_xmat), self.source.nbody
        motions = Local(count, VEC3), Local(count, VEC3)
        self.solver.rows.motions(self.m, *self.tree[1:], self.qvel, *motions)
        given = self.m, self.h, self.qpos, self.qvel, motions, geoms
        self.solver.set_laws(*given, self.tree, self.laws)

    def solve(self, start: Any = None) -> np.ndarray:
        """Compute the acceleration."""
        self.set_laws()
        self.a = filled(np.zeros(self.source.nv) if start is None else start)
        mass, tau = self.with_equalities()
        given = self.tree, self.laws, mass, tau, self.a, Local(self.source.nv)
        self.residual, self.steps = self.solver.minimise(self.m, *given)
        return self.a.values.copy()

    def multipliers(self, a_bar: np.ndarray) -> np.ndarray:
        """Return H^-1 a_bar at the acceleration that `solve` found."""
        x = filled(a_bar)
        mass, _ = self.with_equalities()
        self.solver.adjoint(self.m, self.tree, self.laws, mass, self.a, x)
        return x.values

    def with_equalities(self) -> tuple[Local, Local]:
        """Return the matrix and the forces of the problem, those of equalities included."""
        mass, tau = filled(self.mass.values), filled(self.tau.values)
        given = self.m, self.h, self.qpos, self.qvel, self.bodies, self.tree, self.paths
        self.equalities.absorb(*given, mass, tau)
        return mass, tau

    def ties(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Jacobian, references r and weights D of the rows of equalities."""
        nv, found = self.source.nv, [(np.zeros(self.source.nv), 0.0, 0.0)][:0]
        motions = self.equalities.motions(self.m, self.qvel, self.tree)
        for k in range(self.equalities.nequality):
            e = self.m.tie_eqid[k]
            tied = self.equalities.tie(self.m, e, self.qpos, *self.bodies, self.paths[0])
            freedom, moved, bent = Local(nv, int), Local(nv, VEC3), Local(nv, VEC3)
            given = self.m, e, tied, self.tree, self.paths[1], freedom, moved, bent
            count = self.equalities.columns(*given)
            jacobian = np.zeros((6, nv))
            columns = np.hstack([moved.values[:count], bent.values[:count]]).T
            jacobian[:, freedom.values[:count]] = columns
            if not jacobian.any():
                continue  # MuJoCo drops rows that are zero
            speeds = [filled([v], 3)[0] for v in np.split(jacobian @ self.qvel.values, 2)]
            given = self.m, self.h, e, tied[3], tied[4], *speeds
            r, s, weight, firm = self.equalities.law(*given)
            given = self.m, e, tied, self.tree[0], self.bodies[1], *motions
            moves, bends = self.equalities.drift(*given)
            dim = (3, 6, 1, 1)[int(self.m.eq_type[e])]
            rows = zip(
                jacobian, [*(r + moves), *(s + bends)], [weight] * 3 + [firm] * 3, strict=True
            )
            found += list(rows)[:dim]
        return (
            tuple(map(np.array, zip(*found, strict=True)))
            if found
            else (  # type: ignore
                np.zeros((0, nv)),
                np.zeros(0),
                np.zeros(0),
            )
        )

    def phi(self, a: np.ndarray, x: np.ndarray) -> float:
        """Return -x^T g(a) in the state."""
        data, solution = self.data, self.solution
        bodies = filled(data.xpos, 3), filled(data.xquat, 4)
        both, zeros = (filled(a), filled(x)), filled(0 * x)
        inertial, v, x_motion = solution.inertial_power(
            *(self.m, self.tree, *bodies, self.qvel, self.paths),
            *(both[0], both[0], both[1], zeros),
        )
        motions = [solution.of_bodies(self.m, one) for one in (v, x_motion)]
        geoms = self.geom_xpos, self.geom_xmat
        pushed = solution.constraint_power(
            *(self.m, self.h, self.qpos, self.qvel, geoms, self.tree, self.paths, both), *motions
        )
        given = self.m, self.h, self.qpos, self.qvel, bodies, self.tree, self.paths
        pushed += self.equalities.power(*given, *both)
        return float(x @ (data.qfrc_smooth + data.qfrc_bias) + inertial + pushed)

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return references, regularisations and forces of all rows, in MuJoCo's order."""
        z = self.products()
        contacts, ends, dries, _ = self.laws
        jacobian, r, weights = self.ties()
        pulled = -weights * (jacobian @ self.a.values + r - jacobian @ self.rest)
        references = np.append(r, self.by_row((contacts[3], ends[1], dries[0])))
        found = [(1 / weight, force) for weight, force in zip(weights, pulled, strict=True)]
        for k in self.dry():
            most = self.solver.rows.most_friction(self.m, k)
            found.append((1 / dries[1][k], self.solver.cones.rub(z[2][k], dries[1][k], most)[1]))
        for k in self.ends():
            found.append((1 / ends[2][k], self.solver.cones.push(z[1][k], ends[2][k])[1]))
        for s in self.touching():
            dim, weight, mu = (contacts[k][s] for k in (0, 4, 5))
            if dim > 1 and self.solver.cones.elliptic:
                _, force, _ = self.solver.cones.penalty(dim, z[0][s], weight, mu)
                inverse = mu[0] ** 2 / (weight * np.maximum(mu, 1e-5) ** 2)
                found += [(inverse[k], force[k]) for k in range(dim)]
            else:
                found += [(1 / weight, -weight * min(e @ z[0][s], 0)) for e in self.edges(s)]
        regularisations, forces = np.array(found).reshape(-1, 2).T
        return -references, regularisations, forces

    def jacobian(self) -> np.ndarray:
        """Return the Jacobian of all rows, in MuJoCo's order."""
        columns = []
        for e in np.eye(self.source.nv):
            products = self.none()
            self.solver.set_products(self.m, filled(e), self.tree, self.laws, products)
            columns.append(self.by_row(products))
        return np.vstack([self.ties()[0], np.array(columns).T])

    def curvature(self) -> np.ndarray:
        """Return J^T S J at the acceleration that `solve` found."""
        nv = self.source.nv
        bent = filled(np.zeros(nv * (nv + 1) // 2))
        self.solver.add_curvature(self.m, self.tree, self.laws, self.products(), bent)
        return full(bent.values)

    def by_row(self, x: tuple[Local, Local, Local]) -> np.ndarray:
        """Return numbers of contacts, limits and dry joints in the order of MuJoCo's rows."""
        found = [x[2][k] for k in self.dry()]
        found += [x[1][k] for k in self.ends()]
        return np.array(found + [e @ x[0][s] for s in self.touching() for e in self.edges(s)])

    def dry(self) -> list[int]:
        """Return the rows of frictionloss that MuJoCo has: those that are not zero."""
        solver, count = self.solver, self.source.nv
        moving = [
            any(solver.rows.rubbed(self.m, k, filled(e), self.paths[1]) for e in np.eye(count))
            for k in range(solver.ndry)
        ]
        return list(np.flatnonzero(moving))

    def ends(self) -> list[int]:
        """Return the limits with a row."""
        return [k for k in range(2 * self.solver.nend) if self.laws[1][2][k] > 0]

    def edges(self, s: int) -> np.ndarray:
        """Return what MuJoCo's rows of contact s have of the rows here."""
        dim, mu = int(self.laws[0][0][s]), self.laws[0][5][s]
        axes = np.eye(self.model.sizes.nrow)
        if dim == 1 or self.solver.cones.elliptic:
            return axes[:dim]
        signs = [(k, sign) for k in range(1, dim) for sign in (1, -1)]
        return np.array([axes[0] + sign * mu[k] * axes[k] for k, sign in signs])

    def products(self) -> tuple[Local, Local, Local]:
        """Return z = J a + r of all rows.

        The forces of stiff rows need more digits of z than the sum of two large numbers has. They
        come from the remainder g of the equation: a step of Newton's method changes J a by
        -J H^-1 g.
        """
        solver = self.solver
        z, change = self.none(), self.none()
        solver.set_rows(self.m, self.a, self.tree, self.laws, z)
        pushed = filled(np.zeros(self.source.nv))
        solver.add_forces(self.m, self.tree, self.laws, z, pushed)
        mass, tau = self.with_equalities()
        rest = full(mass.values) @ self.a.values - tau.values - pushed.values
        self.rest = self.multipliers(rest)
        solver.set_products(self.m, filled(self.rest), self.tree, self.laws, change)
        for one, less in zip(z, change, strict=True):
            one.values -= less.values
        return z

    def none(self) -> tuple[Local, Local, Local]:
        """Return zeros for all rows: of contacts, limits and dry joints."""
        solver = self.solver
        return Local(solver.contacts, solver.row), Local(solver.limits), Local(solver.dries)

    def touching(self) -> list[int]:
        """Return the contacts in the order of MuJoCo's, which are compared."""
        if self.order is not None:
            return self.order
        slots = self.laws[0][6]
        left = list(range(int(self.laws[0][7][0])))
        found = []
        for contact in self.data.contact:
            if contact.dist >= contact.includemargin or contact.exclude:
                continue  # excluded: no joint moves its bodies apart
            pair = tuple(contact.geom)
            near = [
                c
                for c in left
                if (self.m.slot_geom1[slots[c]], self.m.slot_geom2[slots[c]]) == pair
            ]
            c = min(near, key=lambda c: float(np.abs(self.laws[0][1][c] - contact.pos).max()))
            point, frame = self.exact(contact)
            np.testing.assert_allclose(self.laws[0][1][c], point, 0, 1e-12)
            np.testing.assert_allclose(self.laws[0][2][c].ravel(), frame, 0, 1e-12)
            frictions = self.laws[0][5][c][1:]
            wanted = contact.friction[: len(frictions)].copy()
            wanted[max(contact.dim - 1, 2) :] = 0.0
            np.testing.assert_allclose(frictions, wanted, 1e-14)
            assert self.laws[0][0][c] == contact.dim
            left.remove(c)
            found.append(c)
        assert not left
        self.order = found
        return found

    def crossed(self, contact: Any) -> bool:
        """Return whether a contact is of two capsules whose axes nearly cross."""
        apart = float(contact.dist + self.source.geom_size[contact.geom, 0].sum())
        rods = bool((self.source.geom_type[contact.geom] == CAPSULE).all())
        return rods and 1e-15 < apart < NEAR  # in one place, MuJoCo takes the axes

    def exact(self, contact: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the point and the frame of a contact of MuJoCo.

        Where the axes of two capsules nearly cross, the normal is a quotient of two numbers that
        rounding has changed, in MuJoCo too: there they are computed again with more digits.
        """
        if not self.crossed(contact):
            return contact.pos, contact.frame
        sizes = self.source.geom_size[contact.geom].astype(np.longdouble)
        p1, p2 = self.data.geom_xpos[contact.geom].astype(np.longdouble)
        axes = self.data.geom_xmat[contact.geom].reshape(2, 3, 3)[:, :, 2].astype(np.longdouble)
        a1, a2 = axes * sizes[:, 1:2]
        gram = np.array([[a1 @ a1, -a1 @ a2], [-a1 @ a2, a2 @ a2]])
        u, v = a1 @ (p2 - p1), a2 @ (p1 - p2)
        det = gram[0, 0] * gram[1, 1] - gram[0, 1] ** 2
        x1 = (gram[1, 1] * u - gram[0, 1] * v) / det
        x2 = (gram[0, 0] * v - gram[0, 1] * u) / det
        if max(abs(x1), abs(x2)) > 1:
            return contact.pos, contact.frame
        between = (p2 - p1) + x2 * a2 - x1 * a1
        apart = np.sqrt(between @ between)
        n = between / apart
        t = np.array([0.0, 0.0, 1.0] if abs(n[1]) >= 0.5 else [0.0, 1.0, 0.0], np.longdouble)
        t -= n * (n @ t)
        t /= np.sqrt(t @ t)
        point = p1 + x1 * a1 + n * (sizes[0, 0] + (apart - sizes[:, 0].sum()) / 2)
        return point.astype(float), np.concatenate([n, t, np.cross(n, t)]).astype(float)
