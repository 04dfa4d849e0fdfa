"""Loops over `dt.steps` whose bodies exchange, solve, add up and move particles."""

from __future__ import annotations

from typing import Any

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from tests.distributed.split_problems import Arrays

SHAPE = (9, 4)
VEC = dt.vec(2, ti.f64)


@dt.kernel
def advance(p: Any, older: Any, t: float):
    for i, j in ti.ndrange((1, p.shape[0] - 1), (1, p.shape[1] - 1)):
        around = p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1]
        bend = around - 4.0 * p[i, j] - (1.0 + 0.1 * t) * p[i, j] ** 3
        older[i, j] = 2.0 * p[i, j] - older[i, j] + 0.2 * bend


@dt.kernel
def matrix(v: Any, out: Any):
    for i, j in ti.ndrange((1, v.shape[0] - 1), (1, v.shape[1] - 1)):
        around = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1]
        out[i, j] = 5.0 * v[i, j] - around


@dt.kernel
def spread(p: Any, older: Any):
    for i, j in ti.ndrange((1, p.shape[0] - 1), (1, p.shape[1] - 1)):
        older[i, j] += 0.9 * p[i, j]
        older[i - 1, j] += 0.1 * p[i, j] ** 2


@dt.kernel
def add(p: Any, total: Any):
    for at in ti.grouped(p):
        total[None] += p[at] ** 2


@dt.kernel
def damp(p: Any, total: Any):
    for at in ti.grouped(p):
        p[at] *= 1.0 - 0.01 * ti.sin(total[None])


@dt.kernel
def drift(x: Any, count: Any):
    for p in range(count[None]):
        x[p] += 0.1 * ti.Vector([0.5 + 0.5 * ti.sin(x[p].y), 1.0])


@dt.kernel
def where(x: Any, count: Any, total: Any):
    for p in range(count[None]):
        total[None] += 0.1 * x[p].norm_sqr()


class Loop:
    """A field that changes in steps.

    Args:
        body: What a step does beside the launches: "exchange", "exchanging", "accumulate", "solve",
            "sum" or "migrate".
    """

    def __init__(self, body: str) -> None:
        self.grid = dist.Grid(SHAPE, periodic=(False, True))
        self.particles = dist.Particles(self.grid, x=dt.zeros(30, VEC, grad=True), spacing=1.0)
        at = np.random.default_rng(3).random((25, 2)) * [6.0, 4.0]
        self.particles.from_global({"x": at})
        self.start, self.p, self.older = (self.grid.field(ti.f64, grad=True) for _ in range(3))
        self.start.from_global(np.random.default_rng(2).random(SHAPE))
        self.total = dt.zeros((), ti.f64, grad=True)
        self.body: Any = getattr(self, body)

    def exchange(self, t: Any) -> None:
        self.p.exchange()
        advance(self.p, self.older, t)
        self.p, self.older = self.older, self.p

    def exchanging(self, t: Any) -> None:
        with self.grid.exchanging(self.p):
            add(self.p.inner, self.total)
        advance(self.p, self.older, t)
        self.p, self.older = self.older, self.p

    def accumulate(self, t: Any) -> None:
        self.older.fill(0.0)
        spread(self.p, self.older)
        self.grid.accumulate(self.older)
        self.p, self.older = self.older, self.p

    def solve(self, t: Any) -> None:
        dt.linear_solve(matrix, self.p, self.older, tol=1e-14, adjoint_tol=1e-14)
        self.p, self.older = self.older, self.p

    def sum(self, t: Any) -> None:
        self.total.fill(0.0)
        add(self.p.inner, self.total)
        dist.sum(self.total, local=True)
        damp(self.p.inner, self.total)

    def migrate(self, t: Any) -> None:
        drift(self.particles.x, self.particles.count)
        self.particles.migrate()

    def run(self, numbers: Any, loss: Any) -> None:
        """Run steps and measure."""
        loss.fill(0.0)
        self.total.fill(0.0)
        self.p.copy_from(self.start)
        self.older.copy_from(self.start)
        for t in numbers:
            self.body(t)
        add(self.p.inner, loss)
        where(self.particles.x, self.particles.count, loss)
        dist.sum(loss)


def results(body: str, tapes: tuple[dict[str, Any], ...], steps: int = 24) -> list[Arrays]:
    """Return the losses and gradients of a loop in Python, and of loops over `dt.steps`.

    Args:
        body: See `Loop`.
        tapes: The arguments of the tapes of the latter.
        steps: How many.
    """
    found: list[Arrays] = []
    for options in ({}, *tapes):
        loop, loss = Loop(body), dt.zeros((), ti.f64, grad=True)
        loop.run(dt.steps(steps), loss)
        without = float(loss)
        loop = Loop(body)
        with dt.Tape(loss, **options) as tape:
            loop.run(dt.steps(steps) if found else range(steps), loss)
        assert float(loss) == without
        found.append(
            {
                "loss": float(loss),
                "p": loop.p.to_global(),
                "start": loop.start.grad.to_global(),
                "again": tape.recomputed,
            }
        )
    return found
