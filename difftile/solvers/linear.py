"""`dt.linear_solve`: A x = b for a matrix that is a kernel, and the derivative of the solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.fields.recording import OPEN_TAPE
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
from difftile.tape.perform import perform
from difftile.tape.standins import Then

_METHODS: dict[str, Method] = {"cg": cg, "bicgstab": bicgstab, "gmres": gmres, "dense": dense}


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
    """Solve A x = b from what x holds; afterwards x holds the solution.

    `apply(v, out, *args)` is a kernel, or a Python function that launches kernels. It reads the
    vector `v`, which is the memory of `x`, writes A v into `out`, which is like `b` and all zero
    when it is called, and leaves `v` alone. Vectors are fields of any shape and element.

        @dt.kernel
        def apply(v, out, k):
            for i in v:
                out[i] = k[i] * v[i]

        with dt.Tape(loss):
            dt.linear_solve(apply, b, x, args=(k,))
            measure(x, loss)

    A tape differentiates the solution as a function of `b` and of all fields that `apply` reads:
    the adjoint x_bar leads to A^T w = x_bar, b_bar += w, and A_bar -= w x^T, of which the adjoint
    of `apply` gives what belongs to the fields that A is made of (Giles, An extended collection of
    matrix derivative results, 2008). A^T w comes from the adjoint of `apply`, and the system is
    solved by the same method. The tape keeps one copy of `x` and of what `apply` reads. The start
    has no influence, so its gradient is zero.

    If it does not converge, or its adjoint does not, a `NotConverged` warning says so.

    Args:
        apply: Multiplies by A.
        b: The right-hand side: a field of floats, a field of structs, or a tuple of those.
        x: Where to begin, in the same way; with as many numbers as b. `apply` takes fields one by
            one: `apply(*v, *out, *args)`.
        args: What `apply` takes at its end.
        method: "cg", for symmetric positive definite matrices alone; "bicgstab" or "gmres" for any;
            "dense", by as many products as there are numbers, and elimination in NumPy.
        precondition: Called like `apply`, with fields like b and like x: writes something near
            A^-1 v, linear in v. With "cg" it is symmetric positive definite, too.
        tol: The residual |b - A x| relative to |b|, in the Euclidean norm. 1e-10 in double
            precision, 1e-5 otherwise. Where rounding errors of the products forbid that, the least
            residual that they allow counts as convergence.
        max_iter: The most iterations; ten times the numbers in x, at most 10 000, by default.
        adjoint_tol: The same for the adjoint's system; the default of `tol`.
        strict: Raise an error instead of warnings.
        progress: Called with the number of iterations done and the relative residual.

    Returns:
        What was done; its residual is |b - A x| / |b|.

    Raises:
        LaunchError: An argument is none, or `apply` is not linear.
        SolverError: With `strict`, it did not converge.
    """
    if method not in _METHODS:
        known = ", ".join(repr(name) for name in _METHODS)
        raise LaunchError(f"dt.linear_solve: method is one of {known}, not {method!r}.")
    given, state = state_of(b, "dt.linear_solve: b"), state_of(x, "dt.linear_solve: x")
    _check_sizes(given, state)
    function = Function(apply, state, given.like(), args)
    near = None
    if precondition is not None:
        near = Function(precondition, given.like(), state.like(), args)
    stopping = Stopping(state, tol, 0.0, max_iter or 1)
    system = _Matrix(function, near, given, _METHODS[method], max_iter, stopping.tol)

    def iterate() -> SolverResult:
        return system.solve(progress)

    if OPEN_TAPE.get() is not None:
        accuracy = Stopping(state, adjoint_tol, 0.0, 1).tol
        result = perform(_LinearRule(system, iterate, accuracy, strict)).result
    else:
        result = iterate()
    advice = "Give it more iterations, max_iter=..., or try another method or a preconditioner."
    result.report(advice, strict=strict)
    return result


def _check_sizes(b: State, x: State) -> None:
    """Check that there is an equation for each unknown.

    Raises:
        LaunchError: There is not; or both are the same memory.
    """
    sizes = [sum(leaf.buffer.array().size for leaf in state.leaves) for state in (b, x)]
    if sizes[0] != sizes[1]:
        raise LaunchError(
            f"dt.linear_solve: b holds {sizes[0]} numbers and x {sizes[1]}; a matrix that can be "
            "solved with is square."
        )
    if {leaf.storage for leaf in b.leaves} & {leaf.storage for leaf in x.leaves}:
        raise LaunchError("dt.linear_solve: b and x share their memory; give x a field of its own.")


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A linear system and the way to solve it.

    Args:
        function: Multiplies by A.
        near: Multiplies by something like the inverse of A.
        b: The right-hand side.
        method: Solves.
        max_iter: The most iterations.
        tol: The relative residual to be reached.
    """

    function: Function
    near: Function | None
    b: State
    method: Method
    max_iter: int | None
    tol: float

    def solve(self, progress: Progress | None) -> SolverResult:
        """Let x take the solution.

        Raises:
            LaunchError: The function is not linear.
        """
        x = self.function.x
        start = read(x)
        write(x, np.zeros_like(start))
        if self.function.value().any():
            raise LaunchError(
                "dt.linear_solve: apply(0) is not 0, so apply is not linear. What does not depend "
                "on the vector belongs into b, with its sign changed."
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
            precondition=near, progress=progress,
        )  # fmt: skip


class _LinearRule(ImplicitRule):
    """A x = b: A^T w = x_bar, b_bar += w; and A x_dot = b_dot - A_dot x.

    Args:
        matrix: The system.
        iterate: Solves it.
        accuracy: The residual of those systems, relative to their right-hand sides.
        strict: Whether an adjoint or a tangent that does not converge is an error.
    """

    def __init__(
        self,
        matrix: _Matrix,
        iterate: Callable[[], SolverResult],
        accuracy: float,
        strict: bool,
    ) -> None:
        self._matrix = matrix
        super().__init__(
            "dt.linear_solve",
            matrix.function,
            iterate,
            accuracy,
            strict,
            inputs=matrix.b.leaves,
            near=matrix.near,
        )

    def system(self, saved: Solved, times: Times, b: Vector) -> LinearSolution:
        """Return w, or x_dot."""
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

    def driven(self, saved: Solved, dots: Tangents, then: Then) -> Vector:
        """Return b_dot - A_dot x."""
        b_dot = joined([tangent_of(then, leaf) for leaf in self._matrix.b.leaves])
        return b_dot - super().driven(saved, dots, then)

    def spread(
        self, saved: Solved, w: Vector, elsewhere: Cotangents, wanted: Sequence[Field]
    ) -> Cotangents:
        """Return the adjoints of what A is made of, and that of b."""
        found = super().spread(saved, -w, elsewhere, wanted)
        for leaf, part in zip(self._matrix.b.leaves, split(self._matrix.b, w), strict=True):
            found[leaf] = found[leaf] + part if leaf in found else part
        return found
