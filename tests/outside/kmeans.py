"""The cost of clusters, and the Newton direction of their centres: GradBench's `kmeans`."""

from __future__ import annotations

from typing import Any

import taichi as ti

import difftile as dt


@dt.kernel
def squared_distances(points, centres, y):
    for i in range(points.shape[0]):
        closest = ti.math.inf
        for j in range(centres.shape[0]):
            square = 0.0
            for k in range(centres.shape[1]):
                square += (points[i, k] - centres[j, k]) ** 2
            closest = min(closest, square)
        y[None] += closest


def cost(centres: dt.Field, points: dt.Field) -> dt.Field:
    """Return the sum of the squared distances of the points from their closest centres."""
    y = dt.zeros((), dtype=ti.f64)
    squared_distances(points, centres, y)
    return y


def direction(centres: dt.Field, points: dt.Field) -> tuple[Any, Any]:
    """Return the gradient, and the diagonal of the Hessian, which has no other entries."""
    ones = dt.full(centres.shape, 1.0, dtype=ti.f64)
    gradient = dt.grad(cost)
    return gradient(centres, points), dt.hvp(lambda c: cost(c, points), centres, ones)
