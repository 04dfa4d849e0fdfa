"""An artificial network: ranks that all compute the same, over a wire that takes its time.

It shows in one process, and whatever else the machine does, when messages leave and how long a
program waits for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from difftile.ranks.choice import _Chosen
from difftile.ranks.engine import Array, Message, Pending
from difftile.ranks.single_rank import SingleRank


class _Arrival:
    """A sum that arrives at some time."""

    def __init__(self, array: Array, network: SlowNetwork, at: float) -> None:
        self._array, self._network, self._at = array, network, at

    def wait(self, what: str) -> None:
        """Sleep until then."""
        started = time.perf_counter()
        time.sleep(max(0.0, self._at - started))
        self._network.waited += time.perf_counter() - started
        self._array *= self._network.size


class SlowNetwork(SingleRank):
    """Some ranks that send the same numbers as this one.

    Args:
        size: How many there are.
        bandwidth: Of the wire of each [bytes/s].
        latency: Of a sum [s].
        hear: Called with the bytes of each sum when it starts.
    """

    name = "slow network"

    def __init__(
        self,
        size: int,
        bandwidth: float = 1e9,
        latency: float = 0.0,
        hear: Callable[[int], object] = lambda _: None,
    ) -> None:
        super().__init__(0.0)
        self.size = size
        self._bandwidth, self._latency, self._hear = bandwidth, latency, hear
        self._free = 0.0  # when the wire is
        self.waited = 0.0  # by the program [s]

    # pyrefly: ignore[bad-override]
    def all_reduce(
        self, array: Array, op: str = "sum", *, agreed: bool = False, dtype: str = ""
    ) -> Pending:
        """Start a sum, over a ring: each rank sends 2 (n - 1) / n of the bytes."""
        self._hear(array.nbytes)
        sent = 2.0 * (self.size - 1) / self.size * array.nbytes
        seconds = self._latency + sent / self._bandwidth
        self._free = max(self._free, time.perf_counter()) + seconds
        return _Arrival(array, self, self._free)

    # pyrefly: ignore[bad-override]
    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> Pending:
        """Refuse."""
        raise NotImplementedError("the artificial network only adds up")


@contextmanager
def connected(network: SlowNetwork) -> Generator[None]:
    """Make a network the engine of this process, inside a block."""
    before = _Chosen.engine
    _Chosen.engine = network
    try:
        yield
    finally:
        _Chosen.engine = before
