"""L-BFGS: a quasi-Newton direction from the last gradients, and a line search along it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import LaunchError, SolverError, counted
from difftile.fields.exchange import as_integer
from difftile.fields.recording import check_no_tape
from difftile.fields.rows import Change, rows_of
from difftile.habits import taught
from difftile.markup import html_block, html_table
from difftile.optim.box import Box, EachBound, box_of
from difftile.optim.gradient_norm import first_not_finite, owned_of
from difftile.optim.line_search import search
from difftile.optim.objective import Objective, Point
from difftile.optim.parameters import (
    FieldsLike,
    after,
    follow_rows,
    in_short,
    number,
    parameters_of,
)
from difftile.optim.saved import Wanted, restored
from difftile.solvers.space import Space, Vector, space_of
from difftile.solvers.state import State
from difftile.solvers.vectors import read
from difftile.tracebacks import boundary


@final
@taught("optimiser", "An optimiser")
class LBFGS:
    """Minimises a loss that is the same function throughout, in few evaluations.

    `step(f)` calls a function that computes the loss and its gradient, several times:

        def f():
            with dt.Tape(loss):
                launch_kernels()
            return loss

        optimiser = dt.optim.LBFGS(fields)
        while not optimiser.finished:
            value = optimiser.step(f)

    The direction comes from the two loops over the last differences of gradients, its length from a
    line search for the strong Wolfe conditions (Nocedal and Wright, Numerical Optimization, 2nd
    ed., algorithms 7.4 and 7.5). A trial where the loss is not finite counts as too far. The
    vectors are in double precision on the host, as in Krylov methods; on the CPU each evaluation
    costs two copies. The method does not suit random or noisy losses.

    With bounds, components that a bound holds stay there; the direction is computed for the other
    components, and the search goes along its projection (Bertsekas, Projected Newton methods for
    optimization problems with simple constraints, SIAM J. Control Optim. 20, 1982).

    Args:
        fields: The fields to move: a field of floats with a gradient, a field of structs,
            `dt.Rows`, a sequence of those, or a mapping from names to them.
        lr: The first length that a line search tries, in units of the direction.
        iterations: The largest number of iterations of a step.
        history: The number of differences that are remembered.
        tol: The largest component of a gradient that counts as zero; within bounds, of the step to
            the projection of x - gradient.
        rtol: The decrease of the loss in an iteration, as a part of the loss, that counts as none;
            by default only an iteration that finds no lower loss ends the search.
        low: The least value of each component: a number, an array that fits the shape of a field,
            None for no bound, also inside of arrays; or a mapping from fields to such values.
        high: The largest one.

    Raises:
        FieldError: A field has no gradient, is given twice, or cannot be moved.
        LaunchError: An option is out of range.
    """

    @boundary
    def __init__(
        self,
        fields: FieldsLike,
        lr: float = 1.0,
        *,
        iterations: int = 20,
        history: int = 10,
        tol: float = 1e-7,
        rtol: float = 0.0,
        low: EachBound = None,
        high: EachBound = None,
    ) -> None:
        self.parameters = parameters_of(fields, self._who)
        self.lr = number(lr, f"{self._who}: lr", above=True)
        self.tol = number(tol, f"{self._who}: tol")
        self.rtol = number(rtol, f"{self._who}: rtol", below=1.0)
        self.low, self.high = low, high
        self._box_of(State([one.field for one in self.parameters]))
        for name, value in (("iterations", iterations), ("history", history)):
            if (as_integer(value) or 0) < 1:
                raise LaunchError(f"{self._who}: {name} is an integer from 1 on, not {value!r}.")
        self.iterations = iterations
        self.history = history
        self.steps = 0
        self.finished = False
        self.reason = ""
        self._moves: list[Vector] = []  # differences of x, and of gradients, the oldest first
        self._turns: list[Vector] = []
        follow_rows(self.parameters, self)

    @property
    def _who(self) -> str:
        """The optimiser in messages."""
        return "dt.optim.LBFGS"

    def __repr__(self) -> str:
        return f"<{self._who} of {in_short(self.parameters)}: {', '.join(self._progress())}>"

    def _repr_html_(self) -> str:
        rows = [(one.name, str(one.field.element), str(one.field.shape)) for one in self.parameters]
        title = f"{self._who}: {', '.join(self._progress())}"
        return html_block(title, html_table(("field", "type", "shape"), rows))

    def _progress(self) -> Iterator[str]:
        yield counted(self.steps, "step")
        if self.finished:
            yield self.reason.partition(" ")[0]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_rows": [rows_of(one.field) for one in self.parameters]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: value for name, value in state.items() if name != "_rows"})
        follow_rows(self.parameters, self)

    @boundary
    def step(self, f: Callable[[], Any]) -> float:
        """Make some iterations and return the loss at the point that the fields now hold.

        The step ends early, and the optimiser is `finished`, where the gradient is zero, where the
        loss hardly falls any more, or where no lower loss is found along the direction, at the
        limit of the precision; `reason` says which, with the numbers. Fields outside of the bounds
        are moved there first. The fields hold the best point, also if the function raises an error;
        their gradients come from the last trial.

        Args:
            f: A function that runs a tape and returns the loss: a field of one element, or a
                number.

        Raises:
            TapeError: A tape is open, or the function ran none.
            SolverError: The loss or its gradient is not finite to begin with.
        """
        check_no_tape(f"{self._who}: step()")
        objective = Objective(f, self.parameters, f"{self._who}: step()")
        box = self._box_of(objective.state)
        reached = read(objective.state)
        if box is not None:
            reached = box.project(reached)
            objective.move(reached)
        try:
            now, lowered = self._first(objective), math.inf
            self.finished, self.reason = False, ""
            for made in range(self.iterations + 1):
                self.reason = self._ending(now, box, lowered)
                self.finished = bool(self.reason)
                if self.finished or made == self.iterations:
                    break
                new = self._next(objective, now, box)
                if new is None:
                    self.finished = True
                    self.reason = self._said("stopped", "no lower loss was found", now, box)
                    break
                self._remember(new.x - now.x, new.gradient - now.gradient)
                lowered = (now.value - new.value) / max(abs(now.value), abs(new.value))
                now, reached = new, new.x
                self.steps += 1
            self.reason = self.reason or self._said("not finished", "", now, box)
        finally:
            objective.move(reached)  # the last trial may have been elsewhere
        return now.value

    def _ending(self, now: Point, box: Box | None, lowered: float) -> str:
        """Return the reason why a point is the minimum; empty to go on.

        Args:
            now: The point.
            box: The bounds.
            lowered: The decrease of the loss in the last iteration, as a part of the loss.
        """
        if self._rest(now, box) <= self.tol:
            return self._said("converged", "", now, box)
        if lowered <= self.rtol and self.rtol > 0.0:
            part = f"the loss fell by {lowered:.2g} of its value, within rtol = {self.rtol:g}"
            return self._said("converged", part, now, box)
        return ""

    def _rest(self, now: Point, box: Box | None) -> float:
        """Return the largest component of a gradient, without what bounds hold."""
        return self._space.largest(now.gradient) if box is None else box.rest(now.x, now.gradient)

    def _said(self, word: str, why: str, now: Point, box: Box | None) -> str:
        rest = self._rest(now, box)
        within = "within" if rest <= self.tol else "above"
        of = "gradient" if box is None else "gradient within the bounds"
        largest = f"the largest component of the {of} is {rest:.2g}, {within} tol = {self.tol:g}"
        return f"{word} after {counted(self.steps, 'iteration')}: {why and why + '; '}{largest}"

    def _box_of(self, state: State) -> Box | None:
        return box_of(self.low, self.high, state, self.parameters, self._who)

    def _first(self, objective: Objective) -> Point:
        now = objective.here()
        if not np.isfinite(now.value):
            raise SolverError(
                f"{self._who}: the loss is not finite to begin with. Start from fields where it is."
            )
        if not now.is_finite:
            raise SolverError(
                f"{self._who}: {first_not_finite(self.parameters, owned_of(self.parameters))}."
            )
        return now

    def _next(self, objective: Objective, now: Point, box: Box | None) -> Point | None:
        """Return a point with a lower loss, or None if neither direction leads to one."""
        space = objective.space
        slope = now.gradient
        if box is not None:  # numbers that a bound holds have no part in the direction
            slope = np.where(box.free(now.x, now.gradient), now.gradient, 0.0)
            now = replace(now, x=box.settled(now.x, now.gradient))
        free = None if box is None else slope != 0.0
        if self._moves:
            direction = self._direction(slope, free)
            if direction is not None and space.dot(direction, slope) < 0.0:
                found = search(objective.at, now, direction, self.lr, box=box, space=space)
                if found is not None:
                    return found
            self._moves, self._turns = [], []
        # Without a history the scale is unknown: the first step moves by about 1 in all.
        first = self.lr * min(1.0, 1.0 / space.sum_of_magnitudes(slope))
        return search(objective.at, now, -slope, first, box=box, space=space)

    def _direction(self, gradient: Vector, free: npt.NDArray[np.bool_] | None) -> Vector | None:
        """Return minus the approximate inverse of the Hessian times a gradient.

        Args:
            gradient: The gradient.
            free: The numbers that move, where others do not: the Hessian is that of the former.

        Returns:
            The direction, or None where the history says nothing about it.
        """
        shares: list[float] = []
        space = self._space
        pairs = list(zip(self._moves, self._turns, strict=True))
        if free is not None:
            pairs = [(move * free, turn * free) for move, turn in pairs]
            pairs = [pair for pair in pairs if _is_convex(*pair, space)]
            if not pairs:
                return None
        *bends, turned = space.dots(*pairs, (pairs[-1][1], pairs[-1][1]))  # move . turn
        q = -gradient
        for (move, turn), bend in zip(reversed(pairs), reversed(bends), strict=True):
            share = space.dot(move, q) / bend
            shares.append(share)
            q = q - share * turn
        q = q * (bends[-1] / turned)
        for (move, turn), bend, share in zip(pairs, bends, reversed(shares), strict=True):
            q = q + (share - space.dot(turn, q) / bend) * move
        return q

    def _remember(self, move: Vector, turn: Vector) -> None:
        """Keep a pair of differences, unless the loss has negative curvature along it."""
        if _is_convex(move, turn, self._space):
            self._moves = [*self._moves, move][-self.history :]
            self._turns = [*self._turns, turn][-self.history :]

    def zero_grads(self) -> None:
        """Set the gradients of the fields to zero, as a tape does for its fields."""
        dt.zero_grads([one.field for one in self.parameters])

    def follow(self, change: Change) -> None:
        """Continue with other rows and an empty history, as the loss is another function now."""
        self.parameters = after(self.parameters, change)
        self._moves, self._turns = [], []

    # Saving

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return, as arrays by name, all that later steps depend on except fields and options."""
        return {
            "rule": np.array("LBFGS"),
            "steps": np.array(self.steps),
            "moves": np.array(self._moves).reshape(len(self._moves), self._size),
            "turns": np.array(self._turns).reshape(len(self._moves), self._size),
        }

    @boundary
    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from a state that `state_dict` returned, or `np.load` of it.

        Nothing is changed if an error is raised.

        Raises:
            LaunchError: The state belongs to another optimiser or to other fields, or has numbers
                that no history has.
            DatasetError: The state is in a file that cannot be read.
            TapeError: A tape is open.
        """
        check_no_tape(f"{self._who}: load_state_dict()")
        one = Wanted((None, self._size), np.dtype(np.float64))
        steps, arrays = restored(saved, "LBFGS", {"moves": one, "turns": one})
        moves, turns = ([*arrays[key].astype(np.float64)] for key in ("moves", "turns"))
        # Steps keep only such pairs, and divide by these products.
        with np.errstate(over="ignore", invalid="ignore"):  # infinite then, and refused
            sound = len(moves) == len(turns)
            if sound:
                dots = self._space.dots(
                    *zip(moves, turns, strict=True), *((turn, turn) for turn in turns)
                )
                sound = all(map(math.isfinite, dots)) and min(dots[: len(moves)], default=1.0) > 0.0
        if not sound:
            raise LaunchError(
                f"{self._who}: load_state_dict(): 'moves' and 'turns' must be pairs whose products "
                "are above 0. Take a state that state_dict() returned."
            )
        self.steps, self._moves, self._turns = steps, moves, turns

    @property
    def _size(self) -> int:
        """The numbers of the fields that this rank owns."""
        return sum(
            one.field.inner.size * math.prod(one.field.element_shape) for one in self.parameters
        )

    @property
    def _space(self) -> Space:
        return space_of([one.field for one in self.parameters], mixed=True)


def _is_convex(move: Vector, turn: Vector, space: Space) -> bool:
    """Tell whether the loss has positive curvature along a move."""
    bend, turned = space.dots((move, turn), (turn, turn))
    return bend > 1e-10 * turned
