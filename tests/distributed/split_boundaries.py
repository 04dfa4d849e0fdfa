"""Solvers with boundary values in the halos outside of a grid that is not periodic.

The oracle is one process whose unknown has no rim: its function puts boundary values around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.distributed import Grid
from difftile.fields.field import Field
from difftile.ranks import agree
from difftile.ranks.collect import gather
from tests.distributed.split_problems import Arrays, energy, operate, relax, residual, weigh

SHAPE = (5, 7)
RIM = (SHAPE[0] + 2, SHAPE[1] + 2)
Kernel = Callable[..., Any]


class Boundary:
    """Fields over a grid and its rim, in one process or divided among ranks.

    Args:
        split: Divide the grid among ranks.
    """

    def __init__(self, split: bool) -> None:
        self.grid = Grid(SHAPE) if split else None
        shape = self.grid.local_shape if self.grid else RIM
        origin = self.grid.origin if self.grid else (-1, -1)
        self.here = tuple(slice(o + 1, o + 1 + n) for o, n in zip(origin, shape, strict=True))
        self.box = (1, shape[0] - 1, 1, shape[1] - 1)

    def field(self, values: Any = None) -> Field:
        """Return a field of zeros, or with some values of the grid and its rim."""
        made: Field = (
            self.grid.field(ti.f64, grad=True) if self.grid else dt.zeros(RIM, ti.f64, grad=True)
        )
        if values is not None:
            made.from_numpy(values[self.here])
        return made

    def whole(self, field: Field) -> Any:
        """Return the numbers that the cells of the grid and its rim have on all ranks together."""
        made = np.zeros(RIM)
        made[self.here] = field.to_numpy()
        return gather(made, "a whole field").sum(axis=0).reshape(RIM) if self.grid else made

    def unknown(self, start: Field) -> Field:
        """Return the unknown, with boundary values in its halos if it has any."""
        x = self.field() if self.grid else dt.zeros(SHAPE, ti.f64, grad=True)
        x.copy_from(start if self.grid else start[1:-1, 1:-1])
        return x

    def function(self, launch: Kernel, number: bool = False) -> Kernel:
        """Return the function of a solver.

        Args:
            launch: Called with a field that has a rim, its result, and a box of indices.
            number: Whether the result is one number.
        """
        if self.grid:
            return lambda x, out, start, *args: launch(x, out, *args, *self.box)
        padded, result = self.field(), self.field()

        def call(x: Field, out: Field, start: Field, *args: Field) -> None:
            padded.copy_from(start)
            padded[1:-1, 1:-1].copy_from(x)
            if number:
                launch(padded, out, *args, *self.box)
                return
            result.fill(0.0)
            launch(padded, result, *args, *self.box)
            out.copy_from(result[1:-1, 1:-1])

        return call

    def inside(self, x: Field) -> Any:
        """Return the part of a field without a rim."""
        return x.inner if self.grid else x


OPTIONS: dict[str, Any] = {"strict": True, "adjoint_tol": 1e-14}


def linear(domain: Boundary, x: Field, start: Field, k: Field, b: Field) -> None:
    """A linear system; boundary values are zero."""
    apply = domain.function(operate)
    right = domain.field() if domain.grid else dt.zeros(SHAPE, ti.f64, grad=True)
    domain.inside(right).copy_from(b[1:-1, 1:-1])
    dt.linear_solve(apply, right, x, args=(start, k), tol=1e-14, **OPTIONS)


def fixed_point(domain: Boundary, x: Field, start: Field, k: Field, b: Field) -> None:
    """A fixed point."""
    g = domain.function(relax)
    dt.fixed_point(g, x, args=(start, k, b), tol=1e-15, atol=1e-15, diff="solution", **OPTIONS)


def root(domain: Boundary, x: Field, start: Field, k: Field, b: Field) -> None:
    """The root of a nonlinear equation."""
    dt.root(domain.function(residual), x, args=(start, k, b), **OPTIONS)


def minimum(domain: Boundary, x: Field, start: Field, k: Field, b: Field) -> None:
    """The minimum of an energy."""
    dt.minimize_implicit(domain.function(energy, True), x, args=(start, k, b), **OPTIONS)


def heat(domain: Boundary, x: Field, start: Field, k: Field, b: Field, adjoint: str) -> None:
    """A differential equation."""
    rate = domain.function(operate)
    options: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12} if adjoint == "continuous" else {}
    dt.odeint(
        lambda t, x, out, *args: rate(x, out, *args), x, 0.2, 0.0, args=(start, k),
        method="dopri5", adjoint=adjoint, **options
    )  # fmt: skip


def derivatives(split: bool, solve: Kernel, *options: Any, higher: bool = False) -> Arrays:
    """Return gradients of a loss over a solution, by boundary values and other fields.

    Args:
        split: Divide the grid among ranks.
        solve: A solver.
        options: Of the solver.
        higher: Return a tangent and a product with the Hessian as well.
    """
    domain, rng = Boundary(split), np.random.default_rng(7)
    values = rng.uniform(0.5, 1.5, (5, *RIM))
    if solve is linear:
        values[0, [0, -1]] = values[0][:, [0, -1]] = 0.0
    start, k, b, w, way = (domain.field(one) for one in values)

    def run(start: Field) -> Field:
        loss = dt.zeros((), ti.f64, grad=True)
        x = domain.unknown(start)
        solve(domain, x, start, k, b, *options)
        here = domain.field()
        here[1:-1, 1:-1].copy_from(domain.inside(x))
        weigh(here, w, loss, *domain.box)
        return loss

    with dt.Tape(**({"snapshots": 3} if split else {})) as tape:  # ranks agree on their steps
        loss = run(start)
    tape.backward({loss: 1.0})
    made: Arrays = {"loss": agree(float(loss)) if split else float(loss)}
    made |= {name: domain.whole(one.grad) for name, one in (("start", start), ("k", k), ("b", b))}
    if higher:
        _, tangent = dt.jvp(run, start, way)
        made["tangent"] = agree(float(tangent)) if split else float(tangent)
        bent = domain.field()
        bent.from_numpy(dt.hvp(run, start, way).to_numpy())
        made["hessian"] = domain.whole(bent)
    return made
