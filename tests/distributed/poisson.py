"""Poisson's equation in space with coefficients: on a grid that ranks divide, or on plain fields.

A plain field has a rim of zeros, where the halo of a rank is outside of the domain.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.distributed import Grid
from difftile.fields.field import Field
from tests.distributed.split_problems import Arrays

SHAPE = (4, 3, 5)
EXACT: dict[str, Any] = {"tol": 1e-14, "adjoint_tol": 1e-14, "strict": True}


@dt.kernel
def balance(x: Any, out: Any, k: Any, x0: int, x1: int, y0: int, y1: int, z0: int, z1: int):
    """The outflow of cells; coefficients between two cells are the means of theirs."""
    for at in ti.grouped(ti.ndrange((x0, x1), (y0, y1), (z0, z1))):
        total = 0.0
        for axis in ti.static(range(3)):
            for side in ti.static((-1, 1)):
                other = at + side * ti.Vector.unit(3, axis, ti.i32)
                total += 0.5 * (k[at] + k[other]) * (x[at] - x[other])
        out[at] = total


@dt.kernel
def conduct(k: Any, c: Any, x: Any):
    """Coefficients that depend on the solution, of own cells."""
    for at in ti.grouped(c):
        k[at] = c[at] * (1.0 + x[at] ** 2)


@dt.kernel
def measure(x: Any, w: Any, loss: Any):
    """Add w x + x^2 of own cells."""
    for at in ti.grouped(x):
        loss[None] += w[at] * x[at] + x[at] ** 2


class Poisson:
    """The equation, with coefficients c (1 + x^2), solved several times for the last ones.

    Args:
        split: Divide the grid among ranks; otherwise this process has plain fields.
    """

    def __init__(self, split: bool) -> None:
        self.grid = Grid(SHAPE) if split else None
        rng = np.random.default_rng(5)
        self.b, self.c, self.w, self.way = (self.field(rng.random(SHAPE) + 0.5) for _ in range(4))
        self.padded, self.result = self.field(), self.field()
        self.box = list(chain(*((1, n - 1) for n in self.b.shape)))

    def field(self, values: Any = None) -> Field:
        """Return a field of zeros, or with the values of the whole grid."""
        plain = tuple(n + 2 for n in SHAPE)
        made: Field = (
            self.grid.field(ti.f64, grad=True) if self.grid else dt.zeros(plain, ti.f64, grad=True)
        )
        if values is not None and self.grid:
            made.from_global(values)
        elif values is not None:
            made[1:-1, 1:-1, 1:-1].from_numpy(values)
        return made

    def whole(self, field: Field) -> Any:
        """Return the numbers of the whole grid, of a field like these."""
        made = self.field()
        made.copy_from(field)
        return made.to_global() if self.grid else made[1:-1, 1:-1, 1:-1].to_numpy()

    def inner(self, field: Field) -> Any:
        """Return the part of a field that is not its halo."""
        return field[1:-1, 1:-1, 1:-1]

    def apply(self, x: Field, out: Field, k: Field) -> None:
        """Multiply by the matrix."""
        if self.grid:
            balance(x, out, k, *self.box)
            return
        self.inner(self.padded).copy_from(x)  # the unknown has no rim here
        balance(self.padded, self.result, k, *self.box)
        out.copy_from(self.inner(self.result))

    def run(self, c: Field, b: Field, times: int) -> Field:
        """Return the loss."""
        loss = dt.zeros((), ti.f64, grad=True)
        k = self.field()
        x, right = (self.field() if self.grid else dt.zeros(SHAPE, ti.f64, grad=True) for _ in "xb")
        own = self.inner(x) if self.grid else x
        right.copy_from(b if self.grid else self.inner(b))
        for _ in range(times):
            conduct(self.inner(k), self.inner(c), own)
            if self.grid:
                k.exchange()
            dt.linear_solve(self.apply, right, x, args=(k,), **EXACT)
        measure(own, self.inner(self.w), loss)
        return dist.sum(loss)


def derivatives(split: bool, tapes: tuple[dict[str, Any], ...] = ({},), times: int = 6) -> Arrays:
    """Return the loss and its gradients by right-hand side and coefficients, for each tape.

    For coefficients that follow the solution twice, also a tangent and a product with the Hessian.

    Args:
        split: Divide the grid among ranks.
        tapes: The arguments of tapes; `memory` as a multiple of one field of this rank.
        times: How often the coefficients follow the solution.
    """
    poisson, found = Poisson(split), Arrays()
    for number, given in enumerate(tapes):
        limit = {"memory": int(given["memory"] * poisson.b.nbytes)} if "memory" in given else {}
        with dt.Tape(**given | limit) as tape:
            loss = poisson.run(poisson.c, poisson.b, times)
        tape.backward({loss: 1.0})
        found |= {
            f"loss {number}": float(loss),
            f"b {number}": poisson.whole(poisson.b.grad),
            f"c {number}": poisson.whole(poisson.c.grad),
            f"again {number}": tape.recomputed,
        }

    def twice(c: Field) -> Field:
        return poisson.run(c, poisson.b, 2)

    value, slope = dt.jvp(twice, poisson.c, poisson.way)
    found["value"], found["tangent"] = float(value), float(slope)
    bent = dt.hvp(twice, poisson.c, poisson.way)
    found["hessian"] = poisson.whole(bent)
    return found
