"""Messages between a rank and its neighbours: which cells go where, gathered and scattered.

Two kernels move cells between fields and messages, so they are differentiated like
any kernel; only the transfer of messages has rules of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.distributed.boxes import Interval
from difftile.distributed.transfer import Part
from difftile.fields.recording import Recording


@dt.kernel
def pack(messages: Any, column: int, cells: Any, field: Any) -> None:
    """Gather cells into a column of messages."""
    for k in cells:
        messages[k, column] = field[cells[k]]


@dt.kernel
def unpack(field: Any, cells: Any, messages: Any, column: int) -> None:
    """Scatter a column of messages to cells, each of which occurs once."""
    for k in cells:
        field[dt.unique(cells[k])] = messages[k, column]


@dt.kernel
def unpack_part(part: Any, positions: Any, messages: Any, column: int) -> None:
    """Copy a column of messages to a box of cells; `positions` says where each one is."""
    for at in ti.grouped(positions):
        part[at] = messages[positions[at], column]


class MessageSide:
    """The messages that a rank sends to all others, or receives from them.

    Args:
        boxes: The other rank of each box of cells, in ascending order, and the box in local
            indices; both sides have the boxes of a message in the same order.
        axes: The number of axes.

    Attributes:
        parts: Where the cells of each message are among all cells.
        size: The number of cells.
    """

    def __init__(self, boxes: Sequence[tuple[int, tuple[Interval, ...]]], axes: int) -> None:
        found: list[npt.NDArray[np.int32]] = []
        stops: dict[int, int] = {}
        self.size = 0
        for peer, box in boxes:
            grids = np.meshgrid(*(np.arange(*one, dtype=np.int32) for one in box), indexing="ij")
            found.append(np.stack(grids, axis=-1).reshape(-1, axes))
            self.size += len(found[-1])
            stops[peer] = self.size
        starts = [0, *stops.values()]
        self.parts = tuple(
            Part(peer, start, stop)
            for (peer, stop), start in zip(stops.items(), starts, strict=False)
        )
        self.cells: dt.Field | None = None
        if found:
            self.cells = dt.from_numpy(np.concatenate(found), dt.vec(axes, ti.i32))

    def positions(self, box: Sequence[Interval]) -> dt.Field:
        """Return where the cells of a box, all of which occur, are among the cells of messages."""
        assert self.cells is not None
        cells = self.cells.buffer.array().astype(np.int64).T
        shape = cells.max(axis=1) + 1
        numbers = np.asarray(np.ravel_multi_index(tuple(cells), tuple(shape)))  # pyrefly: ignore[unknown-argument-type]
        order = np.argsort(numbers)
        wanted = np.meshgrid(*(np.arange(*one) for one in box), indexing="ij")
        found = np.searchsorted(numbers[order], np.ravel_multi_index(tuple(wanted), tuple(shape)))
        with Recording():  # the first exchange that asks may be in the body of a loop
            return dt.from_numpy(order[found].astype(np.int32))
