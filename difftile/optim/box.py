"""Bounds for each number of some fields, and the projection onto them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.optim.constraint import interval
from difftile.optim.parameters import NamedParameter, of_each
from difftile.solvers.space import HERE, Space, space_of
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, joined, read, split

EachBound: TypeAlias = "npt.ArrayLike | Mapping[Any, npt.ArrayLike | None] | None"
"""A number, or an array that fits the shape of a field, None for no bound, or those by field."""

_NEAR = 1e-8  # the distance to a bound, at most, that counts as none


@dataclass(frozen=True, slots=True)
class Box:
    """The least and the largest value of each number.

    Args:
        low: The least values.
        high: The largest values.
        space: The space of the numbers.
    """

    low: Vector
    high: Vector
    space: Space = HERE

    def project(self, x: Vector) -> Vector:
        """Return the nearest point within the bounds."""
        return np.clip(x, self.low, self.high)

    def rest(self, x: Vector, gradient: Vector) -> float:
        """Return the largest component of x - project(x - gradient); of the gradient, unbounded.

        The minimum within the bounds is where it is zero.
        """
        return self.space.largest(x - self.project(x - gradient))

    def free(self, x: Vector, gradient: Vector) -> npt.NDArray[np.bool_]:
        """Tell which numbers no bound holds where they are: they may move against the gradient."""
        # A distance that shrinks towards the minimum: without one, steps may end at a wrong point
        # (Bertsekas, section 2).
        near = min(_NEAR, self.rest(x, gradient))
        held_low = (x - self.low <= near) & (gradient > 0.0)
        held_high = (self.high - x <= near) & (gradient < 0.0)
        return ~(held_low | held_high)

    def settled(self, x: Vector, gradient: Vector) -> Vector:
        """Return x with the numbers that are not free on the bounds that hold them."""
        bound = np.where(gradient > 0.0, self.low, self.high)
        return np.where(self.free(x, gradient), x, bound)

    def inside(self, x: Vector) -> npt.NDArray[np.bool_]:
        """Tell which numbers are within the bounds or on one."""
        return (self.low <= x) & (x <= self.high)


def box_of(
    low: EachBound,
    high: EachBound,
    state: State,
    parameters: Sequence[NamedParameter],
    what: str,
) -> Box | None:
    """Return the bounds of all numbers of some fields, or None if there are none.

    Args:
        low: The least values.
        high: The largest values.
        state: The fields.
        parameters: The same fields by name.
        what: The name of the caller in errors.

    Raises:
        FieldError: Bounds are not numbers.
        LaunchError: Bounds do not fit the fields, or leave nothing.
    """
    lows = of_each(low, parameters, f"{what}: low", some=True)
    highs = of_each(high, parameters, f"{what}: high", some=True)
    parts = split(state, read(state))
    pairs = [
        _held(*interval(least, most, part.shape, f"{what}: low, high of {one}"), part.dtype)
        for one, least, most, part in zip(parameters, lows, highs, parts, strict=True)
    ]
    lowest, highest = ([pair[side] for pair in pairs] for side in range(2))
    space = space_of(state.leaves, mixed=True)
    box = Box(joined(state, lowest), joined(state, highest), space)
    bounded = bool(np.isfinite(box.low).any() or np.isfinite(box.high).any())
    return box if space.any([bounded])[0] else None


def _held(
    low: npt.NDArray[Any], high: npt.NDArray[Any], dtype: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return bounds as numbers that a field can hold, so that rounding does not pass them."""
    least, most = low.astype(dtype), high.astype(dtype)
    least = np.where(least < low, np.nextafter(least, np.inf, dtype=dtype), least)
    most = np.where(most > high, np.nextafter(most, -np.inf, dtype=dtype), most)
    return least, np.maximum(least, most)
