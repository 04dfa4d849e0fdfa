"""Sums over neighbours by Warp's `HashGrid`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp  # pyrefly: ignore[missing-import] - a peer


@wp.kernel
def energy(grid: wp.uint64, x: wp.array(dtype=wp.vec3), radius: float, e: wp.array(dtype=float)):
    i = wp.hash_grid_point_id(grid, wp.tid())
    p = x[i]
    total = float(0.0)  # noqa: UP018 - a variable of Warp
    for j in wp.hash_grid_query(grid, p, radius):
        d = x[j] - p
        q = wp.dot(d, d) / (radius * radius)
        if q < 1.0 and j != i:
            total += (1.0 - q) * (1.0 - q)
    e[i] = total


def measured(points: np.ndarray, radius: float, device: str) -> dict[str, Callable[[], Any]]:
    """Return what is measured: a new grid, the sum, and the sum with its gradient."""
    wp.init()
    with wp.ScopedDevice("cuda:0" if device == "cuda" else "cpu"):
        x = wp.array(points, dtype=wp.vec3, requires_grad=True)
        e = wp.zeros(len(points), dtype=float, requires_grad=True)
        grid = wp.HashGrid(128, 128, 128)
        grid.build(x, radius)
    seed = wp.ones_like(e)

    def build() -> None:
        grid.build(x, radius)
        wp.synchronize()

    def forward() -> None:
        inputs = [grid.id, x, radius]
        wp.launch(energy, dim=len(points), inputs=inputs, outputs=[e], device=x.device)
        wp.synchronize()

    def both() -> None:
        x.grad.zero_()
        with wp.Tape() as tape:
            forward()
        tape.backward(grads={e: seed})
        wp.synchronize()

    return {"Warp: new grid": build, "Warp: sum": forward, "Warp: sum and gradient": both}
