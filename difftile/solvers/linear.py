"""`dt.linear_solve`: A x = b for a matrix that is a kernel, and the derivative of the solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import difftile as dt
from difftile.diagnostics import LaunchError
from difftile.fields.recording import RECORDING
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.solvers.function import Function
from difftile.solvers.implicit import (
    Cotangents,
    ImplicitRule,
    Solved,
    Tangents,
    Times,
    tangent_of,
)
from difftile.solvers.krylov import (
    LinearSolution,
    Method,
    Product,
    Progress,
    bicgstab,
    cg,
    dense,
    gmres,
    solve,
)
from difftile.solvers.result import SolverResult
from difftile.solvers.state import State, StateLike, state_of
from difftile.solvers.stopping import Stopping
from difftile.solvers.vectors import Vector, joined, read, rounding, split, write
from difftile.tracebacks import boundary

_METHODS: dict[str, Method] = {"cg": cg, "bicgstab": bicgstab, "gmres": gmres, "dense": dense}


@boundary
def linear_solve(
    apply: Callable[..., object],
    b: StateLike,
    x: StateLike,
    *,
    args: Sequence[object] = (),
    method: str = "cg",
    precondition: Callable[..., object] | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    adjoint_tol: float | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> SolverResult:
    """Solve A x = b, starting from the contents of x; afterwards x holds the solution.

    `apply(v, out, *args)` is a kernel, or a Python function that launches kernels. The function
    reads the vector `v`, which is the memory of `x`, writes A v into `out`, which is like `b` and
    all zero at the call, and does not write `v`. Vectors are fields of any shape and element.

        @dt.kernel
        def apply(v, out, k):
            for i in v:
                out[i] = k[i] * v[i]

        with dt.Tape(loss):
            dt.linear_solve(apply, b, x, args=(k,))
            measure(x, loss)

    A tape differentiates the solution as a function of `b` and of all fields that `apply` reads:
    the adjoint x_bar leads to A^T w = x_bar, b_bar += w, and A_bar -= w x^T, which the adjoint of
    `apply` distributes over the fields that A is made of (Giles, An extended collection of matrix
    derivative results, 2008). A^T w comes from the adjoint of `apply`, and the system is solved by
    the same method. The tape keeps one copy of `x` and of the fields that `apply` reads. The start
    has no influence, so its gradient is zero.

    A solution or an adjoint that does not converge ends with a `NotConverged` warning.

    Args:
        apply: Multiplies by A.
        b: The right-hand side: a field of floats, a field of structs, or a tuple of those.
        x: The start, in the same form; with as many numbers as b. `apply` takes fields one by one:
            `apply(*v, *out, *args)`.
        args: Further arguments of `apply`.
        method: "cg", for symmetric positive definite matrices; "bicgstab" or "gmres" for any
            matrix; "dense", by as many products as there are numbers, and elimination in NumPy.
        precondition: Called like `apply`, with fields like b and like x: writes an approximation of
            A^-1 v, linear in v; for "cg" a symmetric positive definite one.
        tol: The residual |b - A x| relative to |b|, in the Euclidean norm. 1e-10 in double
            precision, 1e-5 otherwise. Where rounding errors of the products forbid that, the least
            residual that they allow counts as convergence.
        max_iter: The largest number of iterations; by default ten times the numbers in x, at most
            10 000.
        adjoint_tol: The same for the adjoint's system; the default of `tol`.
        strict: Raise an error instead of warnings.
        progress: Called with the number of iterations done and the relative residual.

    Returns:
        A report of the iterations; its residual is |b - A x| / |b|.

    Raises:
        LaunchError: An argument is invalid, or `apply` is not linear.
        SolverError: With `strict`, the method did not converge.
    """
    if method not in _METHODS:
        known = ", ".join(repr(name) for name in _METHODS)
        raise LaunchError(f"dt.linear_solve: method is one of {known}, not {method!r}.")
    given, state = state_of(b, "dt.linear_solve: b"), state_of(x, "dt.linear_solve: x")
    sizes = [len(read(one)) for one in (given, state)]
    if given.is_split != state.is_split:
        raise LaunchError(
            "dt.linear_solve: b and x are both split among ranks, or neither is; make both with "
            "one dt.distributed.Grid."
        )
    if state.space.any([sizes[0] != sizes[1]])[0]:
        raise LaunchError(
            f"dt.linear_solve: b holds {sizes[0]} numbers and x {sizes[1]}; a matrix that can be "
            "solved with is square."
        )
    if {leaf.storage for leaf in given.leaves} & {leaf.storage for leaf in state.leaves}:
        raise LaunchError("dt.linear_solve: b and x share their memory; give x a field of its own.")
    function = Function(apply, state, given.like(), args)
    near = None
    if precondition is not None:
        near = Function(precondition, given.like(), state.like(), args)
    stopping = Stopping(state, tol, 0.0, max_iter or 1)
    system = _Matrix(function, near, given, _METHODS[method], max_iter, stopping.tol)
    iterate = partial(system.solve, progress)
    if RECORDING.get().recorder is not None:
        accuracy = Stopping(state, adjoint_tol, 0.0, 1).tol
        result = perform(_LinearRule(system, iterate, accuracy, strict)).result
    else:
        result = iterate()
    advice = "Allow more iterations, max_iter=..., or try another method or a preconditioner."
    state.refresh()
    result.report(advice, strict=strict)
    return result


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A linear system and the way to solve it: by `function`, and `near` as a preconditioner."""

    function: Function
    near: Function | None
    b: State
    method: Method
    max_iter: int | None
    tol: float

    def solve(self, progress: Progress | None) -> SolverResult:
        """Set x to the solution.

        Raises:
            LaunchError: The function is not linear.
        """
        x = self.function.x
        start = read(x)
        write(x, np.zeros_like(start))
        if not x.space.is_zero(self.function.value()):
            raise LaunchError(
                "dt.linear_solve: apply(0) is not 0, so apply is not linear. Move the terms that "
                "do not depend on the vector into b, with their sign changed."
            )
        found = self.solution(
            self.function.times,
            None if self.near is None else self.near.times,
            read(self.b),
            self.tol,
            start=start,
            progress=progress,
        )
        write(x, found.x)
        return SolverResult(
            "dt.linear_solve", found.converged, found.iterations, found.residual, "solution",
            found.reason,
        )  # fmt: skip

    def solution(
        self,
        product: Product,
        near: Product | None,
        b: Vector,
        tol: float,
        *,
        start: Vector | None = None,
        progress: Progress | None = None,
    ) -> LinearSolution:
        """Return the solution with this matrix, or with its transpose."""
        return solve(
            self.method, product, b,
            tol=tol, eps=rounding(self.function.x), start=start, max_iter=self.max_iter,
            precondition=near, progress=progress, space=self.function.x.space,
        )  # fmt: skip


class _LinearRule(ImplicitRule):
    """A x = b: A^T w = x_bar, b_bar += w; and A x_dot = b_dot - A_dot x.

    Args:
        matrix: The system.
        iterate: Solves it.
        accuracy: See `ImplicitRule`.
        strict: See `ImplicitRule`.
    """

    def __init__(
        self, matrix: _Matrix, iterate: Callable[[], SolverResult], accuracy: float, strict: bool
    ) -> None:
        self._matrix = matrix
        common = "dt.linear_solve", matrix.function, iterate, accuracy, strict
        super().__init__(*common, inputs=matrix.b.leaves, near=matrix.near)

    def system(self, saved: Solved, times: Times, b: Vector) -> LinearSolution:
        """Return the adjoint solution `w` (reverse) or the tangent `x_dot` (forward)."""
        near, matrix = saved.near, self._matrix

        def approximate(v: Vector) -> Vector:
            assert near is not None and matrix.near is not None
            return times(matrix.near, near, v)

        return matrix.solution(
            lambda w: times(self.function, saved.launches, w),
            None if near is None else approximate,
            b,
            self.accuracy,
        )

    def driven(self, saved: Solved, moves: Sequence[Tangents], then: ReverseContext) -> Vector:
        """Return b_dot - A_dot x."""
        b = self._matrix.b
        b_dot = joined(b, [tangent_of(then, leaf) for leaf in b.leaves])
        return b_dot - super().driven(saved, moves, then)

    def products(
        self,
        saved: Solved,
        moves: Sequence[Tangents],
        w: Sequence[Vector | None],
        elsewhere: Sequence[Cotangents],
        wrt: Sequence[dt.Field],
    ) -> list[Cotangents]:
        """Return the adjoints of the fields that A is made of, and of b."""
        b, found = self._matrix.b, super().products(saved, moves, w, elsewhere, wrt)
        for each, one in zip(found, w, strict=False):
            if one is not None:
                for leaf, part in zip(b.leaves, split(b, one), strict=True):
                    each[leaf] = each[leaf] + part if leaf in each else part
        return found

    def seeds(self, w: Vector | None, elsewhere: Cotangents) -> dict[dt.ArrayLike, Any]:
        """Return the adjoints of A x and of the other outputs of `apply`."""
        return super().seeds(None if w is None else -w, elsewhere)
