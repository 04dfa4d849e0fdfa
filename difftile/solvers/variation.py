"""The tangent of a solution of a differential equation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import GradientCut
from difftile.fields.recording import Recording
from difftile.fields.storage import Storage
from difftile.linearization.sweep import TANGENT, Sweep
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.steps import TapeStep
from difftile.recording.write import Write
from difftile.solvers.implicit import grad_after, tangent_of
from difftile.solvers.problem import Integrated, Problem, fields_among, holding, not_known


class Variation:
    """The tangent of a solution of a differential equation.

    With the tangents y_dot of the state and p_dot of parameters, it integrates the variational
    equation d(y_dot)/dt = (df/dy) y_dot + (df/dp) p_dot forward, in the steps that led to y: so
    y_dot is the tangent of these steps, but for the ends t0 and t1, for which the equation stands
    (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section I.14).

    Args:
        problem: The initial value problem.
        parameters: The fields other than the state that the right-hand side reads.
        scratch: The fields that it writes.
    """

    def __init__(
        self, problem: Problem, parameters: Sequence[dt.Field], scratch: Sequence[dt.Field]
    ) -> None:
        self._problem = problem
        self._parameters = parameters
        self._scratch = scratch

    def push(self, then: ReverseContext, saved: Integrated) -> None:
        """Integrate once more, with tangents."""
        with holding(self._scratch):
            self._push(then, saved)

    def _push(self, then: ReverseContext, saved: Integrated) -> None:
        problem = self._problem
        y = problem.y.like()
        out = None if problem.out is None else problem.out.like()
        for own, values in zip(y.leaves, saved.start, strict=True):
            own.from_numpy(values)
        early, late = (0.0 if e is None else float(tangent_of(then, e)) for e in problem.ends)
        dots = {
            own: tangent_of(then, leaf)
            for own, leaf in zip(y.leaves, problem.y.leaves, strict=True)
        }
        if early:
            for own, rate in zip(y.leaves, problem.rate(problem.t0, y).leaves, strict=True):
                dots[own] = dots[own] - early * rate.to_numpy()
        # Fields that do not vary are left out: a step without tangents may read them.
        floats = [one for one in self._parameters if one.numpy_dtype.kind == "f"]
        dots |= {one: dot for one in floats if (dot := tangent_of(then, one)).any()}
        pushing = _Watching(dots, {*self._parameters, *self._scratch})
        with Recording(pushing):
            replace(problem, rhs=pushing.watched(problem.rhs), y=y, out=out).solve()
        pairs = list(zip(y.leaves, problem.y.leaves, strict=True))
        if out is not None and problem.out is not None:
            pairs += zip(out.leaves, problem.out.leaves, strict=True)
        scratch = [one for one in self._scratch if one.numpy_dtype.kind == "f"]
        pairs += [(one, one) for one in scratch]
        for own, leaf in pairs:
            grad_after(then, leaf).from_numpy(pushing.part(1, own).to_numpy())
        if late and saved.result.converged:
            rates = problem.rate(saved.result.t, y)
            for leaf, rate in zip(problem.y.leaves, rates.leaves, strict=True):
                grad_after(then, leaf).add_numpy(late * rate.to_numpy())
            if scratch:
                text = "the values that the right-hand side leaves in other fields have no tangent"
                advice = "Compute them from the state after the solution."
                warnings.warn(GradientCut(f"dt.odeint: {text} by t1. {advice}"), stacklevel=2)


class _Watching(Sweep):
    """A sweep that refuses fields which the right-hand side did not use at its first call.

    The tangents of such fields are not known. Fields that are overwritten whole need none.

    Args:
        tangents: For each field that varies the tangent of its contents now.
        known: The fields other than state and rates that the right-hand side uses.
    """

    def __init__(
        self, tangents: Mapping[dt.Field, npt.NDArray[Any]], known: Collection[dt.Field]
    ) -> None:
        super().__init__(tangents, TANGENT)
        self.move([{}, tangents])
        self._known = {one.storage for one in known}
        self._own: set[Storage] | None = None  # its arguments and new fields, while it runs
        self._t = 0.0

    def watched(self, rhs: Callable[..., object]) -> Callable[..., object]:
        """Return a right-hand side whose fields are checked while it runs."""

        def look(t: float, *args: Any) -> None:
            self._t, self._own = t, {one.storage for one in fields_among(args)}
            try:
                rhs(t, *args)
            finally:
                self._own = None

        return look

    def record(self, step: TapeStep) -> object:
        """Check the fields of a step and push tangents through it."""
        if self._own is not None:
            match step:
                case Write(field, where=None, source=None) if not field.has_grads:
                    self._own.add(field.storage)  # overwritten whole: the field may be new
                case _:
                    pass
        for one in step.fields:
            if one not in step.hidden:
                self._look_at(one)
        return super().record(step)

    def _look_at(self, one: dt.Field) -> None:
        if self._own is not None and one.storage not in self._own | self._known:
            raise not_known(one, self._t)
