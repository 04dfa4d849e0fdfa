"""Material points in NumPy: an independent reference for losses and gradients.

The formulas of MLS-MPM as they are published, one time step after the other, all particles at once.
Everything is written so that complex numbers pass through (branches look at real parts), hence a
complex step gives derivatives that are exact to rounding.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from scenes.mpm import MpmScene
from scenes.throw import BlockScene

Array = np.ndarray[Any, np.dtype[Any]]

_WALL = 3
_OFFSETS = np.array([(i, j) for i in range(3) for j in range(3)])


def simulate(scene: MpmScene, weights: Array, bias: Array, steps: int) -> tuple[Any, Array]:
    """Run `steps` updates of robot or fish from rest.

    Args:
        scene: Bodies and world.
        weights: Of the sines in the activations, real or complex, shape (muscles, sines).
        bias: Of the activations, shape (muscles,).
        steps: Number of updates.

    Returns:
        The loss, minus the mean final x of elastic particles [m], and all final positions.
    """
    elastic, muscles = scene.fluid == 0, scene.muscle >= 0
    phases = 2 * np.pi * np.arange(scene.n_clock) / scene.n_clock
    mass = np.where(elastic, 1.0, scene.fluid_mass)
    state = _rest(scene.positions, np.zeros(2), np.result_type(weights, bias))
    for t in range(steps):
        sines = np.sin(scene.clock_rate * t * scene.time_step + phases)
        activation = np.tanh(weights @ sines + bias)

        def stress_of(deformation: Array, now: Array = activation) -> tuple[Array, Array]:
            volume = _determinant(deformation)
            pressure = np.zeros_like(deformation)
            pressure[:, 0, 0] = scene.stiffness * (volume - 1)
            pressure[:, 1, 1] = scene.uprightness * pressure[:, 0, 0]
            root = np.sqrt(volume)[:, None, None] * np.eye(2)
            deformation = np.where(elastic[:, None, None], deformation, root)
            solid = _corotated(deformation, scene.stiffness)
            sigma = np.where(elastic[:, None, None], solid, pressure)
            pull = np.zeros_like(deformation)
            pull[muscles, 1, 1] = scene.strength * now[scene.muscle[muscles]]
            return deformation, sigma + deformation @ pull @ _transposed(deformation)

        def walls(v: Array, i: Array, j: Array) -> None:
            n = scene.n_grid
            v[(i < _WALL) & (v[..., 0].real < 0)] = 0
            v[(i > n - _WALL) & (v[..., 0].real > 0)] = 0
            floor = (j < _WALL) & (v[..., 1].real < 0)
            # Coulomb: the floor takes at most friction times the normal speed.
            slides, normal = v[floor, 0], v[floor, 1]
            speed = np.where(slides.real < 0, -slides, slides)
            left = speed + scene.friction * normal
            kept = np.where(left.real > 0, left * np.where(slides.real < 0, -1, 1), 0)
            v[floor] = np.stack([kept, np.zeros_like(kept)], axis=1)
            v[(j > n - _WALL) & (v[..., 1].real > 0)] = 0

        state = _advance(scene, state, mass, stress_of, walls)
    return -state[0][elastic, 0].mean(), state[0]


def throw(scene: BlockScene, velocity: Array, steps: int) -> tuple[Any, Array]:
    """Run `steps` updates of the block, all of which starts with `velocity`.

    Returns:
        The loss, half the squared distance of the centre from the target [m^2], and all positions.
    """

    def stress_of(deformation: Array) -> tuple[Array, Array]:
        return deformation, _corotated(deformation, scene.stiffness)

    def walls(v: Array, i: Array, j: Array) -> None:
        for axis, k in enumerate((i, j)):
            v[(k < _WALL) & (v[..., axis].real < 0), axis] = 0
            v[(k > scene.n_grid - _WALL) & (v[..., axis].real > 0), axis] = 0

    state = _rest(scene.positions, velocity, velocity.dtype)
    for _ in range(steps):
        state = _advance(scene, state, np.ones(len(scene.positions)), stress_of, walls)
    away = state[0].mean(axis=0) - scene.target
    return 0.5 * np.sum(away * away), state[0]


def _rest(positions: Array, velocity: Array, dtype: Any) -> tuple[Array, ...]:
    """Return positions, velocities, their gradients and deformations at the start."""
    n = len(positions)
    x, v = positions.astype(dtype), np.tile(velocity.astype(dtype), (n, 1))
    return x, v, np.zeros((n, 2, 2), dtype), np.tile(np.eye(2, dtype=dtype), (n, 1, 1))


def _advance(
    scene: MpmScene | BlockScene,
    state: tuple[Array, ...],
    mass: Array,
    stress_of: Callable[[Array], tuple[Array, Array]],
    walls: Callable[[Array, Array, Array], None],
) -> tuple[Array, ...]:
    x, v, c, deformation = state
    h, n, dx = scene.time_step, scene.n_grid, 1 / scene.n_grid
    base = (x.real / dx - 0.5).astype(int)
    f = x / dx - base
    hat = np.stack([0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2])
    i, j = _OFFSETS.T
    weight = (hat[i, :, 0] * hat[j, :, 1]).T  # (particles, 9)
    nodes = base[:, None] + _OFFSETS
    way = (_OFFSETS - f[:, None]) * dx

    deformation, stress = stress_of((np.eye(2) + h * c) @ deformation)
    affine = -h * scene.volume * 4 / dx**2 * stress + mass[:, None, None] * c
    momentum = (mass[:, None] * v)[:, None] + way @ _transposed(affine)
    grid_v, grid_m = np.zeros((n, n, 2), x.dtype), np.zeros((n, n), x.dtype)
    np.add.at(grid_v, (nodes[..., 0], nodes[..., 1]), weight[..., None] * momentum)
    np.add.at(grid_m, (nodes[..., 0], nodes[..., 1]), weight * mass[:, None])

    grid_v = grid_v / (grid_m + 1e-10)[..., None]
    grid_v[..., 1] -= h * scene.gravity
    walls(grid_v, *np.indices((n, n)))

    around = weight[..., None] * grid_v[nodes[..., 0], nodes[..., 1]]
    v = around.sum(axis=1)
    c = 4 / dx**2 * (_transposed(around) @ way)
    return x + h * v, v, c, deformation


def _corotated(deformation: Array, stiffness: float) -> Array:
    """Return 2 mu (F - R) F^T + lambda (J - 1) J for mu = lambda = stiffness."""
    cosine = deformation[:, 0, 0] + deformation[:, 1, 1]
    sine = deformation[:, 1, 0] - deformation[:, 0, 1]
    length = np.sqrt(cosine * cosine + sine * sine)
    rotation = np.stack([cosine, -sine, sine, cosine], axis=-1) / length[:, None]
    volume = _determinant(deformation)
    shear = (deformation - rotation.reshape(-1, 2, 2)) @ _transposed(deformation)
    return stiffness * (2 * shear + ((volume - 1) * volume)[:, None, None] * np.eye(2))


def _determinant(a: Array) -> Array:
    return a[:, 0, 0] * a[:, 1, 1] - a[:, 0, 1] * a[:, 1, 0]


def _transposed(a: Array) -> Array:
    return a.transpose(0, 2, 1)
