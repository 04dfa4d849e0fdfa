"""`dt.minimize_implicit`: a minimum by Newton's method, and the derivative of its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile.linearization.derivatives import pull_parts, push_pull
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import Seeds
from difftile.recording.replayed_fields import ReverseContext
from difftile.solvers.function import Function
from difftile.solvers.implicit import (
    Cotangents,
    ImplicitRule,
    Solved,
    Tangents,
    Times,
    arrays_of,
    solve_on_tape,
)
from difftile.solvers.krylov import LinearSolution, Progress, cg, solve
from difftile.solvers.result import SolverResult
from difftile.solvers.space import Space
from difftile.solvers.state import State, StateLike, state_of
from difftile.solvers.stopping import Stopping
from difftile.solvers.vectors import Vector, pick, read, rounding, split, write
from difftile.tracebacks import boundary

_SHORTEST = 1e-10  # the fraction of a step below which a line search gives up
_DECREASE = 1e-4  # the least decrease of the energy, as a part of the one that its slope promises
_ROUNDINGS = 16.0  # rounding errors by which a step may seem to raise the energy


@boundary
def minimize_implicit(
    energy: Callable[..., object],
    x: StateLike,
    *,
    args: Sequence[object] = (),
    tol: float | None = None,
    atol: float = 0.0,
    max_iter: int = 100,
    adjoint_tol: float | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> SolverResult:
    """Find a local minimum of an energy, starting from the contents of x; afterwards x holds it.

    `energy(x, e, *args)` is a kernel, or a Python function that launches kernels. The function
    reads `x`, adds up the energy in `e`, a field of shape () that is zero at the call, and does not
    write `x`.

        @dt.kernel
        def energy(x, e, k, force):
            for i in x:
                e[None] += 0.25 * k[i] * x[i] ** 4 - force[i] * x[i]

        with dt.Tape(loss):
            dt.minimize_implicit(energy, x, args=(k, force))
            measure(x, loss)

    The method is Newton's: conjugate gradients for each step, ended early at negative curvature,
    and a line search on the energy (Nocedal and Wright, Numerical Optimization, 2nd ed., algorithm
    7.1). The gradient comes from the adjoint of `energy`, products with the Hessian H from the
    tangents of that adjoint; both are exact.

    A tape differentiates the minimum as a function of all fields that `energy` reads, through the
    condition dE/dx = 0: the adjoint x_bar leads to H w = -x_bar, solved by conjugate gradients, and
    to p_bar += (d2E/dp dx) w (Blondel et al., Efficient and modular implicit differentiation, 2022,
    section 2.2). The tape keeps one copy of `x` and of the fields that `energy` reads. The start
    has no influence as long as it leads to the same minimum, so its gradient is zero. Where H is
    singular at the minimum there is no derivative, and the adjoint does not converge. Second
    derivatives of the minimum come from third ones of the energy.

    A minimum or an adjoint that does not converge ends with a `NotConverged` warning.

    Args:
        energy: The energy.
        x: The start; a field of floats, a field of structs, or a tuple of those, which `energy`
            takes one by one: `energy(*x, e, *args)`.
        args: Further arguments of `energy`.
        tol: The largest Newton step that counts as zero, relative to the largest magnitude in the
            field: max|step| <= max(atol, tol max|x|) for each field. 1e-10 in double precision,
            1e-5 otherwise.
        atol: The same in the unit of x.
        max_iter: The largest number of Newton steps.
        adjoint_tol: The residual of the adjoint's system, relative to x_bar; the default of `tol`.
        strict: Raise an error instead of warnings.
        progress: Called with the number of steps done and max|dE/dx|.

    Returns:
        A report of the iterations; its residual is max|dE/dx|.

    Raises:
        LaunchError: An argument is invalid, or `energy` writes `x` or uses fields that it did not
            use at its first call.
        SolverError: With `strict`, the method did not converge.
    """
    state = state_of(x, "dt.minimize_implicit: x")
    widest = np.result_type(*(leaf.numpy_dtype for leaf in state.leaves))
    function = Function(energy, state, State([dt.zeros((), widest)]), args)
    stopping = Stopping(state, tol, atol, max_iter)

    def iterate() -> SolverResult:
        return _Descent(function, stopping).run(progress)

    name = "dt.minimize_implicit"
    result = solve_on_tape(_MinimumRule, name, function, iterate, adjoint_tol, strict)
    state.refresh()
    advice = "Begin nearer to a minimum, or allow more steps, max_iter=..."
    result.report(advice, strict=strict)
    return result


@dataclass(slots=True)
class _Point:
    """A point `x`, its energy, the gradient `slope` of that, and the launches that computed it."""

    x: Vector
    launches: Pullback
    energy: float
    slope: Vector
    is_finite: bool


@dataclass(slots=True)
class _Descent:
    """Newton's method with conjugate gradients and a line search."""

    function: Function
    stopping: Stopping

    def run(self, progress: Progress | None) -> SolverResult:
        """Set x to a minimum."""
        at = self._point(read(self.function.x))
        space = self._space
        first = space.norm(at.slope)
        done, converged, reason = 0, first == 0.0, ""
        while not converged and not reason and done < self.stopping.max_iter:
            if not at.is_finite:
                reason = "the energy, or its gradient, is not finite"
                break
            done += 1
            found = self._step(at, first)
            small = found.converged and self.stopping.within(found.x, at.x)
            step = found.x if space.dot(found.x, at.slope) < 0.0 else -at.slope
            nearer = self._search(at, step)
            converged = small
            if nearer is not None:
                at.launches.release()
                at = nearer
            elif not small:
                reason = "no step along Newton's direction lowers the energy"
            converged = converged or space.is_zero(at.slope)
            if progress is not None:
                progress(done, space.largest(at.slope))
        write(self.function.x, at.x)
        at.launches.release()
        residual = space.largest(at.slope)
        name = "dt.minimize_implicit"
        return SolverResult(name, converged, done, residual, "solution", reason)

    def _point(self, x: Vector) -> _Point:
        write(self.function.x, x)
        launches = self.function.linearise()
        energy = self._space.totals([float(read(self.function.out)[0])])[0]
        slope = pick(self.function.x, launches.pull(_ones(self.function), self.function.x.leaves))
        finite = math.isfinite(energy) and self._space.is_finite(slope)
        return _Point(x, launches, energy, slope, finite)

    @property
    def _space(self) -> Space:
        return self.function.x.space

    def _step(self, at: _Point, first: float) -> LinearSolution:
        """Return Newton's step, to an accuracy that grows as the gradient falls."""
        size = self._space.norm(at.slope)
        return solve(
            cg,
            lambda v: curvature(self.function, at.launches, v),
            -at.slope,
            tol=max(min(0.1, np.sqrt(size / first)), 1e-8),
            eps=rounding(self.function.x),
            space=self._space,
        )

    def _search(self, at: _Point, step: Vector) -> _Point | None:
        """Return a point along a step with less energy."""
        space = self._space
        slope = space.dot(step, at.slope)
        noise = _ROUNDINGS * rounding(self.function.out) * abs(at.energy)
        share = 1.0
        while share >= _SHORTEST:
            nearer = self._point(at.x + share * step)
            if nearer.is_finite:
                lower = nearer.energy <= at.energy + _DECREASE * share * slope
                level = nearer.energy <= at.energy + noise
                flatter = space.norm(nearer.slope) < space.norm(at.slope)
                if lower or (level and flatter):
                    return nearer
            nearer.launches.release()
            share *= 0.5
        return None


def curvature(function: Function, launches: Pullback, v: Vector) -> Vector:
    """Return H v with the Hessian of an energy."""
    x = function.x
    moves = dict(zip(x.leaves, split(x, v), strict=True))
    _, found = push_pull(launches, moves, _ones(function), {}, x.leaves)
    return pick(x, found)


def _ones(function: Function) -> dict[dt.ArrayLike, float]:
    return dict.fromkeys(function.out.leaves, 1.0)


class _MinimumRule(ImplicitRule):
    """dE/dx = 0: H w = -x_bar, and H x_dot = -(d2E/dx dp) p_dot."""

    def system(self, saved: Solved, times: Times, b: Vector) -> LinearSolution:
        """Return the adjoint solution `w` (reverse) or the tangent `x_dot` (forward).

        The Hessian is its own transpose, so both are solutions with the same matrix.
        """
        return solve(
            cg,
            lambda w: curvature(self.function, saved.launches, w),
            -b,
            tol=self.accuracy,
            eps=rounding(self.function.x),
            space=self.function.x.space,
        )

    def driven(self, saved: Solved, moves: Sequence[Tangents], then: ReverseContext) -> Vector:
        """Return the tangent of dE/dx with x held."""
        x = self.function.x
        found = pull_parts(saved.launches, moves, [_ones(self.function)], x.leaves)
        return pick(x, found[len(moves) - 1])

    def products(
        self,
        saved: Solved,
        moves: Sequence[Tangents],
        w: Sequence[Vector | None],
        elsewhere: Sequence[Cotangents],
        wrt: Sequence[dt.Field],
    ) -> list[Cotangents]:
        """Return the derivatives of dE/dx . w, and of the function's other outputs."""
        if not wrt:
            return [{} for _ in moves]
        x = self.function.x
        total = [{one: np.zeros((*one.shape, *one.element_shape)) for one in wrt} for _ in moves]
        terms: list[list[Cotangents]] = []
        if any(one is not None for one in w):
            along = [{} if v is None else dict(zip(x.leaves, split(x, v), strict=True)) for v in w]
            ones = [_ones(self.function)]
            found = pull_parts(saved.launches, [*moves, *along], ones, wrt)[len(moves) :]
            terms.append(arrays_of(found, wrt))
        if any(elsewhere):
            others: list[Seeds] = [{**each} for each in elsewhere]
            terms.append(arrays_of(pull_parts(saved.launches, moves, others, wrt), wrt))
        for term in terms:
            for each, found in zip(total, term, strict=False):
                for one, values in found.items():
                    each[one] += values
        return total
