"""The pattern of a sparse symmetric matrix of blocks, and its sum from the blocks of terms.

Terms write their blocks into slots; each block of the matrix adds up its slots, in the order of the
terms. The result is in compressed rows of numbers (CSR).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile.lang as ti
from difftile.fields.create import from_numpy
from difftile.fields.field import Field
from difftile.runtime.kernel import kernel


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """The elements that the terms of one loop gather, and where their blocks are.

    Args:
        places: The element at each site, -1 where there is none, shape (terms, sites).
        pairs: The pairs of sites with a block; the first site is not after the second.
        first: The slot of the first number of the first term.
    """

    places: npt.NDArray[np.int32]
    pairs: tuple[tuple[int, int], ...]
    first: int


@dataclass(frozen=True, slots=True, eq=False)
class BlockPattern:
    """The pattern of a matrix of blocks.

    Args:
        size: The rows and columns of a block.
        shape: The shape of the matrix, in numbers.
        indptr: Where each row of numbers starts.
        indices: The column of each number; one element that is not used where there are none.
        parts: Where the slots of each block start in `slots`, and after the last.
        slots: The first slot of each part; of a part that is transposed it is -1 minus that.
        rows: For each block the place of its first number, and the distance of its rows.
    """

    size: int
    shape: tuple[int, int]
    indptr: Field
    indices: Field
    parts: Field
    slots: Field
    rows: Field

    def add_up(self, slots: Field, data: Field) -> None:
        """Fill the numbers of the matrix from the slots of the terms."""
        if self.parts.shape[0] > 1:
            n = self.size
            cells = tuple((i * n + j, j * n + i, i, j) for i in range(n) for j in range(n))
            _add_up(slots, self.parts, self.slots, self.rows, data, cells)


def block_pattern(found: Sequence[Sites], size: int, elements: int) -> BlockPattern:
    """Return the pattern of the sum of the blocks of terms.

    Args:
        found: The sites of each loop.
        size: The rows and columns of a block.
        elements: The number of elements, each of which has a row and a column of blocks.
    """
    entries = [part for one in found for part in _entries(one, size)]
    none = np.zeros(0, np.int64)
    rows, columns, slots = (
        np.concatenate([none, *(part[k] for part in entries)]) for k in range(3)
    )
    keys = rows * elements + columns
    # A block and its mirror add up the same slots in the same order, to be equal to the last digit.
    order = np.lexsort((np.maximum(slots, -1 - slots), keys))
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    rows, columns = keys[starts] // elements, keys[starts] % elements
    counts = np.bincount(rows, minlength=elements)
    before = np.concatenate([[0], np.cumsum(counts)])  # blocks in the rows above
    position = np.arange(len(starts)) - before[rows]  # of a block in its row
    stride = counts[rows] * size
    first = before[rows] * size**2 + position * size
    indptr = before[:-1, None] * size**2 + np.arange(size) * counts[:, None] * size
    indices = np.zeros(len(starts) * size**2, np.int32)
    for i in range(size):
        for j in range(size):
            indices[first + i * stride + j] = columns * size + j
    return BlockPattern(
        size,
        (elements * size, elements * size),
        _field(np.append(indptr, len(indices))),
        _field(indices),
        _field(np.append(starts, len(keys))),
        _field(slots[order]),
        _field(np.stack([first, stride], axis=1)),
    )


def _field(values: npt.NDArray[Any]) -> Field:
    """Return a field of integers; it has an element even if there are none."""
    least = values if values.size else np.zeros((1, *values.shape[1:]))
    return from_numpy(least.astype(np.int32))


def _entries(one: Sites, size: int) -> list[tuple[Any, Any, Any]]:
    """Return row, column and first slot of the blocks of each pair of sites, both halves."""
    found: list[tuple[Any, Any, Any]] = []
    terms = np.arange(len(one.places), dtype=np.int64) * (len(one.pairs) * size**2) + one.first
    for p, (k, m) in enumerate(one.pairs):
        row, column = (one.places[:, site].astype(np.int64) for site in (k, m))
        there = (row >= 0) & (column >= 0)
        row, column, slots = row[there], column[there], (terms + p * size**2)[there]
        found.append((row, column, slots))
        if k != m:
            found.append((column, row, -1 - slots))
    return found


@kernel
def _add_up(
    slots: Any,
    parts: Any,
    places: Any,
    rows: Any,
    data: Any,
    cells: Any,
) -> None:
    """Fill a matrix of blocks; `cells` has number, mirrored number, row and column of each cell."""
    for block in range(rows.shape[0]):
        total = ti.Vector([slots[0] * 0 for _ in ti.static(cells)])
        for part in range(parts[block], parts[block + 1]):
            place = places[part]
            if place >= 0:
                for k, _, _, _ in ti.static(cells):
                    total[k] += slots[place + k]
            else:
                for k, turned, _, _ in ti.static(cells):
                    total[k] += slots[-1 - place + turned]
        for k, _, i, j in ti.static(cells):
            data[rows[block, 0] + i * rows[block, 1] + j] = total[k]
