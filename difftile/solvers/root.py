"""`dt.root`: f(x) = 0 by Newton's method, and the derivative of the solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from difftile.solvers.function import Function
from difftile.solvers.implicit import ImplicitRule, Solved, Times, pushed, solve_on_tape
from difftile.solvers.krylov import LinearSolution, Progress, gmres, solve
from difftile.solvers.result import SolverResult
from difftile.solvers.state import StateLike, state_of
from difftile.solvers.stopping import Stopping
from difftile.solvers.vectors import Vector, read, rounding, write
from difftile.tracebacks import boundary

_SHORTEST = 1e-5  # the fraction of a Newton step below which a line search gives up
_SOLVED = 0.5  # the relative residual of a step's system that makes it worth a line search
_DECREASE = 1e-4  # the least decrease of |f|, as a part of the one that the linear model promises


@boundary
def root(
    f: Callable[..., object],
    x: StateLike,
    *,
    args: Sequence[object] = (),
    tol: float | None = None,
    atol: float = 0.0,
    max_iter: int = 50,
    adjoint_tol: float | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> SolverResult:
    """Solve f(x) = 0, starting from the contents of x; afterwards x holds the solution.

    `f(x, r, *args)` is a kernel, or a Python function that launches kernels. The function reads
    `x`, writes f(x) into `r`, which is like `x` and all zero at the call, and does not write `x`.

        @dt.kernel
        def f(x, r, c):
            for i in x:
                r[i] = x[i] * x[i] - c[i]

        with dt.Tape(loss):
            dt.root(f, x, args=(c,))
            measure(x, loss)

    The method is Newton's with a line search on |f|; each step is found by GMRES from products with
    the Jacobian, which the tangent program of `f` gives exactly, to an accuracy that follows
    the residual (Eisenstat and Walker, Choosing the forcing terms in an inexact Newton method,
    1996; Knoll and Keyes, Jacobian-free Newton-Krylov methods, 2004).

    A tape differentiates the solution as a function of all fields that `f` reads: the adjoint x_bar
    leads to (df/dx)^T w = -x_bar and p_bar += (df/dp)^T w (Griewank and Walther, Evaluating
    Derivatives, 2nd ed., chapter 15). The tape keeps one copy of `x` and of the fields that `f`
    reads. The start has no influence as long as it leads to the same solution, so its gradient is
    zero. Where df/dx is singular at the solution there is no derivative, and the adjoint does not
    converge. For the derivative of Newton steps themselves, write one as a kernel and give it to
    `dt.fixed_point(step, x, diff="algorithm")`.

    A solution or an adjoint that does not converge ends with a `NotConverged` warning.

    Args:
        f: The function.
        x: The start; a field of floats, a field of structs, or a tuple of those, which `f` takes
            one by one: `f(*x, *r, *args)`.
        args: Further arguments of `f`.
        tol: The largest Newton step that counts as zero, relative to the largest magnitude in the
            field: max|step| <= max(atol, tol max|x|) for each field. Since the steps converge
            quadratically, the error that is left is smaller. 1e-10 in double precision, else 1e-5.
        atol: The same in the unit of x.
        max_iter: The largest number of Newton steps.
        adjoint_tol: The residual of the adjoint's system, relative to x_bar; the default of `tol`.
        strict: Raise an error instead of warnings.
        progress: Called with the number of steps done and max|f|.

    Returns:
        A report of the iterations; its residual is max|f(x)|.

    Raises:
        LaunchError: An argument is invalid, or `f` writes `x` or uses fields that it did not use at
            its first call.
        SolverError: With `strict`, the method did not converge.
    """
    state = state_of(x, "dt.root: x")
    function = Function(f, state, state.like(), args)
    stopping = Stopping(state, tol, atol, max_iter)

    iterate = partial(_newton, function, stopping, progress)
    result = solve_on_tape(_RootRule, "dt.root", function, iterate, adjoint_tol, strict)
    state.refresh()
    advice = "Begin nearer to the solution, or allow more steps, max_iter=..."
    result.report(advice, strict=strict)
    return result


def _newton(function: Function, stopping: Stopping, progress: Progress | None) -> SolverResult:
    """Set the function's x to a root by Newton's method."""
    x, space = read(function.x), function.x.space
    launches = function.linearise()
    r = read(function.out)
    norm = before = space.norm(r)
    done, reason = 0, ""
    converged = norm == 0.0
    while not converged and not reason and done < stopping.max_iter:
        if not np.isfinite(norm):
            reason = "f is not finite"
            break
        tol = min(0.1, max(0.9 * (norm / before) ** 2, 1e-8)) if done else 1e-3
        times = partial(pushed, function, launches)
        found = solve(gmres, times, -r, tol=tol, eps=rounding(function.x), space=space)
        step = found.x
        done += 1
        if not found.residual < _SOLVED:
            reason = "the Jacobian is singular, or nearly so"
            break
        small = found.converged and stopping.within(step, x)
        share = 1.0
        while True:
            launches.release()
            write(function.x, x + share * step)
            launches = function.linearise()
            new = read(function.out)
            size = space.norm(new)
            if size <= (1.0 - _DECREASE * share) * norm:
                break
            share *= 0.5
            if small or share < _SHORTEST:
                break
        if size < norm:
            x, r, before, norm = read(function.x), new, norm, size
        else:
            write(function.x, x)
            reason = "" if small else "no step along Newton's direction makes f smaller"
        converged = small or norm == 0.0
        if progress is not None:
            progress(done, space.largest(r))
    launches.release()
    residual = space.largest(r)
    return SolverResult("dt.root", converged, done, residual, "solution", reason)


class _RootRule(ImplicitRule):
    """f(x) = 0: (df/dx)^T w = -x_bar, and (df/dx) x_dot = -(df/dp) p_dot."""

    def system(self, saved: Solved, times: Times, b: Vector) -> LinearSolution:
        """Return the adjoint solution `w` (reverse) or the tangent `x_dot` (forward)."""
        product = partial(times, self.function, saved.launches)
        x = self.function.x
        return solve(gmres, product, -b, tol=self.accuracy, eps=rounding(x), space=x.space)
