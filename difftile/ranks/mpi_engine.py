"""The engine over MPI, by mpi4py."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from mpi4py import MPI

from difftile.diagnostics import RankError
from difftile.ranks.alone import copy_own
from difftile.ranks.engine import Array, Message

_PAUSE = 20e-6  # between tests of requests [s]


class _Requests:
    """Requests of MPI that have been started."""

    def __init__(self, requests: list[Any], held: Sequence[Any], engine: MpiEngine) -> None:
        self._requests = requests
        self._held = held  # memory that they use
        self._engine = engine

    def wait(self, what: str) -> None:
        """Wait for the requests."""
        engine = self._engine
        until = time.monotonic() + engine.timeout
        while not engine.mpi.Request.Testall(self._requests):
            if time.monotonic() > until:
                raise RankError(
                    f"Rank {engine.rank}: {what} failed: no answer within {engine.timeout:g} s."
                )
            time.sleep(_PAUSE)
        self._requests, self._held = [], ()


class MpiEngine:
    """MPI.

    Args:
        timeout: The time after which a rank stops waiting for others [s].
    """

    name = "mpi"
    takes_device_memory = False

    def __init__(self, timeout: float) -> None:
        self.mpi: Any = MPI
        self.timeout = timeout
        self._world: Any = MPI.COMM_WORLD.Dup()
        self.rank: int = self._world.Get_rank()
        self.size: int = self._world.Get_size()
        self._ops = {"sum": MPI.SUM, "max": MPI.MAX, "min": MPI.MIN}

    def all_reduce(self, array: Array, op: str = "sum") -> _Requests:
        """Start to combine the numbers of all ranks."""
        request = self._world.Iallreduce(self.mpi.IN_PLACE, array, self._ops[op])
        return _Requests([request], [array], self)

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> _Requests:
        """Start to send and receive messages."""
        copy_own(sends, receives, self.rank)
        requests: list[Any] = []
        for function, messages in ((self._world.Irecv, receives), (self._world.Isend, sends)):
            requests += [
                function(one.array, one.peer)
                for one in messages
                if one.peer != self.rank and one.array.size
            ]
        return _Requests(requests, [sends, receives], self)

    def stop(self) -> None:
        """Do nothing: mpi4py ends MPI."""
