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
from difftile.worlds.transmission import Transmission


@dt.data_oriented(frozen=True)
class _Rest:
    """The inertia matrix and the motions of bodies at rest."""

    def __init__(self, sizes: Sizes) -> None:
        self.nv, self.nbody, self.njnt = sizes.nv, sizes.nbody, max(1, sizes.njnt)
        self.npacked = sizes.nv * (sizes.nv + 1) // 2
        self.kinematics, self.inertia = Kinematics(sizes), Inertia(sizes)
        self.ntendon, self.nu, self.transmission = sizes.ntendon, sizes.nu, Transmission(sizes)

    @dt.kernel
    def run(self, m, packed, rotation, translation, arm, length, strings, motors):
        """Store the inertia matrix, the motion axes, the arms from c to centres of mass, and paths.

        These are the lengths of tendons, and what a unit of force of each tendon and of each
        actuator is on degrees of freedom.
        """
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
            tree = (com, axis_r, axis_t)
            paths = self.transmission.paths.of(m, m.qpos0, (xpos, xquat, xipos), tree)
            self.inertia.matrix(m, moment, rotational, axis_r, axis_t, paths, mass)
            for t in range(self.ntendon):
                pulled = dt.local(self.nv)
                self.transmission.paths.pull(m, t, paths[1], 1.0, pulled)
                length[t] = paths[0][t]
                for i in range(self.nv):
                    strings[t, i] = pulled[i]
            for u in range(self.nu):
                pushed = dt.local(self.nv)
                self.transmission.pull(m, u, 1.0, paths, pushed)
                for i in range(self.nv):
                    motors[u, i] = pushed[i]
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

    These are `body_invweight0`, `dof_invweight0` and `tendon_invweight0`, from which constraints
    take their regularisation, `body_subtreemass`, `tendon_length0`, and `actuator_acc0`, which
    scales muscles. They do not follow when a mass, an inertia or an armature is changed, and have
    no gradient.

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
    sliding = arrays["body_simple"] == 2  # along axes of the world: MuJoCo takes their masses
    inverse, jacobians, length, strings, motors = _at_rest(model)
    for b in range(1, sizes.nbody):
        weights = [np.trace(j @ inverse @ j.T) / 3 for j in jacobians[b]]
        if sliding[b]:
            weights = [1.0 / arrays["body_mass"][b], 0.0]
        arrays["body_invweight0"][b] = weights
    arrays["tendon_length0"][:] = length
    arrays["tendon_invweight0"][:] = np.einsum("ti,ij,tj->t", strings, inverse, strings)
    arrays["actuator_acc0"][:] = np.linalg.norm(motors @ inverse, axis=1)
    diagonal = np.diag(inverse)
    for kind, i in zip(arrays["jnt_type"], arrays["jnt_dofadr"], strict=True):
        parts = {FREE: ((0, 3), (3, 6)), BALL: ((0, 3),)}.get(int(kind), ((0, 1),))
        for start, end in parts:
            arrays["dof_invweight0"][i + start : i + end] = diagonal[i + start : i + end].mean()
    for b in arrays["jnt_bodyid"][sliding[arrays["jnt_bodyid"]]]:
        own = arrays["dof_bodyid"] == b
        arrays["dof_invweight0"][own] = 1.0 / arrays["body_mass"][b]


def _at_rest(
    model: Model,
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]], np.ndarray, np.ndarray, np.ndarray]:
    """Return M⁻¹ at `qpos0`, and for each body the Jacobians of its centre, shift and turn.

    Then lengths of tendons, and the forces on degrees of freedom of tendons and actuators.
    """
    nv, nbody, ntendon, nu = (getattr(model.sizes, f"n{x}") for x in ("v", "body", "tendon", "u"))
    vector = ti.types.vector(3, ti.f64)
    packed = dt.zeros(nv * (nv + 1) // 2, dtype=ti.f64)
    rotation, translation = dt.zeros(nv, dtype=vector), dt.zeros(nv, dtype=vector)
    arm = dt.zeros(nbody, dtype=vector)
    length = dt.zeros(ntendon, dtype=ti.f64)
    forces = [dt.zeros((count, nv), dtype=ti.f64) for count in (ntendon, nu)]
    given = model.parameters(), packed, rotation, translation, arm, length, *forces
    _rest(model.sizes).run(*given)
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
    strings, motors = (one.to_numpy() for one in forces)
    return inverse, jacobians, length.to_numpy(), strings, motors
