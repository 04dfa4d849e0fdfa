"""A wave in three dimensions on a grid of ranks."""

from __future__ import annotations

from itertools import chain
from typing import Any

import taichi

import difftile as dt
from difftile import distributed as dist
from difftile import ti

WAYS = ("no exchange", "exchange", "overlapped")


@dt.kernel
def advance(p, older, speed, x0: int, x1: int, y0: int, y1: int, z0: int, z1: int):
    for i, j, k in ti.ndrange((x0, x1), (y0, y1), (z0, z1)):
        around = p[i - 1, j, k] + p[i + 1, j, k] + p[i, j - 1, k] + p[i, j + 1, k]
        bend = around + p[i, j, k - 1] + p[i, j, k + 1] - 6.0 * p[i, j, k]
        older[i, j, k] = 2.0 * p[i, j, k] - older[i, j, k] + speed[i, j, k] * bend


@dt.kernel
def measure(p, loss):
    for i, j, k in p:
        loss[None] += p[i, j, k] ** 2


class Wave:
    """A box of cells of which each rank has a part, f32.

    Args:
        shape: The cells of all ranks along each axis.
        steps: Time steps of a run.
    """

    def __init__(self, shape: tuple[int, int, int], steps: int) -> None:
        self.grid, self.steps = dist.Grid(shape), steps
        self.p, self.older, self.speed = (self.grid.field(ti.f32, grad=True) for _ in range(3))
        self.speed.fill(0.2)
        self.loss = dt.zeros((), ti.f32, grad=True)

    def prepare(self) -> None:
        """Put a pulse on each rank, which is not measured."""
        for one in (self.p, self.older):
            one.fill(0.0)
            one[tuple(n // 2 for n in self.grid.local_shape)] = 1.0

    def run(self, way: str) -> None:
        """Simulate in one of the ways; without exchanges the result is wrong."""
        p, older, grid = self.p, self.older, self.grid
        self.loss.fill(0.0)
        everything = list(chain(*((1, n - 1) for n in grid.local_shape)))
        for _ in range(self.steps):
            if way == "overlapped":
                with grid.exchanging(p):
                    advance(p, older, self.speed, *chain(*grid.interior))
                for box in grid.rim:
                    advance(p, older, self.speed, *chain(*box))
            else:
                if way == "exchange":
                    p.exchange()
                advance(p, older, self.speed, *everything)
            p, older = older, p
        measure(p.inner, self.loss)
        dist.sum(self.loss)

    def exchange(self) -> Any:
        """Exchange one field, and wait for a device."""
        self.p.exchange()
        taichi.sync()
