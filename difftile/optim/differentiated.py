"""A function that launches kernels and runs no tape, as a function of vectors with derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import TapeError
from difftile.linearization.flat import FlatDerivative, FlatFields
from difftile.linearization.pullback import Pullback
from difftile.optim.parameters import NamedParameter
from difftile.runtime.number_flow import field_of
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, joined, split, write


class Differentiated:
    """The values of a function at points, its Jacobian, and second derivatives of its sums.

    The launches at the latest point are kept for derivatives; those at another one run again.

    Args:
        f: Returns a field, or a number that follows from results of kernels, or several of them.
        parameters: The fields that make up a point.
        what: The name of the caller in errors.
    """

    def __init__(
        self, f: Callable[[], Any], parameters: Sequence[NamedParameter], what: str
    ) -> None:
        self._f = f
        self._state = State([one.field for one in parameters])
        self._inputs = FlatFields(one.field.origin for one in parameters)
        self._what = what
        self._point: Vector | None = None
        self._derivative: FlatDerivative | None = None
        self._values = np.zeros(0)
        self.shapes: list[tuple[int, ...]] = []

    def values(self, x: Vector) -> Vector:
        """Return the numbers that the function returns at a point, one after the other."""
        self._at(x)
        return self._values

    def jacobian(self, x: Vector) -> npt.NDArray[np.float64]:
        """Return the Jacobian at a point."""
        derivative = self._at(x)
        rows, columns = derivative.shape
        if rows <= columns:
            found = derivative.pull(np.eye(rows)).T
        else:
            found = derivative.push(np.eye(columns))
        return found.astype(np.float64)

    def curve(self, x: Vector, columns: Vector, weights: Vector) -> npt.NDArray[np.float64]:
        """Return products of the Hessian of a weighted sum of the values at a point.

        Args:
            x: The point.
            columns: A vector, or several as columns.
            weights: The factors of the values in the sum.
        """
        matrix = columns.reshape(len(x), -1)
        return self._at(x).curve(matrix, weights).astype(np.float64).reshape(columns.shape)

    def release(self) -> None:
        """Let go of what derivatives need."""
        if self._derivative is not None:
            self._derivative.linear.release()
        self._point = self._derivative = None

    def _at(self, x: Vector) -> FlatDerivative:
        """Run the function at a point, unless that is the latest one.

        Raises:
            TapeError: It does not return fields of floats.
        """
        x = joined(self._state, split(self._state, x))  # rounded to the type of the fields
        known = self._derivative, self._point
        if known[0] is not None and known[1] is not None and np.array_equal(x, known[1]):
            return known[0]
        self.release()
        write(self._state, x)
        returned: list[dt.Field] = []
        linear = Pullback(lambda: returned.extend(self._fields(self._f())))
        outputs = FlatFields(returned)
        self.shapes = outputs.shapes
        values = outputs.joined({one: one.to_numpy()[None] for one in returned})
        self._values = values[:, 0].astype(np.float64)
        self._derivative = FlatDerivative(linear, self._inputs, outputs)
        self._point = x
        return self._derivative

    def _fields(self, returned: Any) -> list[dt.Field]:
        """Return the fields that hold what the function has returned, each with memory of its own.

        Raises:
            TapeError: Something carries no derivative.
        """
        several: list[Any] = (
            list(cast("Sequence[Any]", returned))
            if isinstance(returned, (tuple, list))
            else [returned]
        )
        found: list[dt.Field] = []
        for given in several:
            follows = isinstance(given, dt.Number) and field_of(given) is not None
            one = dt.value(given) if follows else given
            if not isinstance(one, dt.ArrayLike) or one.numpy_dtype.kind != "f":
                raise TapeError(
                    f"{self._what}: the function returned {one!r}, through which no derivative "
                    "passes. Return the field of floats that the kernels write."
                )
            if isinstance(one, dt.Field) and all(
                one.storage is not other.storage for other in found
            ):
                found.append(one)
            else:
                found.append(dt.empty_like(one, grad=False))
                found[-1].copy_from(one)
        return found
