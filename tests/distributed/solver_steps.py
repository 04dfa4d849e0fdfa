"""Time steps that solvers make, on tapes with limits: each step solves with the last one's result.

As `split_problems`: on a plain periodic grid of one process, or on one that ranks divide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import difftile as dt
from difftile import ti
from difftile.fields.field import Field
from difftile.ranks import agree, current
from tests.distributed import split_problems as problems
from tests.distributed.split_problems import Arrays, Domain

EXACT: dict[str, Any] = {"adjoint_tol": 1e-14, "strict": True}


def linear(domain: Domain, x: Field, u: Field, k: Field, method: str) -> None:
    """Solve with the matrix of `split_problems.linear`."""

    def apply(v: Field, out: Field, k: Field) -> None:
        problems.operate(v, out, k, *domain.box)
        if method != "cg":
            problems.upwind(v, out, *domain.box)

    dt.linear_solve(apply, u, x, args=(k,), method=method, tol=1e-14, **EXACT)


def fixed_point(domain: Domain, x: Field, u: Field, k: Field, diff: str) -> None:
    """Find the fixed point of a step that contracts."""

    def g(x: Field, out: Field, k: Field, u: Field) -> None:
        problems.relax(x, out, k, u, *domain.box)

    dt.fixed_point(g, x, args=(k, u), tol=1e-15, atol=1e-15, diff=diff, **EXACT)


def root(domain: Domain, x: Field, u: Field, k: Field) -> None:
    """Find the root of a nonlinear equation."""

    def f(x: Field, r: Field, k: Field, u: Field) -> None:
        problems.residual(x, r, k, u, *domain.box)

    dt.root(f, x, args=(k, u), **EXACT)


def minimum(domain: Domain, x: Field, u: Field, k: Field) -> None:
    """Find the minimum of an energy."""

    def f(x: Field, e: Field, k: Field, u: Field) -> None:
        problems.energy(x, e, k, u, *domain.box)

    dt.minimize_implicit(f, x, args=(k, u), **EXACT)


def heat(domain: Domain, x: Field, u: Field, k: Field, method: str, adjoint: str) -> None:
    """Let heat spread for a while."""

    def rhs(t: float, y: Field, rate: Field, k: Field) -> None:
        problems.operate(y, rate, k, *domain.box)

    options: dict[str, Any] = {"steps": 3} if method == "rk4" else {"rtol": 1e-6, "atol": 1e-9}
    x.copy_from(u)
    dt.odeint(rhs, x, 0.1, 0.0, args=(k,), method=method, adjoint=adjoint, **options)


def march(
    split: bool,
    step: Callable[..., None],
    options: tuple[Any, ...],
    tapes: tuple[dict[str, Any], ...],
    steps: int,
) -> list[Arrays]:
    """Return for each tape the result of several steps, and its gradients.

    Args:
        split: Divide the grid among ranks.
        step: Computes a field from another one and coefficients.
        options: Of the step.
        tapes: The arguments of tapes; `memory` as a multiple of one field of this rank, of which
            each rank has half a field more than the one before.
        steps: How many.
    """
    domain = Domain(split)
    start, k, w = (domain.field(seed, low=0.5) for seed in (0.1, 0.7, 1.3))
    x, u = domain.field(), domain.field()
    loss = dt.zeros((), ti.f64, grad=True)
    found: list[Arrays] = []
    for given in tapes:
        limited = dict(given)
        if "memory" in given:
            limited["memory"] = int((given["memory"] + 0.5 * current().rank) * x.nbytes)
        with dt.Tape(loss, **limited) as tape:
            loss.fill(0.0)
            u.copy_from(start)
            x.fill(0.0)
            for _ in range(steps):
                step(domain, x, u, k, *options)
                u.copy_from(x)
            problems.weigh(x, w, loss, *domain.box)
        total = agree(float(loss)) if split else float(loss)
        fields = {"x": x, "start": start.grad, "k": k.grad}
        whole = {name: domain.get(one) for name, one in fields.items()}
        found.append({"loss": total, "again": tape.recomputed, **whole})
    return found
