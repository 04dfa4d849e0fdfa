"""A user's function that computes a loss, as a function of the numbers of some fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import LaunchError, LossNotFinite, TapeError, brief
from difftile.optim.differentiated import Differentiated
from difftile.optim.parameters import NamedParameter, check_gradient
from difftile.recording.tapes import TAPES
from difftile.solvers.space import space_of
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, joined, read, write


@dataclass(frozen=True, slots=True)
class Point:
    """The objective at a point.

    Args:
        x: The point: the numbers of all fields, in double precision, as the fields hold them.
        value: The loss; infinite where it is NaN.
        gradient: The gradient, which has no meaning where the loss is infinite.
        is_smooth: Whether the gradient is finite, on all ranks.
    """

    x: Vector
    value: float
    gradient: Vector
    is_smooth: bool = True

    @property
    def is_finite(self) -> bool:
        """Whether value and gradient are finite."""
        return math.isfinite(self.value) and self.is_smooth


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
            raise LaunchError(f"{what} takes a function that returns the loss, not {brief(f)}.")
        self._f = f
        self._parameters = parameters
        self._what = what
        self._private = Differentiated(f, parameters, what) if differentiate else None
        self._runs_tape: bool | None = None if differentiate else True  # None: not known yet
        self._latest: tuple[Vector, Point] | None = None
        self.state = State([one.field for one in parameters])
        self.space = space_of(self.state.leaves, mixed=True)
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
        latest = self._latest
        if latest is not None and not self.space.any([not np.array_equal(latest[0], x)])[0]:
            return latest[1]
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
        dt.zero_grads([one.field for one in self._parameters])  # tapes clear only their own
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
        gradients = [one.grad.buffer.array() for one in self._parameters]
        self._check_gradients(gradients)
        gradient = joined(self.state, gradients)
        return Point(x, value, gradient, self.space.is_finite(gradient))

    def _check_gradients(self, gradients: Sequence[npt.NDArray[Any]]) -> None:
        """Check that the gradients of halos, and of whole fields, have gone to their owners.

        Raises:
            TapeError: Some are left in halos.
            RankError: Ranks have different gradients of a field that each of them holds whole.
        """
        if not self.state.is_split:
            return
        pairs = list(zip(self.state.leaves, gradients, strict=True))
        left = [_in_halos(one, array) for one, array in pairs]
        for one, found in zip(self._parameters, self.space.any(left), strict=True):
            if found:
                raise TapeError(
                    f"{self._what}: the tape has left gradients in the halos of {one}, whose "
                    "elements other ranks own. Let the function exchange the field before it "
                    "reads the halos: 'x.exchange()', or exchange a copy."
                )
        whole = [crc32(array.tobytes()) for one, array in pairs if one.split is None]
        self.space.check_same(
            whole,
            f"{self._what}: the gradients of fields that each rank holds whole are not the same on "
            "all ranks. Add them up after the tape: dt.distributed.all_reduce(fields).",
        )

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
        gradient = self._private.jacobian(x)[0]
        return Point(x, value, gradient, self.space.is_finite(gradient))

    def _call(self, x: Vector) -> float:
        try:
            returned = self._f()
        except LossNotFinite:
            return math.inf
        return self._number(returned, x)

    def _number(self, returned: Any, x: Vector) -> float:
        """Return what the function has returned as a number; infinite where it is NaN."""
        if isinstance(returned, dt.ArrayLike):
            with dt.no_grad():
                returned = returned.to_numpy()
        try:
            value = float(np.asarray(returned, dtype=np.float64).reshape(()))
        except (TypeError, ValueError):
            raise LaunchError(
                f"{self._what}: the function returns the loss, a field of one element or a "
                f"number, not {brief(returned)}."
            ) from None
        value = value if math.isfinite(value) else math.inf
        self.space.check_same(
            [value],
            f"{self._what}: the ranks have different losses. Return that of all of them: add up "
            "the losses of the ranks on the tape, dt.distributed.sum(loss).",
        )
        if value < self.best[0]:
            self.best = value, x.copy()
        return value


def _in_halos(field: dt.Field, gradient: npt.NDArray[Any]) -> bool:
    """Tell whether the gradient of a field has numbers other than zero in halos.

    Cells outside of the domain, which no exchange fills, are no halos: they do not move.
    """
    halos = () if field.split is None else field.split.halos
    return any(bool(np.count_nonzero(gradient[box])) for box in halos)
