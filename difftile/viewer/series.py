"""Values that are noted over time, in bounded memory."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

_MOST = 1024  # stretches of time, two values each: more than a plot has pixels

Numbers = npt.NDArray[np.float64]


class Series:
    """What has been noted under one name.

    Time is divided into stretches of equal length, of which the least and the greatest value are
    kept; whenever there are too many, two become one. So the whole course stays, with its extremes,
    however long it gets. Up to 1024 values all are kept. What is not finite is kept where a stretch
    has nothing else.

    Args:
        log: Show a logarithmic axis.

    Attributes:
        count: How many values there were.
        last: The last of them; not a number before the first.
    """

    def __init__(self, log: bool = False) -> None:
        self.log = log
        self.count = 0
        self.last = math.nan
        self._length = 1  # of a stretch
        # Of each stretch, first of its least and then of its greatest value.
        self._times = np.zeros((_MOST, 2))
        self._values = np.zeros((_MOST, 2))

    def add(self, value: float) -> None:
        """Note a value."""
        if self.count == _MOST * self._length:
            self._join()
        stretch, begun = divmod(self.count, self._length)
        times, values = self._times[stretch], self._values[stretch]
        for side, beyond in enumerate((value < values[0], value > values[1])):
            better = math.isfinite(value) and (beyond or not math.isfinite(values[side]))
            if better or not begun:
                times[side], values[side] = self.count, value
        self.count, self.last = self.count + 1, value

    def clear(self) -> None:
        """Forget all values."""
        self.count, self.last, self._length = 0, math.nan, 1

    @property
    def times(self) -> Numbers:
        """Which of all values are kept, in order, shape (n,)."""
        return self._kept()[0]

    @property
    def values(self) -> Numbers:
        """The values that are kept, in the order of their coming, shape (n,)."""
        return self._kept()[1]

    def _kept(self) -> tuple[Numbers, Numbers]:
        if not self.count:
            return np.zeros(0), np.zeros(0)
        used = -(-self.count // self._length)
        # Values that are least and greatest at once, and the last, may be there several times.
        times, where = np.unique(np.append(self._times[:used], self.count - 1), return_index=True)
        return times, np.append(self._values[:used], self.last)[where]

    def _join(self) -> None:
        """Make one stretch of two."""
        times, values = self._times.reshape(-1, 2, 2), self._values.reshape(-1, 2, 2)
        finite = np.isfinite(values)
        least = np.where(finite, values, np.inf)[:, :, 0].argmin(axis=1)
        most = np.where(finite, values, -np.inf)[:, :, 1].argmax(axis=1)
        half, each = _MOST // 2, np.arange(_MOST // 2)
        for kept in (times, values):
            joined = np.stack([kept[each, least, 0], kept[each, most, 1]], axis=1)
            kept.reshape(-1, 2)[:half] = joined
        self._length *= 2
