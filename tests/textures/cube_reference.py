"""Cube maps in NumPy, one direction at a time, from only the geometry.

A lookup is linear in the texels: functions here return the row of weights, of the texels
of all faces in their order. Directions may be complex, for derivatives by the complex step.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

STEP = 1e-30
X, Y, Z = np.eye(3)
# For each face the directions in which s and t grow, and of its middle: table 19 of the
# specification of OpenGL 4.6, 8.13.
AXES = np.array(
    [[-Z, -Y, X], [Z, -Y, -X], [X, Z, Y], [X, -Z, -Y], [X, -Y, Z], [-X, -Y, -Z]],
)


def project(direction: Any) -> tuple[int, Any]:
    """Return the face in a direction, and (s, t) on it."""
    axis = int(np.argmax(np.abs(np.real(direction))))
    face = 2 * axis + int(np.real(direction[axis]) < 0)
    s, t, out = AXES[face] @ direction
    return face, np.array([s / out, t / out]) / 2 + 0.5


def texel_towards(face: int, row: int, column: int, n: int) -> tuple[int, int, int]:
    """Return the texel that contains the centre of another, which may be off its face."""
    s, t = (2 * column + 1) / n - 1, (2 * row + 1) / n - 1
    other, place = project(AXES[face].T @ np.array([s, t, 1.0]))
    return other, int(place[1] * n), int(place[0] * n)


def linear_weights(direction: Any, n: int) -> Any:
    """Return the weights of a lookup between texels, of faces of n x n."""
    weights = np.zeros((6, n, n), np.result_type(direction, np.float64))
    if not np.any(np.real(direction)):
        return weights.ravel()
    face, place = project(direction)
    x = place * n - 0.5
    low = np.floor(np.real(x)).astype(int)
    f = x - low
    taps, lost = [], 0.0
    for row in (0, 1):
        for column in (0, 1):
            weight = (f[1] if row else 1 - f[1]) * (f[0] if column else 1 - f[0])
            beside = [not 0 <= low[1] + row < n, not 0 <= low[0] + column < n]
            if all(beside):
                lost = weight
                continue
            taps.append((texel_towards(face, low[1] + row, low[0] + column, n), weight))
    assert len({texel for texel, _ in taps}) == len(taps)
    for texel, weight in taps:
        weights[texel] += weight + lost / 3 * (len(taps) == 3)
    return weights.ravel()


def nearest_weights(direction: Any, n: int) -> Any:
    """Return the weights of a lookup of the nearest texel."""
    weights = np.zeros((6, n, n), np.result_type(direction, np.float64))
    if np.any(np.real(direction)):
        face, place = project(direction)
        column, row = np.minimum(np.floor(np.real(place) * n).astype(int), n - 1)
        weights[face, row, column] = 1.0
    return weights.ravel()


@functools.cache
def means(n: int, level: int) -> Any:
    """Return the matrix from the texels of level 0, of faces of n x n, to a level's texels."""
    if level == 0:
        return np.eye(6 * n * n)
    m = max(1, n // 2)
    along = np.zeros((m, n))
    for k in range(m):
        for tap in (2 * k, 2 * k + 1):
            along[k, min(tap, n - 1)] += 0.5
    return means(m, level - 1) @ np.kron(np.eye(6), np.kron(along, along))


def level_weights(weights: Any, direction: Any, n: int, level: int) -> Any:
    """Return the weights of a lookup on a level, of the texels of level 0.

    Args:
        weights: `linear_weights` or `nearest_weights`.
        direction: Where to.
        n: Texels along an edge, on level 0.
        level: The level.
    """
    return weights(direction, max(1, n >> level)) @ means(n, level)


def lod_weights(weights: Any, direction: Any, n: int, lod: Any) -> Any:
    """Return the weights of a lookup between two levels."""
    last = n.bit_length() - 1
    if np.real(lod) >= last:
        return level_weights(weights, direction, n, last)
    lod = lod if np.real(lod) > 0 else 0.0
    low = int(np.real(lod))
    near, far = (level_weights(weights, direction, n, low + k) for k in (0, 1))
    return near + (lod - low) * (far - near)


def moved(direction: Any, change: Any, n: int) -> Any:
    """Return how many texels a place moves on its face where the direction changes."""
    s, t, out = AXES[project(direction)[0]]
    back = (out @ change) / (out @ direction) ** 2
    along = [(axis @ change) / (out @ direction) - (axis @ direction) * back for axis in (s, t)]
    return n / 2 * np.array(along)


def footprint_lod(direction: Any, ddx: Any, ddy: Any, n: int) -> Any:
    """Return the level of detail of a footprint: the logarithm of its longer half axis."""
    x, y = moved(direction, ddx, n), moved(direction, ddy, n)
    xx, xy, yy = x @ x, x @ y, y @ y
    return np.log2((xx + yy) / 2 + np.sqrt((xx - yy) ** 2 / 4 + xy**2)) / 2


def footprint_taps(direction: Any, ddx: Any, ddy: Any, n: int, most: int) -> tuple[list[Any], Any]:
    """Return the directions of the lookups that make up a footprint, and their level of detail."""
    spread = np.stack([moved(direction, each, n) for each in (ddx, ddy)], axis=1)
    _, (longer, shorter), rows = np.linalg.svd(spread)
    size = max(shorter, longer / most)
    kept = np.clip(np.log2(size), 0, n.bit_length() - 1)
    count = int(np.clip(np.ceil(longer / 2**kept * (1 - 1e-5)), 1, most))
    axis = rows[0, 0] * ddx + rows[0, 1] * ddy
    return [direction + ((k + 0.5) / count - 0.5) * axis for k in range(count)], np.log2(size)


def by_complex_step(function: Any, argument: Any) -> Any:
    """Return the derivative of a function of a vector, its components along the last axis."""
    argument = np.asarray(argument, float)
    slopes = [function(argument + 1j * STEP * unit).imag / STEP for unit in np.eye(argument.size)]
    return np.stack(slopes, axis=-1)
