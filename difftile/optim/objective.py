"""A user's function that computes a loss, as a function of the numbers of some fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError, LossNotFinite, TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import zero_grads
from difftile.optim.differentiated import Differentiated
from difftile.optim.parameters import NamedParameter, check_gradient
from difftile.recording.tapes import TAPES
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, joined, read, write


@dataclass(frozen=True, slots=True)
class Point:
    """The objective at a point.

    Args:
        x: The point: the numbers of all fields, in double precision, as the fields hold them.
        value: The loss; infinite where it is NaN.
        gradient: The gradient, which has no meaning where the loss is infinite.
    """

    x: Vector
    value: float
    gradient: Vector

    @property
    def is_finite(self) -> bool:
        """Whether value and gradient are finite."""
        return math.isfinite(self.value) and bool(np.isfinite(self.gradient).all())


class Objective:
    """A Python function that computes a loss from fields.

    Args:
        f: Returns the loss, a field of one element or a number, and runs a `dt.Tape` that leaves
            the gradients in the fields.
        parameters: The fields.
        what: The name of the caller in errors.
        differentiate: Whether the function may run no tape, and is differentiated here then.
    """

    def __init__(
        self,
        f: Callable[[], Any],
        parameters: Sequence[NamedParameter],
        what: str,
        *,
        differentiate: bool = False,
    ) -> None:
        if not callable(f):
            raise LaunchError(f"{what} takes a function that returns the loss, not {f!r}.")
        self._f = f
        self._parameters = parameters
        self._what = what
        self._private = Differentiated(f, parameters, what) if differentiate else None
        self._runs_tape: bool | None = None if differentiate else True  # None: not known yet
        self._latest: tuple[Vector, Point] | None = None
        self.state = State([one.field for one in parameters])
        self.best = math.inf, read(self.state)

    @property
    def curvature(self) -> Differentiated | None:
        """The function as one that has second derivatives, unless it runs a tape of its own."""
        return None if self._runs_tape else self._private

    def move(self, x: Vector) -> None:
        """Set the fields."""
        write(self.state, x)

    def loss(self, x: Vector) -> float:
        """Return the loss at a point, without its gradient."""
        self.move(x)
        return self._call(read(self.state))

    def at(self, x: Vector) -> Point:
        """Return the loss and its gradient at a point, rounded to the type of the fields.

        Raises:
            TapeError: The function computed no gradient.
        """
        if self._latest is not None and np.array_equal(self._latest[0], x):
            return self._latest[1]
        self.move(x)
        point = self.here()
        self._latest = x.copy(), point
        return point

    def here(self) -> Point:
        """Return the loss and its gradient at the contents of the fields before the call."""
        x = read(self.state)
        if self._runs_tape is False:
            return self._differentiated(x)
        before = TAPES.replays
        zero_grads([one.field for one in self._parameters])  # tapes clear those that they meet
        value = self._call(x)
        if not math.isfinite(value):
            return Point(x, math.inf, np.full_like(x, np.nan))
        if TAPES.replays == before:
            if self._runs_tape is None:
                self._runs_tape = False
                return self._differentiated(x)
            raise TapeError(
                f"{self._what}: the function computed no gradient. Let it launch kernels "
                "in 'with dt.Tape(loss):' and return the loss."
            )
        self._runs_tape = True
        for one in self._parameters:
            check_gradient(one.field, self._what)
        return Point(x, value, joined([one.grad.buffer.array() for one in self._parameters]))

    def release(self) -> None:
        """Let go of what derivatives need."""
        if self._private is not None:
            self._private.release()

    def _differentiated(self, x: Vector) -> Point:
        """Return the loss and its gradient at a point, of a function that runs no tape."""
        assert self._private is not None
        value = self._number(self._private.values(x), x)
        if not math.isfinite(value):
            return Point(x, math.inf, np.full_like(x, np.nan))
        return Point(x, value, self._private.jacobian(x)[0])

    def _call(self, x: Vector) -> float:
        try:
            returned = self._f()
        except LossNotFinite:
            return math.inf
        return self._number(returned, x)

    def _number(self, returned: Any, x: Vector) -> float:
        """Return what the function has returned as a number; infinite where it is NaN."""
        if isinstance(returned, ArrayLike):
            returned = returned.to_numpy()
        try:
            value = float(np.asarray(returned, dtype=np.float64).reshape(()))
        except (TypeError, ValueError):
            raise LaunchError(
                f"{self._what}: the function returns the loss, a field of one element or a "
                f"number, not {returned!r}."
            ) from None
        if not math.isfinite(value):
            return math.inf
        if value < self.best[0]:
            self.best = value, x.copy()
        return value
