"""Arrays that are mostly zero, as the box that holds everything else.

A grid that material points fill is empty but for where they are, and a tape keeps it at each step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.records import dataclass

_MOST = 0.5  # part of the array that the box may take; a larger one is not worth its copy


@dataclass(frozen=True, slots=True)
class Packed:
    """The contents of an array.

    Args:
        box: The part that is not zero.
        values: The contents of the box; elsewhere every bit is zero.
    """

    box: tuple[slice, ...]
    values: npt.NDArray[Any]

    def unpack(self, array: npt.NDArray[Any]) -> None:
        """Write the contents into an array of the shape that they had."""
        array.fill(0)
        array[self.box] = self.values


def pack(array: npt.NDArray[Any]) -> Packed | None:
    """Return the contents of an array, or None where no box with all of them is small enough.

    Args:
        array: Numbers in one piece of memory, with at least one axis.
    """
    bits = array.view(f"u{array.itemsize}")  # a negative zero is no zero
    ends = ((*[slice(None)] * axis, end) for axis in range(array.ndim) for end in (0, -1))
    if all(bits[layer].any() for layer in ends):  # the box is the whole array
        return None
    box: list[slice] = []
    part, rest = 1.0, bits.reshape(-1)
    for size in array.shape:
        rows = rest.reshape(size, -1)
        wide = rows.view(np.uint64) if rows.shape[1] * rows.itemsize % 8 == 0 else rows
        hit = np.flatnonzero(np.bitwise_or.reduce(wide, axis=1))
        along = slice(int(hit[0]), int(hit[-1]) + 1) if len(hit) else slice(0, 0)
        part *= (along.stop - along.start) / size
        box.append(along)
        rest = np.bitwise_or.reduce(rows[along], axis=0)  # over the axes so far
    if part > _MOST:
        return None
    where = tuple(box)
    return Packed(where, array[where].copy())
