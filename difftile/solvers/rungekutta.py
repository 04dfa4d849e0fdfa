"""Explicit Runge-Kutta methods: stages, steps, and states stored on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeAlias

from difftile.diagnostics import SolverError
from difftile.solvers.state import State
from difftile.solvers.step_size import ErrorTolerance, StepSize
from difftile.solvers.tableaux import Tableau

Terms: TypeAlias = "Sequence[tuple[float, State]]"

_ROUNDING = 1e-9  # parts of a step that count as zero
_LEAST_STEP = 4e-15  # relative to the time: smaller steps are lost in its rounding errors


@dataclass(frozen=True, slots=True)
class TimeStep:
    """A step from `t` by `h`."""

    t: float
    h: float


class Equation:
    """The equation dy/dt = rhs(t, y), and a count of its evaluations.

    Args:
        rhs: The right-hand side.
        args: Further arguments of it.
        refreshes: Fill the halos of split fields before each evaluation.
    """

    def __init__(
        self, rhs: Callable[..., object], args: Sequence[object], *, refreshes: bool = True
    ) -> None:
        self._rhs = rhs
        self._args = args
        self._refreshes = refreshes
        self.evaluations = 0

    def __call__(self, t: float, y: State, rate: State) -> None:
        """Set `rate` to dy/dt; the right-hand side finds zeros there and may add to them."""
        rate.clear()
        with y.refreshed() if self._refreshes else nullcontext():
            self._rhs(t, *y.members, *rate.members, *self._args)
        self.evaluations += 1


class Outputs:
    """The times at which a solution is stored, and the fields whose rows take it.

    Args:
        times: In the direction of the integration.
        out: Fields like the state's, with an additional first axis.
    """

    def __init__(self, times: Sequence[float] = (), out: State | None = None) -> None:
        self._times = times
        self._out = out
        self._next = 0

    def take(self, step: TimeStep) -> Iterator[tuple[float, int]]:
        """Yield the times in a step that were not taken yet, as parts of the step, and their rows.

        A time within rounding errors of an end of the step counts as that end.
        """
        while self._next < len(self._times):
            part = (self._times[self._next] - step.t) / step.h
            if part > 1.0 + _ROUNDING:
                return
            row, self._next = self._next, self._next + 1
            yield (0.0 if part < _ROUNDING else 1.0 if part > 1.0 - _ROUNDING else part), row

    def put(self, row: int, y: State, terms: Terms = ()) -> None:
        """Set a row to y plus terms."""
        assert self._out is not None
        self._out.combine_row(row, y, terms)


class RungeKutta:
    """A method that advances a state in place.

    Args:
        tableau: The method.
        equation: The right-hand side.
        y: The state.
        outputs: The states to store on the way.
        accept: Called with the terms that a step is going to add to the state.
        grad: Whether gradients flow through the intermediate fields.
    """

    def __init__(
        self,
        tableau: Tableau,
        equation: Equation,
        y: State,
        outputs: Outputs,
        *,
        accept: Callable[[Terms], None] | None = None,
        grad: bool = False,
    ) -> None:
        self.steps = 0
        self.rejected = 0
        self._tableau = tableau
        self._equation = equation
        self._y = y
        self._outputs = outputs
        self._accept = accept
        self._at = y.work("stage", grad=grad)
        self._rates = [y.work(f"rate {s}", grad=grad) for s in range(len(tableau.dense))]
        self._first_known = False  # the rate at the beginning of the next step
        self._last_known = False  # the rate at the end of this step, and the state there in `_at`

    def follow(self, steps: Iterable[TimeStep]) -> None:
        """Take steps of given sizes."""
        for step in steps:
            self._evaluate(step)
            self._finish(step)

    def adapt(
        self, t: float, end: float, tolerance: ErrorTolerance, first: float | None, most: int
    ) -> Iterator[TimeStep]:
        """Take steps whose sizes follow from their errors, and yield them.

        Args:
            t: The time at the start.
            end: The time at the end.
            tolerance: The accepted error of a step.
            first: The size of the first step; None to estimate it.
            most: The largest number of steps to try.

        Raises:
            SolverError: The next step would be too small to change the time.
        """
        assert self._tableau.embedded is not None
        embedded = self._y.work("embedded")
        size = StepSize(first or self._first_step(t, end, tolerance))
        for _ in range(most):
            last = abs(end - t) <= 1.01 * size.h
            h = end - t if last else math.copysign(size.h, end - t)
            step = TimeStep(t, h)
            self._evaluate(step)
            self._close(step)
            embedded.combine(self._y, self._terms(h, self._tableau.embedded))
            difference = self._at.minus(embedded)
            error = tolerance.size(difference, self._y, self._at)
            if error <= 1.0:
                self._finish(step)
                yield step
                if last:
                    return
                t += h
                size.accept(abs(h), error)
            else:
                self.rejected += 1
                self._first_known, self._last_known = True, False
                size.reject(abs(h), error)
            if size.h < _LEAST_STEP * max(abs(t), abs(end)):
                raise SolverError(self._stuck(t, size.h, error))

    def _terms(self, h: float, weights: Sequence[float]) -> Terms:
        return [(h * w, rate) for w, rate in zip(weights, self._rates, strict=False)]

    def _evaluate(self, step: TimeStep) -> None:
        """Evaluate the stages that the result needs."""
        tableau = self._tableau
        for s, (node, row) in enumerate(zip(tableau.nodes, tableau.rows, strict=True)):
            if s == 0 and self._first_known:
                continue
            if s:
                self._at.combine(self._y, self._terms(step.h, row))
            self._equation(step.t + node * step.h, self._at if s else self._y, self._rates[s])
        self._first_known = False

    def _close(self, step: TimeStep) -> None:
        """Compute the end of the step and, if the method has a stage there, its rate."""
        if self._last_known or len(self._rates) == self._tableau.stages:
            return
        self._at.combine(self._y, self._terms(step.h, self._tableau.weights))
        self._equation(step.t + step.h, self._at, self._rates[-1])
        self._last_known = True

    def _finish(self, step: TimeStep) -> None:
        """Advance the state to the end of the step and store the outputs on the way."""
        at_end: list[int] = []
        for part, row in self._outputs.take(step):
            if part == 1.0:
                at_end.append(row)
            else:
                self._close(step)
                terms = self._terms(step.h, self._tableau.between(part)) if part else ()
                self._outputs.put(row, self._y, terms)
        terms = self._terms(step.h, self._tableau.weights)
        if self._accept is not None:
            self._accept(terms)
        self._y.combine(self._y, terms)
        for row in at_end:
            self._outputs.put(row, self._y)
        self.steps += 1
        if self._last_known:
            self._rates[0], self._rates[-1] = self._rates[-1], self._rates[0]
            self._first_known, self._last_known = True, False

    def _first_step(self, t: float, end: float, tolerance: ErrorTolerance) -> float:
        """Return a step over which the rate changes moderately.

        Source: Hairer, Norsett and Wanner I, section II.4, "starting step size".
        """
        y, rate, order = self._y, self._rates[0], self._tableau.order
        self._equation(t, y, rate)
        self._first_known = True
        size, slope = tolerance.size(y, y), tolerance.size(rate, y)
        if not math.isfinite(slope):
            raise SolverError(self._stuck(t, 0.0, slope))
        h = min(1e-6 if min(size, slope) < 1e-5 else 0.01 * size / slope, abs(end - t))
        self._at.combine(y, [(math.copysign(h, end - t), rate)])
        self._equation(t + math.copysign(h, end - t), self._at, self._rates[1])
        bend = tolerance.size(self._rates[1].minus(rate), y) / h
        steepest = max(slope, bend)
        if not steepest < math.inf:
            return 1e-3 * h
        if steepest < 1e-15:
            return min(100 * h, max(1e-6, 1e-3 * h))
        return min(100 * h, (0.01 / steepest) ** (1 / order))

    def _stuck(self, t: float, h: float, error: float) -> str:
        """Return the message for the case that no step is small enough."""
        where = f"dt.odeint ({self._tableau.name}) cannot go on at t = {t:.6g}"
        if not self._y.is_finite():
            return f"{where}: the state is not finite there. Check where the integration starts."
        if not self._rates[0].is_finite():
            return f"{where}: the right-hand side is not finite there. Check it for this state."
        if not math.isfinite(error):
            return (
                f"{where}: after steps of {h:.2g} the state is still not finite. Check the "
                "right-hand side around this state."
            )
        return (
            f"{where}: it would need steps of {h:.2g}. The solution is singular there, or the "
            "tolerances are below the rounding errors of the state: stop earlier, or allow larger "
            "errors, rtol=... and atol=..."
        )
