"""`dt.fixed_point`: x = g(x) by iteration, and its derivative by one linear system."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.fields.recording import RECORDING
from difftile.solvers.function import Function
from difftile.solvers.implicit import ImplicitRule, Solved, Times, solve_on_tape
from difftile.solvers.krylov import LinearSolution, Progress, gmres, solve
from difftile.solvers.result import SolverResult, say_target
from difftile.solvers.state import StateLike, state_of
from difftile.solvers.stopping import Stopping
from difftile.solvers.vectors import Vector, read, rounding
from difftile.tracebacks import boundary

_TARGETS = ("solution", "algorithm", "implementation")


@boundary
def fixed_point(
    g: Callable[..., object],
    x: StateLike,
    *,
    args: Sequence[object] = (),
    in_place: bool = False,
    tol: float | None = None,
    atol: float = 0.0,
    max_iter: int = 1000,
    diff: str | None = None,
    adjoint_tol: float | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> SolverResult:
    """Iterate x = g(x) until x stays; afterwards x holds the fixed point.

    `g(x, out, *args)` is a kernel, or a Python function that launches kernels. The function reads
    `x`, writes g(x) into `out`, which is all zero at the call, and does not write `x`. With
    `in_place=True` it is `g(x, *args)` and replaces the contents of `x`. The solver calls it with
    fields of its own as well, so `g` must work on the fields that are passed to it.

        @dt.kernel
        def g(y, out, x):
            out[None] = 0.5 * ti.cos(y[None]) + x[None]

        with dt.Tape(loss):
            dt.fixed_point(g, y, args=(x,))
            measure(y, loss)

    The option `diff` says which derivative a tape takes; the result repeats it:

    * "solution", the default: the fixed point itself, as a function of all fields that `g` reads.
      With J = dg/dx at the solution, the adjoint x_bar leads to w = x_bar + J^T w and to
      p_bar += (dg/dp)^T w (Christianson, Reverse accumulation and attractive fixed points, 1994;
      Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 15). The system is solved by
      GMRES with products from the adjoint of `g`, which converges at least as fast as the iteration
      of that formula. The tape keeps one copy of `x` and of the fields that `g` reads, however many
      iterations there are. The start has no influence, so its gradient is zero. If the iterations
      are stopped early, `x` is not the solution, and this is not the derivative of `x`.
    * "algorithm": the iterations that were made, which are recorded like all launches. After few
      iterations, or from a start near the solution, their derivative may be far from the derivative
      of the solution: after one iteration from the solution itself it is only dg/dp.
    * "implementation" is the same: a tape records the compiled launches themselves, in their order
      and precision and with the branches that were taken. The number of iterations is held
      constant.

    An iteration or an adjoint that does not reach its tolerance ends with a `NotConverged` warning.

    Args:
        g: The function.
        x: The start; a field of floats, a field of structs, or a tuple of those, which `g` takes
            one by one: `g(*x, *out, *args)`.
        args: Further arguments of `g`.
        in_place: `g` replaces the contents of `x`.
        tol: The largest change in an iteration that counts as zero, relative to the largest
            magnitude in the field: max|g(x) - x| <= max(atol, tol max|x|) for each field. 1e-10 in
            double precision, 1e-5 otherwise.
        atol: The same in the unit of x.
        max_iter: The largest number of iterations.
        diff: "solution", "algorithm" or "implementation".
        adjoint_tol: The residual of the adjoint's system, relative to x_bar; the default of `tol`.
        strict: Raise an error instead of warnings.
        progress: Called with the number of iterations done and the largest change in the last one.

    Returns:
        A report of the iterations; its residual is max|g(x) - x|.

    Raises:
        LaunchError: An argument is invalid, or `g` writes `x` or uses fields that it did not use at
            its first call.
        SolverError: With `strict`, the iterations did not converge.
    """
    if diff is not None and diff not in _TARGETS:
        raise LaunchError(f"dt.fixed_point: diff is one of {', '.join(_TARGETS)}, not {diff!r}.")
    target = diff or "solution"
    state = state_of(x, "dt.fixed_point: x")
    taped = RECORDING.get().recorder is not None
    if taped and diff is None:
        say_target("dt.fixed_point", "solution", "algorithm")
    out = state.like(grad=taped and target != "solution")
    function = Function(g, state, out, args, in_place)
    stopping = Stopping(state, tol, atol, max_iter)

    def iterate() -> SolverResult:
        x, space = read(function.x), state.space
        change, converged, done, reason = np.inf, False, 0, ""
        while not converged and not reason and done < stopping.max_iter:
            new = function.value()
            function.x.copy_owned_from(function.out)
            done += 1
            step = new - x
            change = space.largest(step)
            x = new
            if np.isfinite(change):
                converged = stopping.within(step, new)
            else:
                reason = "its numbers are not finite"
            if progress is not None:
                progress(done, change)
        return SolverResult("dt.fixed_point", converged, done, change, target, reason)

    if target == "solution":
        rule = _FixedPointRule
        result = solve_on_tape(rule, "dt.fixed_point", function, iterate, adjoint_tol, strict)
    else:
        result = iterate()
    state.refresh()
    result.report("Allow more iterations, max_iter=..., or a larger tol.", strict=strict)
    return result


class _FixedPointRule(ImplicitRule):
    """x = g(x): (1 - dg/dx)^T w = x_bar, and (1 - dg/dx) x_dot = (dg/dp) p_dot."""

    def system(self, saved: Solved, times: Times, b: Vector) -> LinearSolution:
        """Return the adjoint solution `w` (reverse) or the tangent `x_dot` (forward)."""
        return solve(
            gmres,
            lambda w: w - times(self.function, saved.launches, w),
            b,
            tol=self.accuracy,
            eps=rounding(self.function.x),
            space=self.function.x.space,
        )
