"""Constants of a model that its compiler takes from the rest position `qpos0`."""

from __future__ import annotations

from functools import cache

import numpy as np

import difftile as dt
from difftile import ti
from difftile.worlds.inertia import Inertia
from difftile.worlds.kinds import BALL, FREE
from difftile.worlds.kinematics import Kinematics
from difftile.worlds.model import Model
from difftile.worlds.quaternions import mat3, vec3, vec4
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class _Rest:
    """The inertia matrix and the motions of bodies at rest."""

    def __init__(self, sizes: Sizes) -> None:
        self.nv, self.nbody, self.njnt = sizes.nv, sizes.nbody, max(1, sizes.njnt)
        self.npacked = sizes.nv * (sizes.nv + 1) // 2
        self.kinematics, self.inertia = Kinematics(sizes), Inertia(sizes)

    @dt.kernel
    def run(self, m, packed, rotation, translation, arm):
        """Store the inertia matrix, the motion axes, and the arms from c to centres of mass."""
        for _ in range(1):
            xpos, xquat = dt.local(self.nbody, vec3), dt.local(self.nbody, vec4)
            anchor, axis = dt.local(self.njnt, vec3), dt.local(self.njnt, vec3)
            xipos, com = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
            subtree_com = dt.local(self.nbody, vec3)
            axis_r, axis_t = dt.local(self.nv, vec3), dt.local(self.nv, vec3)
            moment, rotational = dt.local(self.nbody, vec3), dt.local(self.nbody, mat3)
            mass = dt.local(self.npacked)
            self.kinematics.frames(m, m.qpos0, xpos, xquat, anchor, axis)
            self.kinematics.centres(m, xpos, xquat, xipos, subtree_com, com)
            self.kinematics.axes(m, xquat, com, anchor, axis, axis_r, axis_t)
            self.inertia.bodies(m, xquat, xipos, com, moment, rotational)
            self.inertia.matrix(m, moment, rotational, axis_r, axis_t, mass)
            for k in range(self.npacked):
                packed[k] = mass[k]
            for i in range(self.nv):
                rotation[i] = axis_r[i]
                translation[i] = axis_t[i]
            for b in range(self.nbody):
                arm[b] = xipos[b] - com[b]


@cache
def _rest(sizes: Sizes) -> _Rest:
    return _Rest(sizes)


def refresh_constants(model: Model) -> None:
    """Recompute what the compiler of a model derives from masses: as `mj_setConst` does.

    These are `body_invweight0`, `dof_invweight0`, from which constraints take their regularisation,
    and `body_subtreemass`. They do not follow when a mass, an inertia or an armature is changed,
    and have no gradient.

    Args:
        model: The model, whose arrays are changed in place.
    """
    arrays, sizes = model.arrays, model.sizes
    subtree = arrays["body_mass"].copy()
    for b in range(sizes.nbody - 1, 0, -1):
        subtree[arrays["body_parentid"][b]] += subtree[b]
    arrays["body_subtreemass"][:] = subtree
    if not sizes.nv:
        return
    inverse, jacobians = _at_rest(model)
    for b in range(1, sizes.nbody):
        weights = [np.trace(j @ inverse @ j.T) / 3 for j in jacobians[b]]
        arrays["body_invweight0"][b] = weights
    diagonal = np.diag(inverse)
    for kind, i in zip(arrays["jnt_type"], arrays["jnt_dofadr"], strict=True):
        parts = {FREE: ((0, 3), (3, 6)), BALL: ((0, 3),)}.get(int(kind), ((0, 1),))
        for start, end in parts:
            arrays["dof_invweight0"][i + start : i + end] = diagonal[i + start : i + end].mean()


def _at_rest(model: Model) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return M⁻¹ at `qpos0`, and for each body the Jacobians of its centre, shift and turn."""
    nv, nbody = model.sizes.nv, model.sizes.nbody
    vector = ti.types.vector(3, ti.f64)
    packed = dt.zeros(nv * (nv + 1) // 2, dtype=ti.f64)
    rotation, translation = dt.zeros(nv, dtype=vector), dt.zeros(nv, dtype=vector)
    arm = dt.zeros(nbody, dtype=vector)
    _rest(model.sizes).run(model.parameters(), packed, rotation, translation, arm)
    matrix = np.zeros((nv, nv))
    matrix[np.tril_indices(nv)] = packed.to_numpy()
    inverse = np.linalg.inv(matrix + np.tril(matrix, -1).T)
    r, t, arms = rotation.to_numpy(), translation.to_numpy(), arm.to_numpy()
    jacobians = []
    for b in range(nbody):
        moves = np.zeros((nv, 1))
        i = int(model.tables["body_lastdofid"][b])
        while i >= 0:
            moves[i] = 1.0
            i = int(model.arrays["dof_parentid"][i])
        jacobians.append(((moves * (t + np.cross(r, arms[b]))).T, (moves * r).T))
    return inverse, jacobians
