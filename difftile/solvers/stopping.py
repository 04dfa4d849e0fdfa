"""The stopping criterion of iterations."""

from __future__ import annotations

from difftile.diagnostics import LaunchError, brief
from difftile.fields.exchange import as_integer
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, largest, precision


class Stopping:
    """The accepted error of the numbers of some fields, and the number of iterations.

    Args:
        state: The fields.
        tol: The largest error, relative to the largest magnitude in the field.
        atol: The same in the unit of the field.
        max_iter: The largest number of iterations.

    Raises:
        LaunchError: An argument is negative or not a number.
    """

    def __init__(self, state: State, tol: float | None, atol: float, max_iter: int) -> None:
        self.tol = precision(state) if tol is None else tol
        self.atol = atol
        count = as_integer(max_iter)
        if count is None or count < 1:
            raise LaunchError(f"max_iter is an integer from 1 on, not {brief(max_iter)}.")
        self.max_iter = count
        self._state = state
        for name, value in (("tol", self.tol), ("atol", atol)):
            if not (isinstance(value, (int, float)) and value >= 0.0):
                raise LaunchError(f"{name} is a number from 0 on, not {brief(value)}.")

    def within(self, error: Vector, x: Vector) -> bool:
        """Return whether an error is small enough, in each of the fields."""
        pairs = zip(largest(self._state, error), largest(self._state, x), strict=True)
        return all(off <= max(self.atol, self.tol * size) for off, size in pairs)
