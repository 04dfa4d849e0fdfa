"""The engine of one rank: messages to itself are copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from difftile.diagnostics import RankError
from difftile.ranks.engine import Array, Message


class Done:
    """Communication that was finished when it was started."""

    def wait(self, what: str) -> None:
        """Do nothing."""


class Alone:
    """One rank, without any library."""

    name = "alone"
    rank = 0
    size = 1
    takes_device_memory = False

    def all_reduce(self, array: Array, op: str = "sum") -> Done:
        """Do nothing: the numbers of all ranks are these."""
        return Done()

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> Done:
        """Copy messages."""
        copy_own(sends, receives, self.rank)
        return Done()

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
        np.copyto(target, source)
