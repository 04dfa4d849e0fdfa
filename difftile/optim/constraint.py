"""Constraints on functions of fields, and intervals of numbers that may be open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError
from difftile.fields.exchange import as_array
from difftile.optim.differentiated import Differentiated
from difftile.optim.parameters import NamedParameter
from difftile.runtime.scipy import scipy_module
from difftile.solvers.vectors import Vector


@dataclass(frozen=True, slots=True)
class Constraint:
    """Bounds on what a function computes from fields, for `dt.optim.scipy_minimize`.

    `f` launches kernels, on no tape, and returns a field of floats of any shape:

        def lengths():
            measure(x, length)
            return length

        constraints = dt.optim.Constraint(lengths, 1.0, 1.0)  # all are 1

    Its Jacobian, and the products of its second derivatives, are exact.

    Args:
        f: The function; it returns a field, a number that follows from results of kernels, or
            several of those.
        low: The least values: a number or an array that fits the shape of the result; None for
            none, also inside of an array.
        high: The largest values, in the same form.
    """

    f: Callable[[], Any]
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None


class Constrained:
    """A constraint as SciPy takes it.

    Args:
        given: The constraint.
        parameters: The fields that move.
        what: The name of the caller in errors.
    """

    def __init__(self, given: Constraint, parameters: Sequence[NamedParameter], what: str) -> None:
        self._given = given
        self._what = what
        self._function = Differentiated(given.f, parameters, what)
        self.release = self._function.release

    def for_scipy(self, start: Vector, *, second: bool) -> list[Any]:
        """Return constraints of SciPy: on the components that are fixed, and on those in intervals.

        Args:
            start: A point, at which the function runs to see the shape of its result.
            second: Whether the method takes second derivatives.

        Raises:
            LaunchError: The bounds do not fit the result.
        """
        function = self._function
        size = len(function.values(start))
        shape = function.shapes[0] if len(function.shapes) == 1 else (size,)
        ends = interval(self._given.low, self._given.high, shape, f"{self._what}: bounds")
        low, high = (end.ravel() for end in ends)
        fixed, bounded = low == high, np.isfinite(low) | np.isfinite(high)
        return [
            self._of_rows(rows, low[rows], high[rows], second=second)
            for rows in (np.flatnonzero(fixed), np.flatnonzero(bounded & ~fixed))
            if len(rows)
        ]

    def _of_rows(self, rows: Any, low: Vector, high: Vector, *, second: bool) -> Any:
        """Return the constraint on some components of the result."""
        function, linalg = self._function, scipy_module("scipy.sparse.linalg", self._what)

        def values(x: Vector) -> Vector:
            return function.values(x)[rows]

        def jacobian(x: Vector) -> Vector:
            return function.jacobian(x)[rows]

        def curvature(x: Vector, weights: Vector) -> Any:
            every = np.zeros(len(function.values(x)))
            every[rows] = weights

            def product(columns: Vector) -> Vector:
                return function.curve(x, columns, every)

            return linalg.LinearOperator((len(x), len(x)), product, matmat=product, dtype=float)

        more = {"hess": curvature} if second else {}
        return scipy_module("scipy.optimize", self._what).NonlinearConstraint(
            values, low, high, jac=jacobian, **more
        )


def interval(
    low: Any, high: Any, shape: tuple[int, ...], what: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the least and the largest values of the components of an array.

    Args:
        low: A number, or an array that fits the shape; None is infinite, also inside of arrays.
        high: The same.
        shape: The shape of the array.
        what: The name of the bounds in errors.

    Raises:
        FieldError: They are not numbers.
        LaunchError: They do not fit, or leave nothing.
    """
    sides: list[npt.NDArray[np.float64]] = []
    for given, none in ((low, -np.inf), (high, np.inf)):
        array = _numbers(none if given is None else given, none)
        try:
            sides.append(np.broadcast_to(array, shape))
        except ValueError:
            raise LaunchError(
                f"{what} are numbers or arrays of shape {shape}, not of {array.shape}."
            ) from None
    wrong = np.argwhere(~(sides[0] <= sides[1]))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        raise LaunchError(
            f"{what} leave no number at index {at}: they are {sides[0][at]:g} and {sides[1][at]:g}."
        )
    return sides[0], sides[1]


def _numbers(given: Any, none: float) -> npt.NDArray[np.float64]:
    """Return bounds as an array, with a number for each None.

    Raises:
        FieldError: They are not numbers.
    """
    array = np.asarray(given)
    if array.dtype.kind == "O":
        each = [none if one is None else one for one in array.ravel().tolist()]
        array = np.array(each).reshape(array.shape)
    return as_array(array).astype(np.float64)
