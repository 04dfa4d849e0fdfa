"""Step-size control of adaptive methods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.solvers.state import State

_SAFETY = 0.9
_BETA = 0.04  # the weight of the error of the step before
_POWER = 0.2 - 0.75 * _BETA  # for an error estimate that falls with the fifth power of the step
_SHRINK, _GROW = 0.2, 10.0  # the most that a step may change by
_LEAST_ERROR = 1e-4  # smaller errors of the step before count as this


@dataclass(frozen=True, slots=True)
class ErrorTolerance:
    """The error of a step that is accepted.

    Args:
        relative: The error relative to the size of each number of the state.
        absolute: The error in the unit of the state.
    """

    relative: float
    absolute: float

    def size(self, change: State | Sequence[npt.NDArray[np.float64]], *around: State) -> float:
        """Return the root mean square of a change in units of the accepted error.

        Args:
            change: The change.
            around: The states before and after; the larger of their numbers sets the scale.
        """
        changes = change.arrays() if isinstance(change, State) else change
        scales = [
            self.absolute + self.relative * np.max(np.abs(values), axis=0)
            for values in zip(*(state.arrays() for state in around), strict=True)
        ]
        with np.errstate(all="ignore"):  # NaN in, NaN out
            squares = sum(float(np.sum((c / s) ** 2)) for c, s in zip(changes, scales, strict=True))
        sizes = sum(values.size for values in changes)
        squares, count = around[0].space.totals([squares, float(sizes)])
        return math.sqrt(squares / count)


class StepSize:
    """The PI controller of the code DOPRI5.

    Source: Hairer, Norsett and Wanner I (1993), section II.4; Gustafsson (1991).

    Args:
        first: The first step.
    """

    def __init__(self, first: float) -> None:
        self.h = first
        self._before = _LEAST_ERROR
        self._grow = _GROW

    def accept(self, h: float, error: float) -> None:
        """Choose the step after one of size h that was accepted."""
        factor = error**_POWER / self._before**_BETA / _SAFETY
        self.h = h / min(1 / _SHRINK, max(1 / self._grow, factor))
        self._before, self._grow = max(error, _LEAST_ERROR), _GROW

    def reject(self, h: float, error: float) -> None:
        """Choose a smaller step than h, whose error was above 1 or NaN."""
        factor = error**_POWER / _SAFETY if math.isfinite(error) else math.inf
        self.h = h / min(1 / _SHRINK, factor)
        self._grow = 1.0  # the step after a rejected one does not grow
