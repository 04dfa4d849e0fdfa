"""The protocol of an engine: what a rank asks of the library that connects it with the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from difftile.ranks.waiting import Waiting
from difftile.records import dataclass

Array: TypeAlias = Any
"""A NumPy array without gaps, or an object with `__cuda_array_interface__`."""


@dataclass(frozen=True, slots=True)
class Message:
    """Numbers to send to a rank, or memory for numbers to receive from it.

    Args:
        peer: The other rank; of memory of the host also the own one, for a copy.
        array: The numbers; both sides have as many, of one type.
    """

    peer: int
    array: Array


class Pending(Protocol):
    """Communication that has been started; its memory must stay alive and untouched."""

    def wait(self, what: str) -> None:
        """Wait until it is done; on a device, let its later work wait.

        Args:
            what: The step that waits, for errors: "the exchange of 'u'".

        Raises:
            RankError: Another rank failed, or the time is up.
        """
        ...


class Engine(Protocol):
    """The connection of a rank with the others.

    All ranks call the collective functions in the same order. Messages between two ranks arrive in
    the order in which they were sent.

    Attributes:
        name: The name of the engine: "alone", "torch" or "mpi".
        rank: The number of this process, from 0.
        size: The number of processes.
        waiting: How this rank waits for the others.
    """

    name: str
    rank: int
    size: int
    waiting: Waiting

    @property
    def host(self) -> str | None:
        """The name by which others find the host of rank 0, if known."""
        ...

    @property
    def takes_device_memory(self) -> bool:
        """Whether arrays may be in the memory of a device."""
        ...

    def all_reduce(
        self, array: Array, op: str = "sum", *, agreed: bool = False, dtype: str = ""
    ) -> Pending:
        """Start to combine the numbers of all ranks, in place; each rank gets the same bits.

        Lengths, types and operations are compared: of a few numbers when they have come, and of
        others here, which waits for all ranks.

        Args:
            array: Numbers, as many on each rank.
            op: "sum", "max" or "min".
            agreed: The ranks know that they combine the same, as for all memory of devices.
            dtype: The type that the caller has the numbers in, in NumPy's short form, which is
                compared; by default the array's.

        Raises:
            RankError: Numbers of this type cannot be combined so, or the ranks combine different
                numbers.
        """
        ...

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> Pending:
        """Start to send messages, and to receive as many as others send to this rank.

        A message has as many bytes on both sides; empty ones are not sent.
        """
        ...

    def side_channel(self) -> Engine:
        """Return an engine of the same ranks whose communication has an order of its own.

        It carries messages while the program itself communicates. The first call makes it and
        must be made by all ranks.
        """
        ...

    def abort(self) -> None:
        """End the other ranks after a failure of this one, where the engine can do that."""
        ...

    def stop(self) -> None:
        """End the connection, at the end of the process."""
        ...
