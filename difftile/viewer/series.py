"""Time series in bounded memory."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

_MOST = 1024  # intervals of time, two values each: more than a plot has pixels

Numbers = npt.NDArray[np.float64]


class Series:
    """The values of one plot.

    Time is divided into intervals of equal length, and the least and greatest value of each are
    kept; when there are too many intervals, pairs are merged. The whole series is thus represented
    with its extremes, however long it gets. Up to 1024 values all are kept. A non-finite value is
    kept if its interval has no finite one.

    Args:
        log: Show a logarithmic axis.

    Attributes:
        count: The number of all values.
        last: The last value; NaN before the first.
    """

    def __init__(self, log: bool = False) -> None:
        self.log = log
        self.count = 0
        self.last = math.nan
        self._length = 1  # of an interval
        # For each interval, of its least and then of its greatest value.
        self._times = np.zeros((_MOST, 2))
        self._values = np.zeros((_MOST, 2))

    def add(self, value: float) -> None:
        """Append a value."""
        if self.count == _MOST * self._length:
            self._join()
        interval, begun = divmod(self.count, self._length)
        times, values = self._times[interval], self._values[interval]
        for side, beyond in enumerate((value < values[0], value > values[1])):
            better = math.isfinite(value) and (beyond or not math.isfinite(values[side]))
            if better or not begun:
                times[side], values[side] = self.count, value
        self.count, self.last = self.count + 1, value

    def clear(self) -> None:
        """Remove all values."""
        self.count, self.last, self._length = 0, math.nan, 1

    @property
    def times(self) -> Numbers:
        """Indices of the kept values among all values, ascending, shape (n,)."""
        return self._kept()[0]

    @property
    def values(self) -> Numbers:
        """The kept values, in the same order, shape (n,)."""
        return self._kept()[1]

    def _kept(self) -> tuple[Numbers, Numbers]:
        if not self.count:
            return np.zeros(0), np.zeros(0)
        used = -(-self.count // self._length)
        # A value that is both least and greatest, or the last one, may occur several times.
        times, where = np.unique(np.append(self._times[:used], self.count - 1), return_index=True)
        return times, np.append(self._values[:used], self.last)[where]

    def _join(self) -> None:
        """Merge pairs of intervals."""
        times, values = self._times.reshape(-1, 2, 2), self._values.reshape(-1, 2, 2)
        finite = np.isfinite(values)
        least = np.where(finite, values, np.inf)[:, :, 0].argmin(axis=1)
        most = np.where(finite, values, -np.inf)[:, :, 1].argmax(axis=1)
        half, each = _MOST // 2, np.arange(_MOST // 2)
        for kept in (times, values):
            joined = np.stack([kept[each, least, 0], kept[each, most, 1]], axis=1)
            kept.reshape(-1, 2)[:half] = joined
        self._length *= 2
