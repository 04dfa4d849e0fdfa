"""Contacts, rows and solver as plain Python beside MuJoCo.

Frames, motion axes, mass matrix and smooth forces come from MuJoCo.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from difftile import worlds
from tests.plain_python import Shaped
from tests.worlds.plain import Local, module, parameters

VEC3, MAT3 = Shaped((3,)), Shaped((3, 3))


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
        self.geom_xpos = filled(data.geom_xpos, 3)
        self.geom_xmat = filled(data.geom_xmat.reshape(-1, 3, 3), 3, 3)

    def set_laws(self) -> None:
        """Compute the laws of all rows."""
        slots, limits, dries = self.solver.slots, self.solver.limits, self.solver.dries
        contacts = Local(slots, int), Local(slots, VEC3), Local(slots, MAT3)
        contacts += Local(slots, VEC3), Local(slots), Local(slots, VEC3)
        ends = Local(limits, VEC3), Local(limits), Local(limits)
        self.laws = contacts, ends, (Local(dries), Local(dries))
        geoms = self.geom_xpos, self.geom_xmat
        self.solver.set_laws(self.m, self.h, self.qpos, self.qvel, *geoms, self.tree, self.laws)

    def solve(self, start: Any = None) -> np.ndarray:
        """Compute the acceleration."""
        self.set_laws()
        self.a = filled(np.zeros(self.source.nv) if start is None else start)
        given = self.tree, self.laws, self.mass, self.tau, self.a
        self.residual, self.steps = self.solver.minimise(self.m, *given)
        return self.a.values.copy()

    def multipliers(self, a_bar: np.ndarray) -> np.ndarray:
        """Return H^-1 a_bar at the acceleration that `solve` found."""
        x = filled(a_bar)
        self.solver.adjoint(self.m, self.tree, self.laws, self.mass, self.a, x)
        return x.values

    def phi(self, a: np.ndarray, x: np.ndarray) -> float:
        """Return -x^T g(a) in the state."""
        data, solution = self.data, self.solution
        bodies = filled(data.xpos, 3), filled(data.xquat, 4)
        both, zeros = (filled(a), filled(x)), filled(0 * x)
        inertial = solution.inertial_power(
            self.m, self.tree, *bodies, self.qvel, both[0], both[0], both[1], zeros
        )
        geoms = self.geom_xpos, self.geom_xmat
        pushed = solution.constraint_power(
            self.m, self.h, self.qpos, self.qvel, *geoms, self.tree, *both
        )
        return float(x @ (data.qfrc_smooth + data.qfrc_bias) + inertial + pushed)

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return references, regularisations and forces of all rows, in MuJoCo's order."""
        z = Local(self.solver.slots, VEC3), Local(self.solver.limits), Local(self.solver.dries)
        self.solver.set_rows(self.m, self.a, self.tree, self.laws, z)
        contacts, ends, dries = self.laws
        found: list[tuple[float, float, float]] = []
        for k in range(self.solver.nfriction):
            most = self.m.dof_frictionloss[self.m.friction_dofid[k]]
            force = self.solver.cones.rub(z[2][k], dries[1][k], most)[1]
            found.append((-dries[0][k], 1 / dries[1][k], force))
        for k in range(2 * self.solver.nlimit):
            if ends[2][k] > 0:
                force = self.solver.cones.push(z[1][k], ends[2][k])[1]
                found.append((-ends[1][k], 1 / ends[2][k], force))
        for s in self.touching():
            dim, _, _, r, weight, mu = (array[s] for array in contacts)
            if dim == 1:
                edges = [(r[0], z[0][s][0], 1.0)]
            elif self.solver.cones.elliptic:
                _, force, _ = self.solver.cones.penalty(dim, z[0][s], weight, mu)
                inverse = mu[0] ** 2 / (weight * np.maximum(mu, 1e-5) ** 2)
                found += [(-r[k], inverse[k], force[k]) for k in range(3)]
                continue
            else:
                signs = [(k, sign) for k in (1, 2) for sign in (1, -1)]
                edges = [
                    (r[0] + e * mu[k] * r[k], z[0][s][0] + e * mu[k] * z[0][s][k], e)
                    for k, e in signs
                ]
            found += [(-ref, 1 / weight, -weight * min(value, 0)) for ref, value, _ in edges]
        return tuple(np.array(found).reshape(-1, 3).T)  # type: ignore[return-value]

    def touching(self) -> list[int]:
        """Return the slots with rows in the order of MuJoCo's contacts, which are compared."""
        slots = [s for s in range(self.solver.nslot) if self.laws[0][4][s] > 0]
        found = []
        for contact in self.data.contact:
            if contact.dist >= contact.includemargin:
                continue
            pair = tuple(contact.geom)
            near = [s for s in slots if (self.m.slot_geom1[s], self.m.slot_geom2[s]) == pair]
            s = min(near, key=lambda s: float(np.abs(self.laws[0][1][s] - contact.pos).max()))
            np.testing.assert_allclose(self.laws[0][1][s], contact.pos, 0, 1e-12)
            np.testing.assert_allclose(self.laws[0][2][s].ravel(), contact.frame, 0, 1e-12)
            np.testing.assert_allclose(self.laws[0][5][s][1:], contact.friction[:2], 1e-14)
            assert self.laws[0][0][s] == contact.dim
            slots.remove(s)
            if contact.exclude == 0:  # otherwise no joint moves its bodies apart: rows of zeros
                found.append(s)
        assert not slots
        return found
