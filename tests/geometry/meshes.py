"""Meshes, rays and points for tests, and what a search through all triangles finds, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import difftile as dt
from difftile import ti

Array = NDArray[Any]
VEC = dt.vec(3, ti.f64)


def vectors(values: Any, dtype: Any = VEC, grad: bool = False) -> dt.Field:
    return dt.from_numpy(np.asarray(values, float), dtype=dtype, grad=grad)


def ball(rows: int, ripples: float = 0.0) -> tuple[Array, Array]:
    """Return a closed mesh around 0: rings between two poles, with ripples."""
    columns = 2 * rows
    height = np.pi * np.arange(1, rows) / rows
    turn = 2 * np.pi * np.arange(columns) / columns
    theta, phi = (x.ravel() for x in np.meshgrid(height, turn, indexing="ij"))
    radius = 1 + ripples * np.sin(3 * theta) * np.cos(2 * phi)
    ring = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], 1)
    vertices = np.concatenate([radius[:, None] * ring, [[0, 0, 1.0], [0, 0, -1.0]]])
    north, south = len(vertices) - 2, len(vertices) - 1
    faces = []
    for j in range(columns):
        k = (j + 1) % columns
        faces += [[north, j, k], [south, (rows - 2) * columns + k, (rows - 2) * columns + j]]
        for i in range(rows - 2):
            a, b, c, d = (r * columns + s for r in (i, i + 1) for s in (j, k))
            faces += [[a, c, b], [b, c, d]]
    return vertices, np.array(faces)


def cube() -> tuple[Array, Array]:
    """Return the cube from 0 to 1, of 12 triangles whose normals point out."""
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([f for a, b, c, d in sides for f in ((a, b, c), (a, c, d))])


def soup(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Return triangles apart from each other, some without area and some that are not finite."""
    vertices = rng.uniform(-1, 1, (n, 1, 3)) + rng.normal(scale=0.2, size=(n, 3, 3))
    vertices[0, 1] = vertices[0, 0]
    vertices[1, 2] = 0.5 * (vertices[1, 0] + vertices[1, 1])
    vertices[2] = vertices[2, 0]
    vertices[3, 2, 1] = np.nan
    vertices[4, 0, 0] = np.inf
    return vertices.reshape(-1, 3), np.arange(3 * n).reshape(n, 3)


def crossings(triangles: Array, origin: Array, direction: Array) -> tuple[Array, Array, Array]:
    """Return t, u, v of one ray and the planes of all triangles, t infinite outside of them."""
    a, e, f = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    with np.errstate(all="ignore"):
        columns = np.stack([np.broadcast_to(-direction, a.shape), e, f], -1)
        volume = np.linalg.det(columns)
        inverse = np.full(columns.shape, np.nan)
        good = np.isfinite(volume) & (abs(volume) > 1e-14)
        inverse[good] = np.linalg.inv(columns[good])
        t, u, v = np.einsum("kij,kj->ik", inverse, origin - a)
        inside = good & (u >= -1e-12) & (v >= -1e-12) & (u + v <= 1 + 1e-12) & (t >= 0)
    return np.where(inside, t, np.inf), u, v


def on_segment(a: Array, b: Array, p: Array) -> Array:
    e = b - a
    square = np.maximum((e * e).sum(-1), 1e-300)
    return a + np.clip(((p - a) * e).sum(-1) / square, 0, 1)[:, None] * e


def distances(triangles: Array, p: Array) -> Array:
    """Return the distance from a point to each triangle, infinite where one is not finite."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    with np.errstate(all="ignore"):
        edges = [on_segment(x, y, p) for x, y in ((a, b), (b, c), (c, a))]
        found = np.min([np.linalg.norm(q - p, axis=-1) for q in edges], 0)
        normal = np.cross(b - a, c - a)
        square = (normal * normal).sum(-1)
        u = (np.cross(p - a, c - a) * normal).sum(-1) / square
        v = (np.cross(b - a, p - a) * normal).sum(-1) / square
        inside = (square > 0) & (u >= 0) & (v >= 0) & (u + v <= 1)
        height = abs(((p - a) * normal).sum(-1)) / np.sqrt(square)
        found = np.where(inside, np.minimum(found, height), found)
    return np.where(np.isfinite(found), found, np.inf)


def solid_angle(triangles: Array, p: Array) -> float:
    """Return how often a closed mesh winds around a point.

    Source: van Oosterom and Strackee, The solid angle of a plane triangle, 1983.
    """
    a, b, c = (triangles[:, k] - p for k in range(3))
    x, y, z = (np.linalg.norm(v, axis=-1) for v in (a, b, c))
    over = (a * np.cross(b, c)).sum(-1)
    under = x * y * z + (a * b).sum(-1) * z + (b * c).sum(-1) * x + (c * a).sum(-1) * y
    return float(np.arctan2(over, under).sum() / (2 * np.pi))
