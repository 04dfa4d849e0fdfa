"""Numbers that are NaN or infinite, and how large numbers are."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.diagnosis.origins import FaultOrigin
from difftile.records import dataclass

Numbers: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class NotFinite:
    """The first number that is NaN or infinite.

    Args:
        launch: The launch, from 1; 0 for a seed. For an opaque step the latest launch before it.
        kernel: Its kernel, or the name of the step.
        field: The field, or the field whose gradient it is, by the name that the kernel gives it.
        index: The element.
        value: The contents of the element.
        origin: The statement, where it was found.
        opaque: An opaque step made the number.
    """

    launch: int
    kernel: str
    field: str
    index: tuple[int, ...]
    value: object
    origin: FaultOrigin | None = None
    opaque: bool = False


def first_not_finite(values: Numbers, before: Numbers | None = None) -> tuple[int, ...] | None:
    """Return the first index at which numbers are not finite and were finite before."""
    if not np.issubdtype(values.dtype, np.floating):
        return None
    bad = ~np.isfinite(values)
    if before is not None:
        bad &= np.isfinite(before)
    if not bad.any():
        return None
    return tuple(int(i) for i in np.argwhere(bad)[0])


def largest(values: npt.ArrayLike) -> float:
    """Return the largest absolute value of floats; 0 for other numbers and for none."""
    numbers = np.asarray(values)
    if not numbers.size or not np.issubdtype(numbers.dtype, np.floating):
        return 0.0
    return float(np.max(np.abs(numbers)))
