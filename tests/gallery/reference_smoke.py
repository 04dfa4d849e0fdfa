"""Smoke in a periodic flow in NumPy: an independent reference for losses and gradients.

Complex numbers pass through, so that a complex step gives derivatives; a cell is found by the real
part of a place.
"""

from functools import cache

import numpy as np


def advect(f: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the field as it is carried here within a step, bilinear between cells.

    Args:
        f: What is carried, shape (n, n) or (n, n, 2).
        v: Velocities in cells a step, shape (n, n, 2).
    """
    n = len(v)
    place = np.moveaxis(np.indices((n, n)), 0, -1) - v
    cell = np.floor(place.real).astype(int)
    part = place - cell
    total = np.zeros_like(f * v[0, 0, 0])
    for corner in np.ndindex(2, 2):
        y, x = np.moveaxis((cell + corner) % n, -1, 0)
        weight = np.prod(np.where(corner, part, 1.0 - part), axis=-1)
        total += weight.reshape(n, n, *[1] * (f.ndim - 2)) * f[y, x]
    return total


def central(p: np.ndarray, axis: int) -> np.ndarray:
    """Return the difference of the neighbours along an axis."""
    return np.roll(p, -1, axis) - np.roll(p, 1, axis)


def around(p: np.ndarray) -> np.ndarray:
    """Return the sum of the four neighbours."""
    return sum(np.roll(p, shift, axis) for shift in (1, -1) for axis in (0, 1))


@cache
def inverse(n: int, softness: float = 1e-6) -> np.ndarray:
    """Return the matrix by which a divergence leads to the pressure, up to a constant."""
    cells = np.eye(n * n).reshape(-1, n, n)
    rows = [((4.0 + softness) * cell - around(cell)).ravel() for cell in cells]
    return np.linalg.inv(np.array(rows) + 1.0 / n**2)


def run(
    v0: np.ndarray, smoke: np.ndarray, steps: int, relaxations: int | None, *, original: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and smoke in the last of `steps` states.

    The pressures of a step are a list of iterates. With `original` velocities are projected by the
    last but one of the step before, otherwise by the last one of the same step. Without relaxations
    the pressure is exact.
    """
    dx = 1.0 / len(v0)
    v, pressures = v0, [np.zeros(v0.shape[:2])] * 2
    for _ in range(1, steps):
        u = advect(v, v)
        div = -0.5 * dx * (central(u[..., 0], 0) + central(u[..., 1], 1))
        late, pressures = pressures[-2], [pressures[-1]]
        for _ in range(relaxations or 0):
            pressures.append((div + around(pressures[-1])) / 4.0)
        if relaxations is None:
            pressures.append((inverse(len(div)) @ div.ravel()).reshape(div.shape))
        q = late if original else pressures[-1]
        v = u - 0.5 / dx * np.stack([central(q, 0), central(q, 1)], axis=-1)
        smoke = advect(smoke, v)
    return v, smoke


def loss(
    v0: np.ndarray,
    smoke: np.ndarray,
    target: np.ndarray,
    steps: int,
    relaxations: int | None,
    *,
    original: bool,
) -> complex:
    """Return the mean squared difference of the last smoke and the target."""
    off = target - run(v0, smoke, steps, relaxations, original=original)[1]
    return (off * off).mean()
