"""Problems for solvers, on a plain periodic grid of one process or on one that ranks divide.

Each function returns arrays by name that must not depend on the division, as each rank sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.distributed import Grid
from difftile.fields.field import Field
from difftile.ranks import agree

SHAPE = (7, 6)
Arrays = dict[str, Any]


@dataclass
class Domain:
    """Fields over the grid, and the cells of this process.

    Args:
        split: Divide the grid among ranks; otherwise this process has all of it, without halos.
    """

    split: bool
    shape: tuple[int, int] = SHAPE
    halo: int = 1
    grid: Any = None
    box: tuple[int, int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        if self.split:
            self.grid = Grid(self.shape, halo=self.halo, periodic=True)
            (n, m), h = self.grid.inner_shape, self.halo
            self.box = h, h + n, h, h + m
        else:
            self.box = 0, self.shape[0], 0, self.shape[1]

    def field(self, seed: float | None = None, *, grad: bool = True, low: float = 0.0) -> Field:
        """Return a field of zeros, or of numbers that look random, above a least one."""
        made: Field = (
            self.grid.field(ti.f64, grad=grad)
            if self.split
            else dt.zeros(self.shape, ti.f64, grad=grad)
        )
        if seed is not None:
            k = np.arange(np.prod(self.shape)).reshape(self.shape)
            self.put(made, low + 1.0 + np.sin(seed + 1.7 * k * k))
        return made

    def put(self, target: Field, array: Any) -> None:
        """Set a field from an array of the whole grid."""
        if self.split:
            target.from_global(array)
            # Halos are out of date, unless somebody exchanges them.
            values = target.to_numpy()
            halos = np.full_like(values, 0.5)
            halos[target.split.owned] = values[target.split.owned]  # type: ignore[union-attr]
            target.from_numpy(halos)
        else:
            target.from_numpy(array)

    def get(self, source: Field) -> Any:
        """Return the contents of the whole grid."""
        return source.to_global() if self.split else source.to_numpy()


@dt.kernel
def operate(v: Any, out: Any, k: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """Add (4 + k) v minus the neighbours."""
    n, m = v.shape
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        around = v[(i + 1) % n, j] + v[(i - 1 + n) % n, j]
        around += v[i, (j + 1) % m] + v[i, (j - 1 + m) % m]
        out[i, j] += (4.0 + k[i, j]) * v[i, j] - around


@dt.kernel
def upwind(v: Any, out: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """Add a part of the difference to the cell before, which is not symmetric."""
    n, m = v.shape
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        out[i, j] += 0.5 * (v[i, j] - v[(i - 1 + n) % n, j]) + 0.2 * v[i, (j + 1) % m]


@dt.kernel
def scale(v: Any, out: Any, k: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """The inverse of the diagonal."""
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        out[i, j] = v[i, j] / (4.0 + k[i, j])


@dt.kernel
def weigh(x: Any, w: Any, loss: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """Add w x + x^2 / 2 of the own cells."""
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        loss[None] += w[i, j] * x[i, j] + 0.5 * x[i, j] ** 2


def linear(split: bool, method: str, preconditioned: bool = False) -> Arrays:
    """A linear system, the gradients of its solution, tangents and products with the Hessian."""
    domain = Domain(split)
    box = domain.box
    b, k, w = (domain.field(seed, low=0.5) for seed in (0.1, 0.7, 1.3))
    x = domain.field()
    options: dict[str, Any] = {"tol": 1e-14, "adjoint_tol": 1e-14, "strict": True}
    if preconditioned:
        options["precondition"] = lambda v, out, k: scale(v, out, k, *box)

    def apply(v: Field, out: Field, k: Field) -> None:
        operate(v, out, k, *box)
        if method != "cg":
            upwind(v, out, *box)

    def run(k: Field, b: Field) -> Field:
        loss = dt.zeros((), ti.f64, grad=True)
        found = dt.linear_solve(apply, b, x, args=(k,), method=method, **options)
        iterations.append(found.iterations)
        weigh(x, w, loss, *box)
        return loss

    iterations: list[int] = []
    with dt.Tape() as tape:
        loss = run(k, b)
    tape.backward({loss: 1.0})
    total = agree(float(loss)) if split else float(loss)
    found = {
        "x": domain.get(x),
        "b": domain.get(b.grad),
        "k": domain.get(k.grad),
        "loss": total,
        "iterations": iterations[0],
    }
    along = domain.field(2.9, grad=False)
    direction = along.to_numpy()
    _, tangent = dt.jvp(lambda k: run(k, b), k, direction)
    moved = float(tangent.to_numpy())
    found["tangent"] = agree(moved) if split else moved
    bent = dt.hvp(lambda k: run(k, b), k, direction)
    result = domain.field()
    result.from_numpy(bent.to_numpy())
    found["hessian"] = domain.get(result)
    return found


def _gradients(
    domain: Domain, x: Field, fields: dict[str, Field], run: Callable[[], object]
) -> Arrays:
    """Run on a tape; return the loss, the gradients of fields, and x."""
    w = domain.field(1.3)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        run()
        weigh(x, w, loss, *domain.box)
    total = agree(float(loss)) if domain.split else float(loss)
    found: Arrays = {name: domain.get(one.grad) for name, one in fields.items()}
    return {"x": domain.get(x), "loss": total, **found}


@dt.kernel
def relax(x: Any, out: Any, k: Any, b: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """A step that contracts: cells relax to a function of their neighbours."""
    n, m = x.shape
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        around = x[(i + 1) % n, j] + x[(i - 1 + n) % n, j]
        around += x[i, (j + 1) % m] + x[i, (j - 1 + m) % m]
        out[i, j] = ti.sin(0.15 * around) / (1.0 + k[i, j]) + b[i, j]


def fixed_point(split: bool, diff: str) -> Arrays:
    """A fixed point, and the gradients of it or of its iterations."""
    domain = Domain(split)
    b, k = (domain.field(seed) for seed in (0.1, 0.7))
    x = domain.field(2.2)

    def g(x: Field, out: Field, k: Field, b: Field) -> None:
        relax(x, out, k, b, *domain.box)

    def run() -> None:
        dt.fixed_point(
            g, x, args=(k, b), tol=1e-15, atol=1e-15, adjoint_tol=1e-14, diff=diff, strict=True
        )

    return _gradients(domain, x, {"k": k, "b": b}, run)


@dt.kernel
def residual(x: Any, r: Any, k: Any, b: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """(4 + k) x + x^3 minus the neighbours and b."""
    n, m = x.shape
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        around = x[(i + 1) % n, j] + x[(i - 1 + n) % n, j]
        around += x[i, (j + 1) % m] + x[i, (j - 1 + m) % m]
        r[i, j] = (4.0 + k[i, j]) * x[i, j] + x[i, j] ** 3 - around - b[i, j]


def root(split: bool) -> Arrays:
    """The root of a nonlinear equation, and its gradients."""
    domain = Domain(split)
    b, k = (domain.field(seed, low=0.5) for seed in (0.1, 0.7))
    x = domain.field(2.2)

    def f(x: Field, r: Field, k: Field, b: Field) -> None:
        residual(x, r, k, b, *domain.box)

    def run() -> None:
        dt.root(f, x, args=(k, b), adjoint_tol=1e-14, strict=True)

    return _gradients(domain, x, {"k": k, "b": b}, run)


@dt.kernel
def energy(x: Any, e: Any, k: Any, b: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """The energy whose slope is `residual`: each pair of neighbours counts in its first cell."""
    n, m = x.shape
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        v = x[i, j]
        e[None] += 0.5 * k[i, j] * v * v + 0.25 * v**4 - b[i, j] * v
        e[None] += 0.5 * (x[(i + 1) % n, j] - v) ** 2 + 0.5 * (x[i, (j + 1) % m] - v) ** 2


def minimum(split: bool) -> Arrays:
    """The minimum of an energy, and its gradients."""
    domain = Domain(split)
    b, k = (domain.field(seed, low=0.5) for seed in (0.1, 0.7))
    x = domain.field(2.2)

    def f(x: Field, e: Field, k: Field, b: Field) -> None:
        energy(x, e, k, b, *domain.box)

    def run() -> None:
        dt.minimize_implicit(f, x, args=(k, b), adjoint_tol=1e-14, strict=True)

    return _gradients(domain, x, {"k": k, "b": b}, run)


def heat(split: bool, method: str, adjoint: str) -> Arrays:
    """A differential equation, and the gradients of its solution."""
    domain = Domain(split)
    k, y = domain.field(0.7), domain.field()
    start = domain.field(2.2)

    def rhs(t: float, y: Field, rate: Field, k: Field) -> None:
        operate(y, rate, k, *domain.box)

    options: dict[str, Any] = {"steps": 6} if method == "rk4" else {"rtol": 1e-7, "atol": 1e-9}
    taken: list[Any] = []

    def run() -> None:
        y.copy_from(start)
        taken.append(
            dt.odeint(rhs, y, 0.3, 0.0, args=(k,), method=method, adjoint=adjoint, **options)
        )

    found = _gradients(domain, y, {"k": k, "start": start}, run)
    return {**found, "steps": (taken[0].steps, taken[0].rejected)}


def quasi_newton(split: bool, bounded: bool) -> Arrays:
    """The minimum of a loss over a field and a number that all ranks hold, by L-BFGS."""
    domain = Domain(split)
    b, k = (domain.field(seed, low=0.5) for seed in (0.1, 0.7))
    x, s = domain.field(2.2), dt.full((), 0.5, ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)

    def f() -> float:
        with dt.Tape(loss):
            loss.fill(0.0)
            if split:
                x.exchange()
            energy(x, loss, k, b, *domain.box)
            couple(x, s, loss, *domain.box)
        if split:
            s.grad.fill(agree(float(s.grad[None])))
        return agree(float(loss)) if split else float(loss)

    bounds: dict[str, Any] = {"low": {x: 0.1, s: 0.2}, "high": {x: 0.4}} if bounded else {}
    optimiser = dt.optim.LBFGS([x, s], tol=1e-11, iterations=200, **bounds)
    value = optimiser.step(f)
    assert optimiser.finished, optimiser.reason
    return {"x": domain.get(x), "s": float(s[None]), "loss": value}


@dt.kernel
def couple(x: Any, s: Any, loss: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """Let a number follow the field."""
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        loss[None] += 0.5 * (s[None] - x[i, j]) ** 2 + 0.1 * s[None] ** 2


REDUCTIONS = ("sum", "mean", "min", "max", "norm")


def reductions(split: bool) -> Arrays:
    """Reductions of fields of numbers, vectors and integers."""
    domain = Domain(split)
    x = domain.field(0.4)
    found: Arrays = {name: getattr(x, name)() for name in REDUCTIONS}
    cells = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    for kind, dtype, values in (
        ("i32", ti.i32, 7 * cells - 50),
        ("i64", ti.i64, (cells << 56) - 3),
        ("vec", dt.vec(2, ti.f64), np.stack([np.sin(cells), np.cos(cells)], axis=-1)),
        ("large", ti.f64, 1e200 * np.sin(cells)),
    ):
        one: Any = domain.grid.field(dtype) if split else dt.field(dtype, SHAPE)
        if split:
            one.from_global(values)
        else:
            one.from_numpy(values)
        found |= {f"{kind} {name}": getattr(one, name)() for name in ("sum", "min", "max", "mean")}
        if kind != "large":
            found[f"{kind} norm"] = one.norm()
    return found


def reductions_on_tapes(split: bool, memory: int | None) -> Arrays:
    """Derivatives of a loss of reductions, which also steer the steps before it."""
    domain = Domain(split)
    b, k = (domain.field(seed, low=0.5) for seed in (0.1, 0.7))
    x, y = domain.field(2.2), domain.field()

    def run(k: Field) -> Field:
        y.copy_from(x)
        total = 0.0
        for _ in range(7):
            if split:
                y.exchange()
            relax(y, z, k, b, *domain.box)
            total += y.norm() * z.mean() + z.max() ** 2 - y.min() * z.sum()
            damp(z, y, dt.distributed.sum(z.inner.sum() / 40.0, local=True), *domain.box)
        return dt.value(total)

    z = domain.field()
    with dt.Tape(memory=memory) as tape:
        loss = run(k)
    tape.backward({loss: 1.0})
    found = {"loss": float(loss), **{n: domain.get(f.grad) for n, f in (("k", k), ("x", x))}}
    if memory is None:
        direction = domain.field(2.9, grad=False).to_numpy()
        found["tangent"] = float(dt.jvp(run, k, direction)[1])
        bent = domain.field()
        bent.from_numpy(dt.hvp(run, k, direction).to_numpy())
        found["hessian"] = domain.get(bent)
    else:
        found["again"] = tape.recomputed > 0
    return found


@dt.kernel
def damp(z: Any, y: Any, by: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """Take the parts of each rank from a number that all have."""
    for i, j in ti.ndrange((i0, i1), (j0, j1)):
        y[i, j] = z[i, j] / (1.0 + by[None] ** 2)


def gradients_of_reductions(split: bool) -> Arrays:
    """Gradients of reductions of fields of some types, with elements that are equal."""
    domain = Domain(split)
    cells = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    found: Arrays = {}
    for kind, dtype, values in (
        ("f64", ti.f64, np.round(2 * np.sin(cells))),
        ("f32", ti.f32, np.sin(cells)),
        ("vec", dt.vec(2, ti.f64), np.round(np.stack([np.sin(cells), np.cos(cells)], -1))),
        ("zeros", ti.f64, 0.0 * cells),
    ):
        x: Any = domain.grid.field(dtype, grad=True) if split else dt.zeros(SHAPE, dtype, grad=True)
        (x.from_global if split else x.from_numpy)(values)
        for name in REDUCTIONS:
            with dt.Tape() as tape:
                number = getattr(x, name)()
                result = dt.value(number)
            tape.backward({result: np.ones_like(number)})
            found[f"{kind} {name}"] = np.array(number, dtype=np.float64)
            found[f"{kind} {name} gradient"] = x.grad.to_global() if split else x.grad.to_numpy()
    return found


def used_differently() -> list[str]:
    """Use reductions on each rank for its own elements; return the errors."""
    errors: list[str] = []
    for name in REDUCTIONS:
        domain = Domain(True)
        x, y = domain.field(0.4), domain.field()
        loss = dt.zeros((), ti.f64, grad=True)
        try:
            with dt.Tape(loss):
                by = getattr(x, name)()
                damp(x, y, dt.value(by), *domain.box)
                weigh(y, x, loss, *domain.box)
                dt.distributed.sum(loss)
        except dt.TapeError as error:
            errors.append(str(error))
    return errors
