"""Solvers on a tape: one step, differentiated by the rule of the implicit function.

Where a solver finds x with F(x, p) = 0, the adjoint x_bar of its result leads to the
adjoints of the parameters through one linear system, (dF/dx)^T w = -x_bar, and p_bar += (dF/dp)^T
w; the tangents of the parameters lead to the tangent of the result through (dF/dx) x_dot = -(dF/dp)
p_dot (Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 15; Christianson, Reverse
accumulation and attractive fixed points, 1994; Blondel et al., Efficient and modular implicit
differentiation, 2022). The iterations leave no trace: neither their number nor their start matters.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError, NotConverged, SolverError, counted
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING
from difftile.ir.types import is_float
from difftile.linearization.forward_over_reverse import push_pull
from difftile.linearization.pullback import Pullback
from difftile.linearization.tangents import push
from difftile.recording.opaque import Keeps, OpaqueStep, Use
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.work_fields import add_to
from difftile.solvers.function import Function
from difftile.solvers.krylov import LinearSolution
from difftile.solvers.result import SolverResult
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, joined, pick, precision, split

Cotangents: TypeAlias = dict[Field, "npt.NDArray[Any]"]
Tangents: TypeAlias = dict[Field, "npt.NDArray[Any]"]

Times: TypeAlias = Callable[[Function, Pullback, Vector], Vector]
"""Multiplies by the Jacobian of a function by its unknown, or by its transpose."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The record of a solver that the reverse works from.

    Attributes:
        result: The report of the solver.
        launches: The launches of its function at the solution.
        near: The launches of its preconditioner.
        nbytes: The memory of both in addition to the fields that they read.
    """

    result: SolverResult
    launches: Pullback
    near: Pullback | None
    nbytes: int


class ImplicitRule(OpaqueStep):
    """A solver as a step of a tape.

    Args:
        name: The solver.
        function: The function that defines the solution; its `x` takes the solution.
        solve: Finds the solution.
        accuracy: The residual of the linear system, relative to its right-hand side; by default
            the accuracy of the solution.
        strict: Whether an adjoint or a tangent that does not converge is an error.
        inputs: Other fields that the solution depends on.
        near: A preconditioner.
    """

    def __init__(
        self,
        name: str,
        function: Function,
        solve: Callable[[], SolverResult],
        accuracy: float | None,
        strict: bool,
        inputs: Sequence[Field] = (),
        near: Function | None = None,
    ) -> None:
        self.function = function
        self.accuracy = precision(function.x) if accuracy is None else accuracy
        self._solve = solve
        self._strict = strict
        # Inside a pullback, the pullback decides which fields carry derivatives.
        recorder = RECORDING.get().recorder
        self._all = recorder is not None and recorder.is_private
        own = {leaf.storage for leaf in (*function.x.leaves, *function.out.leaves)}
        touched, written = function.touched()
        if any(leaf.storage in written for leaf in function.x.leaves):
            raise LaunchError(
                f"{name}: the function changes the unknown. Let it write only 'out', and copy "
                "the unknown first if it needs to."
            )
        self.reads = [one for one in touched if one.storage not in own]
        self.writes = [one for one in self.reads if one.storage in written]
        self._known = own | {one.storage for one in self.reads}
        others = {one.storage: one for one in self.reads}
        self._near = near
        if near is not None:
            more, also = near.touched()
            temporary = {leaf.storage for leaf in (*near.x.leaves, *near.out.leaves)}
            others |= {one.storage: one for one in more if one.storage not in temporary}
            written |= also
        uses = [Use(leaf, True, True, Keeps.AFTER, "x") for leaf in function.x.leaves]
        uses += [Use(leaf, True, False, Keeps.NOTHING, "b") for leaf in inputs]
        uses += [
            Use(one, True, True, Keeps.NOTHING, "a field that the function writes")
            if storage in written
            else Use(one, True, False, Keeps.BEFORE, "a field that the function reads")
            for storage, one in others.items()
            if storage not in {use.field.storage for use in uses}
        ]
        super().__init__(name, uses)

    def run(self) -> Solved:
        """Solve, and launch the function once more at the solution."""
        result = self._solve()
        launches = self.function.linearise(of_tape=True)
        found = {one.storage for one in launches.found}
        for one in launches.fields:
            temporary = one.storage not in found and not one.has_grads
            if one.storage not in self._known and not temporary:
                raise LaunchError(
                    f"{self.name}: the function uses {one!r} at the solution and did not at its "
                    "first call, so the tape does not know it. Pass it in 'args'."
                )
        near = None if self._near is None else self._near.linearise(of_tape=True)
        nbytes = sum(leaf.nbytes for leaf in self.function.out.leaves)
        return Solved(result, launches, near, nbytes)

    def reverse(self, then: ReverseContext, saved: Solved) -> None:
        """Solve for the adjoint and spread it over the parameters."""
        self._adjoint(then, saved)

    def _adjoint(self, then: ReverseContext, saved: Solved) -> Vector:
        """Spread the adjoint over the parameters and return it."""
        x = self.function.x
        bars = [incoming(then, leaf) for leaf in x.leaves]
        x_bar = joined(x, bars)
        # The function has computed its other outputs from the solution.
        elsewhere = self._elsewhere(then)
        if elsewhere:
            x_bar += pick(x, saved.launches.pull({**elsewhere}, x.leaves))
        w = self._solved(saved, x_bar)
        self._add(then, bars, self.spread(saved, w, elsewhere, self._targets))
        return w

    def _add(
        self, then: ReverseContext, bars: Sequence[npt.NDArray[Any]], found: Cotangents
    ) -> None:
        """Add the adjoints of the parameters and of the unknown before the step.

        The start of the unknown does not matter. Halos that no rank owns, at the ends of a grid,
        stay as they are, so their contents are parameters as well.

        Args:
            then: The fields of the step.
            bars: The adjoints of the unknown after it.
            found: The adjoints of the parameters, and of the unknown if it is split.
        """
        x = self.function.x
        for leaf, bar in zip(x.leaves, x.halos(bars), strict=True):
            add_to(grad_before(then, leaf), bar)
        for leaf in x.leaves:
            if leaf in found:
                found[leaf] = State([leaf]).halos([found[leaf]])[0]
        for one, bar in found.items():
            add_to(grad_before(then, one), bar)

    def second(self, then: ReverseContext, dots: ReverseContext, saved: Solved) -> bool:
        """Push tangents through the reverse, whose linear system is differentiated.

        From F_x^T w = -x_bar follows F_x^T w_dot = -(x_bar_dot + d(F_x^T) w), and from
        p_bar = F_p^T w likewise p_bar_dot = F_p^T w_dot + d(F_p^T) w.
        """
        x, wanted = self.function.x, self._wanted
        w = self._adjoint(then, saved)
        floats = [one for one in self.reads if is_float(one.element)]
        known = [one for one in floats if one not in self.writes]
        moves = self._varying({one: dots[one].to_numpy() for one in known})
        moves |= {leaf: dots[leaf].to_numpy() for leaf in x.leaves}
        bent = self.bent(
            saved, moves, w, self._elsewhere(then), self._elsewhere(dots), [*x.leaves, *wanted]
        )
        bars = [incoming(dots, leaf) for leaf in x.leaves]
        w_dot = self._solved(saved, joined(x, bars) + joined(x, [bent[leaf] for leaf in x.leaves]))
        self._add(dots, bars, {one: bent[one] for one in self._targets})
        none = [np.zeros_like(bar) for bar in bars]
        self._add(dots, none, self.spread(saved, w_dot, {}, self._targets))
        return True

    def bent(
        self,
        saved: Solved,
        moves: Tangents,
        w: Vector,
        elsewhere: Cotangents,
        elsewhere_dots: Cotangents,
        wrt: Sequence[Field],
    ) -> Cotangents:
        """Return the tangents of F_x^T w and F_p^T w along `moves` of x and p, with w held.

        Args:
            saved: The launches of the function at the solution.
            moves: The tangents of the unknown and of the parameters.
            w: The adjoint solution.
            elsewhere: The adjoints of the function's other outputs.
            elsewhere_dots: The tangents of those.
            wrt: The unknown and the parameters.
        """
        seeds = self.seeds(w, elsewhere)
        _, found = push_pull(saved.launches, moves, seeds, {**elsewhere_dots}, wrt)
        return {one: found[one.origin].to_numpy() for one in wrt}

    @property
    def _targets(self) -> list[Field]:
        """The fields whose adjoints follow from the solution's: the parameters, and halos."""
        x = self.function.x
        return [*self._wanted, *(x.leaves if x.is_split else ())]

    @property
    def _wanted(self) -> list[Field]:
        """The parameters whose gradients are computed."""
        wanted = [one for one in self.reads if is_float(one.element)]
        return [one for one in wanted if self._all or one.has_grads]

    def _elsewhere(self, then: ReverseContext) -> Cotangents:
        """Return the adjoints of the function's other outputs, or the tangents of these."""
        floats = [one for one in self.writes if is_float(one.element)]
        return self._varying({one: incoming(then, one) for one in floats})

    def _varying(self, derivatives: Mapping[Field, npt.NDArray[Any]]) -> Cotangents:
        """Return the derivatives that are not zero on all ranks, which make the same steps then."""
        flags = self.function.x.space.any([bool(one.any()) for one in derivatives.values()])
        pairs = zip(derivatives.items(), flags, strict=True)
        return {field: values for (field, values), flag in pairs if flag}

    def _solved(self, saved: Solved, x_bar: Vector) -> Vector:
        """Return the adjoint solution, or its tangent."""
        found = self.system(saved, transposed, x_bar)
        if not found.converged:
            self._complain("adjoint", "gradient", found)
        return found.x

    def forward(self) -> OpaqueStep:
        """Return the step whose reverse pushes tangents through the solver."""
        return _ImplicitTangent(self)

    def push(self, then: ReverseContext, saved: Solved) -> None:
        """Solve for the tangent of the solution, and push it on to the function's other outputs."""
        x = self.function.x
        given = {one: tangent_of(then, one) for one in self.reads if is_float(one.element)}
        # Fields that do not vary are left out: a step without tangents may read them.
        dots = self._varying(given)
        halos = x.halos(tangent_of(then, leaf) for leaf in x.leaves)
        along = dots | (dict(zip(x.leaves, halos, strict=True)) if x.is_split else {})
        tangent = self.system(saved, pushed, self.driven(saved, along, then))
        if not tangent.converged:
            self._complain("tangent", "tangent", tangent)
        parts = zip(x.leaves, split(x, tangent.x), halos, strict=True)
        moved = {leaf: part + halo for leaf, part, halo in parts}
        floats = [one for one in self.writes if is_float(one.element)]
        if floats:
            moved |= push(saved.launches, {**moved, **dots}, floats)
        for one, values in moved.items():
            grad_after(then, one).from_numpy(values)

    @abstractmethod
    def system(self, saved: Solved, times: Times, b: Vector) -> LinearSolution:
        """Solve the linear system for the adjoint or the tangent of the solution.

        Args:
            saved: The launches of the function at the solution.
            times: `transposed` for the adjoint, `pushed` for the tangent.
            b: The adjoint of the solution; or the result of `driven`.
        """

    def driven(self, saved: Solved, dots: Tangents, then: ReverseContext) -> Vector:
        """Return (dF/dp) p_dot, the tangent of the function's result with x held.

        Args:
            saved: The launches of the function at the solution.
            dots: The tangents of the fields that the function reads.
            then: The fields of the step with all tangents.
        """
        out = self.function.out
        found = push(saved.launches, dots, out.leaves)
        return joined(out, [found[leaf] for leaf in out.leaves])

    def spread(
        self, saved: Solved, w: Vector, elsewhere: Cotangents, wanted: Sequence[Field]
    ) -> Cotangents:
        """Return the adjoints of the parameters.

        Args:
            saved: The launches of the function at the solution.
            w: The adjoint solution.
            elsewhere: The adjoints of the function's other outputs.
            wanted: The parameters.
        """
        found = saved.launches.pull(self.seeds(w, elsewhere), wanted) if wanted else {}
        return {one: bar.buffer.array() for one, bar in found.items()}

    def seeds(self, w: Vector, elsewhere: Cotangents) -> dict[ArrayLike, Any]:
        """Return the adjoints of the function's outputs, which lead to the parameters' adjoints."""
        out = self.function.out
        return {**dict(zip(out.leaves, split(out, w), strict=True)), **elsewhere}

    def _complain(self, what: str, result: str, found: LinearSolution) -> None:
        text = (
            f"The {what} of {self.name} did not converge: residual {found.residual:.3g} after "
            f"{counted(found.iterations, 'iteration')}; {found.reason}. The {result} has an error "
            "of that size. Solve to a smaller tol, or accept it with a larger adjoint_tol."
        )
        if self._strict:
            raise SolverError(text)
        warnings.warn(NotConverged(text), stacklevel=2)


class _ImplicitTangent(OpaqueStep):
    """A solver whose reverse pushes tangents."""

    def __init__(self, rule: ImplicitRule) -> None:
        super().__init__(rule.name, rule.uses)
        self._rule = rule

    def run(self) -> Solved:
        """Solve, and launch the function once more at the solution."""
        return self._rule.run()

    def reverse(self, then: ReverseContext, saved: Solved) -> None:
        """Push tangents to the solution."""
        self._rule.push(then, saved)


def solve_on_tape(
    rule: type[ImplicitRule],
    name: str,
    function: Function,
    solve: Callable[[], SolverResult],
    accuracy: float | None,
    strict: bool,
) -> SolverResult:
    """Solve, as one step of the open tape if there is one; arguments as for `ImplicitRule`."""
    if RECORDING.get().recorder is None:
        return solve()
    return perform(rule(name, function, solve, accuracy, strict)).result


def incoming(then: ReverseContext, field: Field) -> npt.NDArray[Any]:
    """Return the gradient with respect to the contents of a field after a step, zeros for None."""
    bar = then[field].grad_in
    return np.zeros(field.shape) if bar is None else bar.to_numpy()


def grad_after(then: ReverseContext, field: Field) -> Field:
    """Return the gradient or tangent of the contents of a field after a step."""
    found = then[field].grad_in
    assert found is not None
    return found


def grad_before(then: ReverseContext, field: Field) -> Field:
    """Return the gradient or tangent of the contents of a field before a step."""
    found = then[field].grad_out
    assert found is not None
    return found


def tangent_of(then: ReverseContext, field: Field) -> npt.NDArray[Any]:
    """Return the tangent of the contents of a field before a step."""
    return grad_before(then, field).to_numpy()


def transposed(function: Function, launches: Pullback, w: Vector) -> Vector:
    """Return J^T w with the Jacobian of a function by its unknown."""
    seeds: dict[ArrayLike, Any] = dict(
        zip(function.out.leaves, split(function.out, w), strict=True)
    )
    return pick(function.x, launches.pull(seeds, function.x.leaves))


def pushed(function: Function, launches: Pullback, v: Vector) -> Vector:
    """Return J v with the Jacobian of a function by its unknown."""
    tangents = dict(zip(function.x.leaves, split(function.x, v), strict=True))
    moved = push(launches, tangents, function.out.leaves)
    return joined(function.out, [moved[leaf] for leaf in function.out.leaves])
