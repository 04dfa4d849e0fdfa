"""The continuous adjoint of an ordinary differential equation, as one step on the tape."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import GradientCut, NotConverged, SolverError, TapeError
from difftile.fields.recording import RECORDING
from difftile.linearization.derivatives import push, push_pull
from difftile.linearization.pullback import Pullback
from difftile.recording.opaque import OpaqueStep
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.solvers.implicit import Tangents, grad_before, incoming
from difftile.solvers.problem import Integrated, Problem, fields_of, holding, not_known
from difftile.solvers.rungekutta import Equation, Outputs, Terms
from difftile.solvers.state import State, combine
from difftile.solvers.variation import Variation

_DRIFT = 1e3  # tolerances by which the state may miss its start without a warning


class ContinuousAdjoint(OpaqueStep):
    """A solution of a differential equation, reversed by solving the adjoint equation backwards.

    With the state y, its adjoint a = dL/dy and parameters p, from t1 to t0
    dy/dt = f, da/dt = -a df/dy, dL/dp = integral of a df/dp over t (Pontryagin; Chen, Rubanova,
    Bettencourt and Duvenaud, Neural ordinary differential equations, 2018). Steps follow from the
    errors of y and of a; the integral feeds back into neither, so its error does not count (Kidger,
    Chen and Lyons, "Hey, that's not an ODE", 2021).

    Args:
        problem: The initial value problem.
    """

    is_seen = False

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._parameters, self._scratch = fields_of(problem)
        # Inside a pullback, the pullback decides which fields carry derivatives.
        recorder = RECORDING.get().recorder
        self._all = recorder is not None and recorder.is_private
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

    def run(self) -> Integrated:
        """Integrate from t0 to t1."""
        return self._problem.integrate()

    def reverse(self, then: ReverseContext, saved: Integrated) -> None:
        """Integrate the adjoint from t1 to t0."""
        for one in self._scratch:
            if np.any(incoming(then, one)):
                text = "the values that the right-hand side leaves in other fields have no gradient"
                advice = "Compute them from the state after the solution."
                warnings.warn(GradientCut(f"dt.odeint: {text}. {advice}"), stacklevel=2)
        with holding(self._scratch), then.restored():
            self._go_back(then, None, saved)

    def derivative(self, at: Sequence[ReverseContext], saved: Integrated) -> bool:
        """Integrate the adjoint from t1 to t0 together with its tangent.

        Raises:
            TapeError: An end of the interval is a field, by which there is no second derivative;
                or this is a third derivative.
        """
        then, dots = self.of_second_order(at)
        if self._problem.ends != (None, None):
            raise TapeError(
                "dt.odeint: second derivatives with the continuous adjoint are not taken where t0 "
                "or t1 is a field. Pass numbers, t1[None], or scale the time in the right-hand "
                "side: dy/ds = t1 f(t1 s, y) from 0 to 1."
            )
        with holding(self._scratch), then.restored():
            self._go_back(then, dots, saved)
        return True

    def push(self, at: Sequence[ReverseContext], saved: Integrated) -> bool:
        """Integrate once more with tangents, along one direction."""
        if len(at) > 1:
            return False
        Variation(self._problem, self._parameters, self._scratch).push(at[0], saved)
        return True

    def _go_back(
        self, then: ReverseContext, dots: ReverseContext | None, saved: Integrated
    ) -> None:
        """Integrate the adjoint, and its tangent if the tangents of the fields are given."""
        problem = self._problem
        floats = [one for one in self._parameters if one.numpy_dtype.kind == "f"]
        wanted = [one for one in floats if self._all or one.has_grads]
        moves = None if dots is None else {one: dots[one].to_numpy() for one in floats}
        backward = _Backward(problem, wanted, {*self._parameters, *self._scratch}, moves)
        sides = [(then, backward.y, backward.a)]
        if dots is not None:
            sides.append((dots, backward.y_dot, backward.a_dot))
        for context, y, a in sides:
            for leaf, own, adjoint in zip(problem.y.leaves, y.leaves, a.leaves, strict=True):
                own.copy_from(context[leaf])
                adjoint.from_numpy(incoming(context, leaf))
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
            for context, _, a in sides:
                rows = [incoming(context, leaf)[row] for leaf in problem.out.leaves]
                for adjoint, bar in zip(a.leaves, a.without_halos(rows), strict=True):
                    adjoint.from_numpy(adjoint.to_numpy() + bar)
            if dots is not None:
                for leaf, y_dot in zip(problem.out.leaves, backward.y_dot.leaves, strict=True):
                    y_dot.from_numpy(dots[leaf].to_numpy()[row])
        backward.go(t, problem.t0, end - problem.t0)
        backward.start_again(problem.t0, saved.start)
        self._add_end(then, 0, -backward.slope(problem.t0))
        for context, _, a in sides:
            for leaf, adjoint in zip(problem.y.leaves, a.leaves, strict=True):
                grad_before(context, leaf).copy_from(adjoint)
        for one, integral in backward.integrals.items():
            grad_before(then, one).copy_from(integral)
        for one, integral in backward.integral_dots.items():
            assert dots is not None
            grad_before(dots, one).copy_from(integral)
        backward.warn_of_drift()

    def _add_end(self, then: ReverseContext, which: int, slope: float) -> None:
        field = self._problem.ends[which]
        if field is not None:
            grad_before(then, field).fill(slope)


class _Backward:
    """State and adjoint on their way from t1 to t0.

    Args:
        problem: The problem that was integrated.
        wanted: The parameters whose gradients are computed.
        known: The fields that the right-hand side is known to touch.
        moves: The tangents of the parameters, if the adjoint's tangent is integrated as well.

    Attributes:
        y: The state, whose tangent is `y_dot`.
        a: The adjoint, whose tangent is `a_dot`.
        integrals: The gradients of the parameters, whose tangents are `integral_dots`.
    """

    def __init__(
        self,
        problem: Problem,
        wanted: Sequence[dt.Field],
        known: Collection[dt.Field],
        moves: Tangents | None,
    ) -> None:
        self.y, self.a, self.y_dot, self.a_dot = (problem.y.like() for _ in range(4))
        with dt.scratch():
            self.integrals = {one: dt.zeros_like(one, grad=False) for one in wanted}
            dotted = wanted if moves is not None else ()
            self.integral_dots = {one: dt.zeros_like(one, grad=False) for one in dotted}
        self._problem = problem
        self._known = {one.storage for one in known}
        self._moves = moves
        along = (self.y, self.a) if moves is None else (self.y, self.a, self.y_dot, self.a_dot)
        self._together = State([member for state in along for member in state.members])
        self._products: dict[object, list[dt.Field]] = {}
        self._drift = (0.0, problem.t0)

    def go(self, t: float, end: float, whole: float) -> None:
        """Integrate from t back to an earlier end; `whole` is the length of the solution.

        Raises:
            SolverError: The adjoint equation could not be integrated.
        """
        if t == end:
            return
        integrator = self._problem.integrator
        if integrator.steps is not None:
            part = abs((t - end) / whole)
            integrator = replace(integrator, steps=math.ceil(integrator.steps * part - 1e-9))
        equation = Equation(self._rates, (), refreshes=False)
        result = integrator.march(equation, self._together, t, end, Outputs(), self._integrate)
        if not result.converged:
            raise SolverError(
                f"dt.odeint: the adjoint equation needs more than {integrator.most} steps from "
                f"t = {t:.6g} back to {end:.6g}: {result!r}. Use adjoint='discrete', or give it "
                "more, max_steps=..."
            )

    def start_again(self, t: float, stored: Sequence[npt.NDArray[Any]]) -> None:
        """Continue from a state that the solution has stored."""
        tolerance = self._problem.integrator.tolerance
        before = self.y.arrays()
        for leaf, values in zip(self.y.leaves, stored, strict=True):
            leaf.from_numpy(values)
        change = [b - a for a, b in zip(self.y.arrays(), before, strict=True)]
        drift = tolerance.size(change, self.y)
        if not drift <= self._drift[0]:
            self._drift = (drift, t)

    def slope(self, t: float) -> float:
        """Return a . f, the derivative of the loss by the time at which the solution ends."""
        if self._problem.ends == (None, None):
            return 0.0
        rate = self._problem.rate(t, self.y)
        return sum(
            float(np.vdot(a, f)) for a, f in zip(self.a.arrays(), rate.arrays(), strict=True)
        )

    def warn_of_drift(self) -> None:
        """Warn if the state, integrated backwards, misses the stored one."""
        drift, t = self._drift
        if drift > _DRIFT:
            warnings.warn(
                NotConverged(
                    f"dt.odeint: integrated backwards, the state at t = {t:.6g} is off by "
                    f"{drift:.2g} tolerances, and the gradient with it: the equation forgets where "
                    "it came from. Use adjoint='discrete', or store states on the way: "
                    "at=[...], out=..."
                ),
                stacklevel=2,
            )

    def _rates(self, t: float, *fields: Any) -> None:
        """Set the rates of state and adjoint, and keep the rates of the integrals."""
        n = len(self.y.members)
        states = [State(fields[k : k + n]) for k in range(0, len(fields), n)]
        half = len(states) // 2
        y, a, dy, da = *states[:2], *states[half : half + 2]
        rhs, args = self._problem.rhs, self._problem.args

        def call() -> None:
            with y.refreshed():
                rhs(t, *y.members, *dy.members, *args)

        launches = Pullback(call)
        try:
            own = {leaf.storage for state in (y, dy) for leaf in state.leaves}
            found = {one.storage for one in launches.found}
            for one in launches.fields:
                temporary = one.storage not in found and not one.has_grads
                if one.storage not in own and one.storage not in self._known and not temporary:
                    raise not_known(one, t)
            seeds: dict[dt.ArrayLike, Any] = dict(zip(dy.leaves, a.leaves, strict=True))
            wrt = [*y.leaves, *self.integrals]
            dots: dict[dt.Field, dt.Field] = {}
            if self._moves is None:
                bars = launches.pull(seeds, wrt)
            else:
                y_dot, a_dot, dy_dot, da_dot = *states[2:half], *states[half + 2 :]
                moves = self._moves | {
                    leaf: dot.to_numpy() for leaf, dot in zip(y.leaves, y_dot.leaves, strict=True)
                }
                seed_dots: dict[dt.ArrayLike, Any] = dict(zip(dy.leaves, a_dot.leaves, strict=True))
                bars, dots = push_pull(launches, moves, seeds, seed_dots, wrt)
                pushed = push(launches, moves, dy.leaves)
                for leaf, rate in zip(dy.leaves, dy_dot.leaves, strict=True):
                    rate.from_numpy(pushed[leaf])
                for leaf, rate in zip(y.leaves, da_dot.leaves, strict=True):
                    combine(rate, rate, [(-1.0, dots[leaf])])
            for leaf, rate in zip(y.leaves, da.leaves, strict=True):
                combine(rate, rate, [(-1.0, bars[leaf])])
            products = [bars[one] for one in self.integrals]
            products += [dots[one] for one in self.integral_dots]
            self._products[states[half].members[0]] = products
        finally:
            launches.release()

    def _integrate(self, terms: Terms) -> None:
        """Advance the integrals by a step."""
        for k, integral in enumerate((*self.integrals.values(), *self.integral_dots.values())):
            products = [(-w, self._products[rate.members[0]][k]) for w, rate in terms if w]
            combine(integral, integral, products)
