"""The continuous adjoint of an ordinary differential equation, as one step on the tape."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import GradientCut, LaunchError, NotConverged, SolverError
from difftile.fields.create import zeros_like
from difftile.fields.field import Field
from difftile.fields.recording import OPEN_TAPE
from difftile.fields.structs import StructField
from difftile.fields.values import Values
from difftile.ir.types import is_float
from difftile.solvers.march import OdeResult, Plan
from difftile.solvers.rungekutta import Equation, Outputs, Terms
from difftile.solvers.state import State, combine
from difftile.tape.opaque import Keeps, OpaqueStep, Use
from difftile.tape.pullback import Pullback
from difftile.tape.snapshots import Snapshot
from difftile.tape.standins import Then

_DRIFT = 1e3  # tolerances by which the state may miss its start without a word


@dataclass(frozen=True, slots=True)
class Problem:
    """What is integrated.

    Args:
        plan: How.
        rhs: The right-hand side: rhs(t, *y, *dydt, *args).
        args: What it takes beside time, state and rates.
        y: The state, which changes in place.
        t0: Where it begins.
        t1: Where it ends.
        times: When the state is wanted on the way.
        out: The fields whose rows take it.
        ends: The fields that t0 and t1 were read from, if they were fields with gradients.
    """

    plan: Plan
    rhs: Callable[..., object]
    args: Sequence[object]
    y: State
    t0: float
    t1: float
    times: Sequence[float] = ()
    out: State | None = None
    ends: tuple[Field | None, Field | None] = (None, None)

    def solve(self) -> OdeResult:
        """Integrate; on an open tape the steps taken are recorded."""
        equation = Equation(self.rhs, self.args)
        return self.plan.march(equation, self.y, self.t0, self.t1, Outputs(self.times, self.out))


@dataclass(frozen=True, slots=True)
class _Saved:
    """What the reverse needs beside what fields held: where the solution ended and began."""

    result: OdeResult
    start: list[np.ndarray[Any, Any]]

    @property
    def nbytes(self) -> int:
        return sum(values.nbytes for values in self.start)


class ContinuousAdjoint(OpaqueStep):
    """A solution of a differential equation, reversed by solving the adjoint equation backwards.

    With the state y, its adjoint a = dL/dy and parameters p, from t1 to t0
    dy/dt = f, da/dt = -a df/dy, dL/dp = integral of a df/dp over t (Pontryagin; Chen, Rubanova,
    Bettencourt and Duvenaud, Neural ordinary differential equations, 2018). The errors of y and
    of a decide on steps, not that of the integral, on which nothing depends (Kidger, Chen and
    Lyons, "Hey, that's not an ODE", 2021).

    Args:
        problem: What is integrated.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._parameters, self._scratch = _fields_of(problem)
        # Inside a pullback, that decides which fields carry derivatives.
        self._all = isinstance(OPEN_TAPE.get(), Pullback)
        y = [Use(leaf, True, True, Keeps.AFTER, "y") for leaf in problem.y.leaves]
        out = () if problem.out is None else problem.out.leaves
        super().__init__(
            "dt.odeint",
            [
                *y,
                *(Use(leaf, False, True, Keeps.AFTER, "out") for leaf in out),
                *(Use(one, True, False, Keeps.BEFORE) for one in self._parameters),
                *(Use(one, True, True) for one in self._scratch),
                *(Use(end, True, False) for end in problem.ends if end is not None),
            ],
        )

    def run(self) -> _Saved:
        """Integrate from t0 to t1."""
        start = [leaf.to_numpy() for leaf in self._problem.y.leaves]
        return _Saved(self._problem.solve(), start)

    def reverse(self, then: Then, saved: _Saved) -> None:
        """Integrate the adjoint from t1 to t0."""
        now = Snapshot(0)
        for one in self._scratch:
            now.hold(one.storage)
            if np.any(_incoming(then, one)):
                text = "dt.odeint: what the right-hand side leaves in other fields has no gradient."
                warnings.warn(GradientCut(text), stacklevel=2)
        try:
            with then.restored():
                self._go_back(then, saved)
        finally:
            now.restore()
            now.release()

    def _go_back(self, then: Then, saved: _Saved) -> None:
        problem = self._problem
        wanted = [one for one in self._parameters if is_float(one.element)]
        wanted = [one for one in wanted if self._all or one.has_grads]
        backward = _Backward(problem, wanted, {*self._parameters, *self._scratch})
        for leaf, y, a in zip(problem.y.leaves, backward.y.leaves, backward.a.leaves, strict=True):
            y.copy_from(then[leaf])
            a.from_numpy(_incoming(then, leaf))
        end = saved.result.t
        if saved.result.converged:
            self._add_end(then, 1, backward.slope(end))
        t = end
        for row in reversed(range(len(problem.times))):
            assert problem.out is not None
            backward.go(t, problem.times[row], end - problem.t0)
            t = problem.times[row]
            stored = [then[leaf].to_numpy()[row] for leaf in problem.out.leaves]
            backward.start_again(t, stored)
            for leaf, a in zip(problem.out.leaves, backward.a.leaves, strict=True):
                a.from_numpy(a.to_numpy() + _incoming(then, leaf)[row])
        backward.go(t, problem.t0, end - problem.t0)
        backward.start_again(problem.t0, saved.start)
        self._add_end(then, 0, -backward.slope(problem.t0))
        for leaf, a in zip(problem.y.leaves, backward.a.leaves, strict=True):
            _gradient(then, leaf).copy_from(a)
        for one, integral in backward.integrals.items():
            _gradient(then, one).copy_from(integral)
        backward.warn_of_drift()

    def _add_end(self, then: Then, which: int, slope: float) -> None:
        field = self._problem.ends[which]
        if field is not None:
            _gradient(then, field).fill(slope)


class _Backward:
    """State and adjoint on their way from t1 to t0.

    Args:
        problem: What was integrated.
        wanted: The parameters whose gradients are wanted.
        known: The fields that the right-hand side is known to touch.
    """

    def __init__(self, problem: Problem, wanted: Sequence[Field], known: Collection[Field]) -> None:
        self.y = problem.y.like()
        self.a = problem.y.like()
        self.integrals = {one: zeros_like(one, grad=False) for one in wanted}
        self._problem = problem
        self._known = {one.storage for one in known}
        self._both = State([*self.y.members, *self.a.members])
        self._products: dict[object, dict[Field, Field]] = {}
        self._drift = (0.0, problem.t0)

    def go(self, t: float, end: float, whole: float) -> None:
        """Integrate from t back to an earlier end; `whole` is the length of the solution.

        Raises:
            SolverError: The adjoint equation could not be integrated.
        """
        if t == end:
            return
        plan = self._problem.plan
        if plan.steps is not None:
            plan = replace(plan, steps=math.ceil(plan.steps * abs((t - end) / whole) - 1e-9))
        equation = Equation(self._rates, ())
        result = plan.march(equation, self._both, t, end, Outputs(), self._integrate)
        if not result.converged:
            raise SolverError(
                f"dt.odeint: the adjoint equation needs more than {plan.most} steps from "
                f"t = {t:.6g} back to {end:.6g}: {result!r}. Use adjoint='discrete', or give it "
                "more, max_steps=..."
            )

    def start_again(self, t: float, stored: Sequence[npt.NDArray[Any]]) -> None:
        """Go on from a state that is known from the solution itself."""
        tolerance = self._problem.plan.tolerance
        before = self.y.arrays()
        for leaf, values in zip(self.y.leaves, stored, strict=True):
            leaf.from_numpy(values)
        change = [b - a for a, b in zip(self.y.arrays(), before, strict=True)]
        drift = tolerance.size(change, self.y)
        if not drift <= self._drift[0]:
            self._drift = (drift, t)

    def slope(self, t: float) -> float:
        """Return a . f: how the loss changes with where the solution ends."""
        if self._problem.ends == (None, None):
            return 0.0
        rate = self.y.like()
        Equation(self._problem.rhs, self._problem.args)(t, self.y, rate)
        return sum(
            float(np.vdot(a, f)) for a, f in zip(self.a.arrays(), rate.arrays(), strict=True)
        )

    def warn_of_drift(self) -> None:
        """Say so if the state, integrated backwards, went astray."""
        drift, t = self._drift
        if drift > _DRIFT:
            warnings.warn(
                NotConverged(
                    f"dt.odeint: integrated backwards, the state misses what it was at t = {t:.6g} "
                    f"by {drift:.2g} tolerances, and the gradient with it: the equation forgets "
                    "where it came from. Use adjoint='discrete', or store states on the way: "
                    "at=[...], out=..."
                ),
                stacklevel=2,
            )

    def _rates(self, t: float, *fields: Any) -> None:
        """Set the rates of state and adjoint, and keep those of the integrals."""
        n = len(self.y.members)
        y, a, dy, da = (State(fields[k * n : (k + 1) * n]) for k in range(4))
        rhs, args = self._problem.rhs, self._problem.args
        launches = Pullback(lambda: rhs(t, *y.members, *dy.members, *args))
        try:
            own = {leaf.storage for state in (y, dy) for leaf in state.leaves}
            for one in launches.fields:
                if one.storage not in own and one.storage not in self._known:
                    raise LaunchError(
                        f"dt.odeint: the right-hand side touches {one!r} at t = {t:.6g} and not at "
                        "its first call. Pass it in 'args', so that its contents are kept."
                    )
            seeds: dict[Values, Any] = dict(zip(dy.leaves, a.leaves, strict=True))
            bars = launches.pull(seeds, [*y.leaves, *self.integrals])
            for leaf, rate in zip(y.leaves, da.leaves, strict=True):
                combine(rate, rate, [(-1.0, bars[leaf])])
            self._products[fields[2 * n]] = {one: bars[one] for one in self.integrals}
        finally:
            launches.release()

    def _integrate(self, terms: Terms) -> None:
        """Add what a step adds to the integrals."""
        for one, integral in self.integrals.items():
            products = [(-w, self._products[rate.members[0]][one]) for w, rate in terms if w]
            combine(integral, integral, products)


def _fields_of(problem: Problem) -> tuple[list[Field], list[Field]]:
    """Return the fields that the right-hand side reads beside its state, and those it writes.

    Raises:
        LaunchError: It writes the state.
    """
    y, rate = problem.y, problem.y.like()
    launches = Pullback(lambda: problem.rhs(problem.t0, *y.members, *rate.members, *problem.args))
    found = {one.storage: one for one in (*_among(problem.args), *launches.fields)}
    written = {one.storage for one in launches.written}
    launches.rewind()
    launches.release()
    if any(leaf.storage in written for leaf in y.leaves):
        raise LaunchError(
            "dt.odeint: the right-hand side changes the state; it writes rates alone."
        )
    for leaf in (*y.leaves, *rate.leaves):
        found.pop(leaf.storage, None)
    return (
        [one for storage, one in found.items() if storage not in written],
        [one for storage, one in found.items() if storage in written],
    )


def _among(args: Sequence[object]) -> Iterator[Field]:
    """Yield the fields among some arguments."""
    for one in args:
        if isinstance(one, Values):
            yield one.base.origin
        elif isinstance(one, StructField):
            yield from (leaf.origin for _, leaf in one.fields())


def _incoming(then: Then, field: Field) -> npt.NDArray[Any]:
    """Return the gradient with respect to what a field held after the solution."""
    gradient = then[field].grad_in
    return np.zeros(()) if gradient is None else gradient.to_numpy()


def _gradient(then: Then, field: Field) -> Field:
    """Return where the gradient with respect to what a field held before goes."""
    gradient = then[field].grad_out
    assert gradient is not None
    return gradient
