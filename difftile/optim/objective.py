"""A user's function with a tape in it, as a function of the numbers of some fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError, LossNotFinite, TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import zero_grads
from difftile.optim.parameters import NamedParameter
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
    """A Python function that computes a loss from fields, on a tape.

    Args:
        f: Runs a `dt.Tape` and returns the loss: a field of one element, or a number.
        parameters: The fields.
        what: The name of the caller in errors.
    """

    def __init__(
        self, f: Callable[[], Any], parameters: Sequence[NamedParameter], what: str
    ) -> None:
        if not callable(f):
            raise LaunchError(f"{what} takes a function that returns the loss, not {f!r}.")
        self._f = f
        self._parameters = parameters
        self._what = what
        self.state = State([one.field for one in parameters])
        self.best = math.inf, read(self.state)

    def move(self, x: Vector) -> None:
        """Set the fields."""
        write(self.state, x)

    def loss(self, x: Vector) -> float:
        """Return the loss at a point, without its gradient."""
        self.move(x)
        return self._call(x)

    def at(self, x: Vector) -> Point:
        """Return the loss and its gradient at a point, rounded to the type of the fields.

        Raises:
            TapeError: The function ran no tape.
        """
        self.move(x)
        return self.here()

    def here(self) -> Point:
        """Return the loss and its gradient at the contents of the fields before the call."""
        before = TAPES.replays
        x = read(self.state)
        zero_grads([one.field for one in self._parameters])  # tapes clear those that they meet
        value = self._call(x)
        if not math.isfinite(value):
            return Point(x, math.inf, np.full_like(x, np.nan))
        if TAPES.replays == before:
            raise TapeError(
                f"{self._what}: the function computed no gradient. Let it launch kernels "
                "in 'with dt.Tape(loss):' and return the loss."
            )
        return Point(x, value, joined([one.grad.buffer.array() for one in self._parameters]))

    def _call(self, x: Vector) -> float:
        try:
            returned = self._f()
        except LossNotFinite:
            return math.inf
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
