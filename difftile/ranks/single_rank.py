"""The engine of one rank: messages to itself are copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from difftile.diagnostics import RankError, counted
from difftile.ranks.engine import Array, Message
from difftile.ranks.numbers import check_op
from difftile.ranks.waiting import Waiting


class Done:
    """Communication that was finished when it was started."""

    def wait(self, what: str) -> None:
        """Do nothing."""


class SingleRank:
    """One rank, without any library.

    Args:
        timeout: The limit of waits; one rank never waits [s].
    """

    name = "alone"
    rank = 0
    size = 1
    host: str | None = None
    takes_device_memory = False

    def __init__(self, timeout: float) -> None:
        self.waiting = Waiting(0, 1, timeout)

    def all_reduce(
        self, array: Array, op: str = "sum", *, agreed: bool = False, dtype: str = ""
    ) -> Done:
        """Do nothing: the numbers of all ranks are these."""
        check_op(op, array.dtype.name)
        return Done()

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> Done:
        """Copy messages."""
        others = [one.peer for one in (*sends, *receives) if one.peer != 0]
        if others:
            raise RankError(f"There is no rank {others[0]}: this process works alone.")
        copy_own(sends, receives, 0)
        return Done()

    def side_channel(self) -> SingleRank:
        """Return the engine itself."""
        return self

    def abort(self) -> None:
        """Do nothing: there are no others."""

    def stop(self) -> None:
        """Do nothing."""


def copy_own(sends: Sequence[Message], receives: Sequence[Message], rank: int) -> None:
    """Copy the messages of a rank to itself, in order.

    Raises:
        RankError: More are sent than received, or the other way round.
    """
    own = [[one.array for one in side if one.peer == rank] for side in (sends, receives)]
    if len(own[0]) != len(own[1]):
        raise RankError(
            f"Rank {rank} sends {len(own[0])} messages to itself and receives {len(own[1])}."
        )
    for source, target in zip(*own, strict=True):
        if source.nbytes != target.nbytes:
            raise RankError(
                f"Rank {rank} sends {counted(source.nbytes, 'byte')} to itself and receives "
                f"{target.nbytes}."
            )
        np.copyto(target, source.reshape(target.shape))
