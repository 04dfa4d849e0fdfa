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

import difftile as dt
from difftile.diagnostics import LaunchError, NotConverged, SolverError, counted
from difftile.fields.recording import RECORDING
from difftile.linearization.derivatives import pull_parts, push, push_parts
from difftile.linearization.pullback import Pullback
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.recording.work_fields import add_to
from difftile.solvers.function import Function
from difftile.solvers.krylov import LinearSolution
from difftile.solvers.result import SolverResult
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, joined, pick, precision, split

Cotangents: TypeAlias = dict[dt.Field, "npt.NDArray[Any]"]
Tangents: TypeAlias = dict[dt.Field, "npt.NDArray[Any]"]

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
        inputs: Sequence[dt.Field] = (),
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
        self.derivative([then], saved)

    def derivative(self, at: Sequence[ReverseContext], saved: Solved) -> bool:
        """Push tangents through the reverse, whose linear system is differentiated.

        From F_x^T w = -x_bar follows F_x^T w_dot = -(x_bar_dot + d(F_x^T) w), and from
        p_bar = F_p^T w likewise p_bar_dot = F_p^T w_dot + d(F_p^T) w. So each part of w is one more
        solution, and what is added to x_bar is that part of F_x^T w without it.
        """
        x, w = self.function.x, list[Vector]()
        moves = self._moves(at)
        elsewhere = [self._elsewhere(one) for one in at]
        bars = [[incoming(one, leaf) for leaf in x.leaves] for one in at]
        for part, each in enumerate(bars):
            x_bar = joined(x, each)
            if part or elsewhere[0]:  # the function has computed its other outputs from x
                known = moves[: 1 << part.bit_length()], [*w, None], elsewhere[: part + 1]
                found = self.products(saved, *known, x.leaves)[part]
                x_bar += joined(x, [found[leaf] for leaf in x.leaves])
            w.append(self._solved(saved, x_bar))
        spread = self.products(saved, moves, w, elsewhere, self._targets)
        for then, each, found in zip(at, bars, spread, strict=True):
            self._add(then, each, found)
        return True

    def _moves(self, at: Sequence[ReverseContext]) -> list[Tangents]:
        """Return the tangents of the unknown and of the parameters, by part; none for part 0."""
        known = [
            one for one in self.reads if one.numpy_dtype.kind == "f" and one not in self.writes
        ]
        moves: list[Tangents] = [{}]
        for along in at[1:]:
            # Fields that do not vary are left out: a step without tangents may read them.
            moves.append(self._varying({one: along[one].to_numpy() for one in known}))
            moves[-1] |= {leaf: along[leaf].to_numpy() for leaf in self.function.x.leaves}
        return moves

    def products(
        self,
        saved: Solved,
        moves: Sequence[Tangents],
        w: Sequence[Vector | None],
        elsewhere: Sequence[Cotangents],
        wrt: Sequence[dt.Field],
    ) -> list[Cotangents]:
        """Return F_x^T w or F_p^T w, the adjoints of the parameters, and their tangents, by part.

        Args:
            saved: The launches of the function at the solution.
            moves: The tangents of the unknown and of the parameters.
            w: The adjoint solution, and its tangents; None for zero.
            elsewhere: The adjoints of the function's other outputs, and their tangents.
            wrt: The unknown or the parameters.
        """
        if not wrt:
            return [{} for _ in moves]
        seeds = [self.seeds(one, other) for one, other in zip(w, elsewhere, strict=True)]
        return arrays_of(pull_parts(saved.launches, moves, seeds, wrt), wrt)

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

    @property
    def _targets(self) -> list[dt.Field]:
        """The fields whose adjoints follow from the solution's: the parameters, and halos."""
        x = self.function.x
        return [*self._wanted, *(x.leaves if x.is_split else ())]

    @property
    def _wanted(self) -> list[dt.Field]:
        """The parameters whose gradients are computed."""
        wanted = [one for one in self.reads if one.numpy_dtype.kind == "f"]
        return [one for one in wanted if self._all or one.has_grads]

    def _elsewhere(self, then: ReverseContext) -> Cotangents:
        """Return the adjoints of the function's other outputs, or the tangents of these."""
        floats = [one for one in self.writes if one.numpy_dtype.kind == "f"]
        return self._varying({one: incoming(then, one) for one in floats})

    def _varying(self, derivatives: Mapping[dt.Field, npt.NDArray[Any]]) -> Cotangents:
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

    def push(self, at: Sequence[ReverseContext], saved: Solved) -> bool:
        """Solve for the tangent of the solution, and push it on to the function's other outputs.

        Of tangents along further directions each part is one more solution.
        """
        x, first = self.function.x, len(at)
        floats = [one for one in self.reads if one.numpy_dtype.kind == "f"]
        moves = self._moves(at)
        for then in at:
            moves.append(self._varying({one: tangent_of(then, one) for one in floats}))
        for part, then in enumerate(at, first):
            halos = x.halos(tangent_of(then, leaf) for leaf in x.leaves)
            if x.is_split:
                moves[part] |= dict(zip(x.leaves, halos, strict=True))
            driven = self.driven(saved, moves[: part + 1], then)
            tangent = self.system(saved, pushed, driven)
            if not tangent.converged:
                self._complain("tangent", "tangent", tangent)
            parts = zip(x.leaves, split(x, tangent.x), halos, strict=True)
            moves[part] |= {leaf: own + halo for leaf, own, halo in parts}
        others = [one for one in self.writes if one.numpy_dtype.kind == "f"]
        left = push_parts(saved.launches, moves, others) if others else [{} for _ in moves]
        for part, then in enumerate(at, first):
            moved = {leaf: moves[part][leaf] for leaf in x.leaves} | left[part]
            for one, values in moved.items():
                grad_after(then, one).from_numpy(values)
        return True

    @abstractmethod
    def system(self, saved: Solved, times: Times, b: Vector) -> LinearSolution:
        """Solve the linear system for the adjoint or the tangent of the solution.

        Args:
            saved: The launches of the function at the solution.
            times: `transposed` for the adjoint, `pushed` for the tangent.
            b: The adjoint of the solution; or the result of `driven`.
        """

    def driven(self, saved: Solved, moves: Sequence[Tangents], then: ReverseContext) -> Vector:
        """Return (dF/dp) p_dot, the tangent of the function's result with x held.

        Args:
            saved: The launches of the function at the solution.
            moves: The tangents of the fields that the function reads, by part; the result is the
                last part.
            then: The fields of the step with all tangents.
        """
        out = self.function.out
        found = push_parts(saved.launches, moves, out.leaves)[len(moves) - 1]
        return joined(out, [found[leaf] for leaf in out.leaves])

    def seeds(self, w: Vector | None, elsewhere: Cotangents) -> dict[dt.ArrayLike, Any]:
        """Return the adjoints of the function's outputs, which lead to the parameters' adjoints."""
        out = self.function.out
        own = {} if w is None else dict(zip(out.leaves, split(out, w), strict=True))
        return {**own, **elsewhere}

    def _complain(self, what: str, result: str, found: LinearSolution) -> None:
        text = (
            f"The {what} of {self.name} did not converge: residual {found.residual:.3g} after "
            f"{counted(found.iterations, 'iteration')}; {found.reason}. The {result} has an error "
            "of that size. Solve to a smaller tol, or accept it with a larger adjoint_tol."
        )
        if self._strict:
            raise SolverError(text)
        warnings.warn(NotConverged(text), stacklevel=2)


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


def arrays_of(
    parts: Sequence[Mapping[dt.Field, dt.Field]], fields: Sequence[dt.Field]
) -> list[Cotangents]:
    """Return the contents of what belongs to some fields, by part."""
    return [{one: each[one.origin].to_numpy() for one in fields} for each in parts]


def incoming(then: ReverseContext, field: dt.Field) -> npt.NDArray[Any]:
    """Return the gradient with respect to the contents of a field after a step, zeros for None."""
    bar = then[field].grad_in
    return np.zeros(field.shape) if bar is None else bar.to_numpy()


def grad_after(then: ReverseContext, field: dt.Field) -> dt.Field:
    """Return the gradient or tangent of the contents of a field after a step."""
    found = then[field].grad_in
    assert found is not None
    return found


def grad_before(then: ReverseContext, field: dt.Field) -> dt.Field:
    """Return the gradient or tangent of the contents of a field before a step."""
    found = then[field].grad_out
    assert found is not None
    return found


def tangent_of(then: ReverseContext, field: dt.Field) -> npt.NDArray[Any]:
    """Return the tangent of the contents of a field before a step."""
    return grad_before(then, field).to_numpy()


def transposed(function: Function, launches: Pullback, w: Vector) -> Vector:
    """Return J^T w with the Jacobian of a function by its unknown."""
    seeds: dict[dt.ArrayLike, Any] = dict(
        zip(function.out.leaves, split(function.out, w), strict=True)
    )
    return pick(function.x, launches.pull(seeds, function.x.leaves))


def pushed(function: Function, launches: Pullback, v: Vector) -> Vector:
    """Return J v with the Jacobian of a function by its unknown."""
    tangents = dict(zip(function.x.leaves, split(function.x, v), strict=True))
    moved = push(launches, tangents, function.out.leaves)
    return joined(function.out, [moved[leaf] for leaf in function.out.leaves])
