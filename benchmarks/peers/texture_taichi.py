"""Lookups in a texture in plain Taichi, and their adjoint written by hand.

Between the four nearest texels, clamped, u along the columns. The adjoint adds to the texels with
atomics, as one writes it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import taichi as ti

from benchmarks.peers.peer import clear


@dataclass(frozen=True)
class TexturePeer:
    """Lookups and their adjoint.

    Attributes:
        forward: Looks all positions up.
        backward: Adds to the gradients, from that of the results.
        clear: Sets the gradients of texels and positions to zero.
        results: Returns the values, and the gradients of texels and of positions.
    """

    forward: Callable[[], object]
    backward: Callable[[], object]
    clear: Callable[[], object]
    results: Callable[[], list[np.ndarray]]


@ti.func
def around(p, rows: ti.i32, columns: ti.i32):
    """Return the first and last of the texels, (row, column), and the offsets of p from them."""
    x = ti.Vector([p.y * rows, p.x * columns]) - 0.5
    low = ti.floor(x)
    first = ti.cast(low, ti.i32)
    end = ti.Vector([rows - 1, columns - 1])
    return ti.max(0, ti.min(first, end)), ti.max(0, ti.min(first + 1, end)), x - low


def make_lookups(texels: np.ndarray, uv: np.ndarray, seed: np.ndarray) -> TexturePeer:
    """Return lookups.

    Args:
        texels: Shape (rows, columns, channels).
        uv: Shape (n, 2).
        seed: The gradient of the results, shape (n, channels).
    """
    rows, columns, channels = texels.shape
    colours: Any = ti.Vector.field(channels, ti.f32, (rows, columns), needs_grad=True)
    places: Any = ti.Vector.field(2, ti.f32, len(uv), needs_grad=True)
    out: Any = ti.Vector.field(channels, ti.f32, len(uv), needs_grad=True)
    colours.from_numpy(texels)
    places.from_numpy(uv)
    out.grad.from_numpy(seed)

    @ti.kernel
    def forward():
        for i in places:
            a, b, f = around(places[i], rows, columns)
            upper = (1 - f.y) * colours[a] + f.y * colours[a.x, b.y]
            lower = (1 - f.y) * colours[b.x, a.y] + f.y * colours[b]
            out[i] = (1 - f.x) * upper + f.x * lower

    @ti.kernel
    def backward():
        for i in places:
            a, b, f = around(places[i], rows, columns)
            g = out.grad[i]
            colours.grad[a] += (1 - f.x) * (1 - f.y) * g
            colours.grad[a.x, b.y] += (1 - f.x) * f.y * g
            colours.grad[b.x, a.y] += f.x * (1 - f.y) * g
            colours.grad[b] += f.x * f.y * g
            c00, c01 = colours[a].dot(g), colours[a.x, b.y].dot(g)
            c10, c11 = colours[b.x, a.y].dot(g), colours[b].dot(g)
            along_u = (1 - f.x) * (c01 - c00) + f.x * (c11 - c10)
            along_v = (1 - f.y) * (c10 - c00) + f.y * (c11 - c01)
            places.grad[i] += ti.Vector([columns * along_u, rows * along_v])

    def results() -> list[np.ndarray]:
        return [out.to_numpy(), colours.grad.to_numpy(), places.grad.to_numpy()]

    return TexturePeer(forward, backward, lambda: clear(colours.grad, places.grad), results)
