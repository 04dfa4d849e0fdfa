"""The order of rows among all ranks: whole arrays from the parts that ranks hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError, counted
from difftile.ranks import Message, current


class Order:
    """Which particle each row in use was, on all ranks, when this was made.

    Made by `particles.order()`. Particles that migrate later do not change it, so that it also
    puts gradients with respect to earlier contents in order.

    Attributes:
        ids: The numbers of all particles, ascending.
    """

    def __init__(self, ids: npt.NDArray[np.int32]) -> None:
        self._count = len(ids)
        self._counts = _counts_of(len(ids))
        found = self._gathered(ids)
        self._permutation = np.argsort(found, kind="stable")
        self.ids: npt.NDArray[np.int32] = found[self._permutation]

    def to_global(self, field: dt.Field) -> npt.NDArray[Any]:
        """Return the rows of all ranks in the order of the particles' numbers; on each rank.

        Args:
            field: A field of the particles, or a gradient of one, shape (capacity,).

        Raises:
            FieldError: The field has fewer rows.
        """
        values = field.to_numpy()
        if values.ndim == 0 or len(values) < self._count:
            raise FieldError(
                f"{field!r} is no field of these particles: {counted(self._count, 'row')} were in "
                "use."
            )
        return self._gathered(values[: self._count])[self._permutation]

    def _gathered(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of all ranks, one rank after the other."""
        engine = current()
        own = np.ascontiguousarray(rows)
        found = np.empty((int(self._counts.sum()), *own.shape[1:]), own.dtype)
        parts = np.split(found, np.cumsum(self._counts)[:-1])
        peers = range(engine.size)
        engine.exchange(
            [Message(peer, own) for peer in peers if len(own)],
            [Message(peer, parts[peer]) for peer in peers if len(parts[peer])],
        ).wait("gathering particles")
        return found


def _counts_of(count: int) -> npt.NDArray[np.int64]:
    """Return a number of each rank."""
    engine = current()
    counts = np.zeros(engine.size, np.int64)
    counts[engine.rank] = count
    engine.all_reduce(counts).wait("counting particles")
    return counts
