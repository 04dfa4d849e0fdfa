"""The engine over MPI, by mpi4py."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np

from difftile.diagnostics import RankError, counted
from difftile.ranks.engine import Array, Message
from difftile.ranks.failures import limit_exit, limited
from difftile.ranks.handshake import combine, handshakes_of, is_short
from difftile.ranks.launchers import place
from difftile.ranks.numbers import HostArray, as_bytes, carried
from difftile.ranks.single_rank import copy_own
from difftile.ranks.waiting import Waiting, named

_PAUSES = (0.0, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4)  # between tests of requests, longer and longer [s]
_PROGRESS = 5e-4  # between calls that move messages while the program computes [s]
_IDLE = 0.1  # without requests, until such calls end [s]
MOST_BYTES = 1 << 30
"""Bytes of one message of MPI, which counts in 32 bits before version 4."""


class _Request:
    """One request of MPI.

    Args:
        request: Its handle.
        peer: The other rank; None if it is with all.
        nbytes: The length of the message to receive; None for other requests.
        held: The memory that it uses.
    """

    __slots__ = ("handle", "held", "nbytes", "peer")

    def __init__(self, handle: Any, peer: int | None, nbytes: int | None, held: HostArray) -> None:
        self.handle, self.peer, self.nbytes, self.held = handle, peer, nbytes, held


class _Requests:
    """Requests of MPI that have been started."""

    def __init__(
        self,
        requests: list[_Request],
        engine: MpiEngine,
        finish: Callable[[], None] | None = None,
    ) -> None:
        self._requests = requests
        self._engine = engine
        self._finish = finish
        engine.hold(requests)

    def wait(self, what: str) -> None:
        """Wait for the requests."""
        waiting = self._engine.waiting
        begun = time.monotonic()
        tries = 0
        with waiting.step(what, self._peers()):
            while not self._test(what):
                waiting.check(what, begun, self._peers())
                time.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
                tries += 1
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()

    def _peers(self) -> list[int]:
        return [one.peer for one in self._requests if one.peer is not None]

    def _test(self, what: str) -> bool:
        """Tell whether the requests are done, and drop the done ones."""
        engine = self._engine
        status = engine.MPI.Status()
        open_: list[_Request] = []
        for one in self._requests:
            try:
                done: bool = one.handle.Test(status)
            except engine.MPI.Exception as error:
                engine.release(one)
                peers = () if one.peer is None else (one.peer,)
                raise engine.waiting.broken(what, peers, str(error)) from None  # pyrefly: ignore[unknown-argument-type]
            if not done:
                open_.append(one)
                continue
            engine.release(one)
            if one.nbytes is not None:
                came: int = status.Get_count(engine.MPI.BYTE)
                if came != one.nbytes:
                    raise RankError(
                        f"Rank {engine.rank} expected {counted(one.nbytes, 'byte')} of rank "
                        f"{one.peer} in {what}, its communication {engine.waiting.begun}, and "
                        f"received {came}."
                    )
        self._requests = open_
        return not open_


class MpiEngine:
    """MPI.

    Args:
        timeout: The time after which a rank stops waiting for others [s].
        world: A communicator of mpi4py with the ranks; by default all processes.
    """

    name = "mpi"
    takes_device_memory = False
    host: str | None = None

    def __init__(self, timeout: float, world: Any = None) -> None:
        # Both wait for all ranks, without a limit of their own.
        with limited(timeout):
            MPI = self.MPI = _imported()
            # Of our own, so that messages of the program's are not taken for ours.
            self._world: Any = (MPI.COMM_WORLD if world is None else world).Dup()
        self._world.Set_errhandler(MPI.ERRORS_RETURN)
        self.rank: int = self._world.Get_rank()
        self.size: int = self._world.Get_size()
        here = place()
        if world is None and here is not None and self.size == 1 < here.size:
            raise RankError(
                f"{here.launcher} started {here.size} processes, and the MPI of mpi4py, "
                f"{MPI.Get_library_version().splitlines()[0].strip()!r}, finds this one only: they "
                "belong to different MPIs. Use the mpiexec of that MPI, or build mpi4py with the "
                "MPI of this one: pip install --no-binary=mpi4py mpi4py"
            )
        self.waiting = Waiting(self.rank, self.size, timeout)
        self._ops = {"sum": MPI.SUM, "max": MPI.MAX, "min": MPI.MIN}
        self._side_channel: MpiEngine | None = None
        self._held: set[_Request] = set()  # memory stays until requests are done
        self._progress = _Progress(MPI, self._world) if self.size > 1 else None

    def all_reduce(
        self, array: Array, op: str = "sum", *, agreed: bool = False, dtype: str = ""
    ) -> _Requests:
        """Start to combine the numbers of all ranks."""
        self.waiting.begun += 1
        self.waiting.joined += 1
        numbers, finish = carried(_of_host(array), op)
        if not agreed:
            handshakes = handshakes_of(numbers, op, dtype or array.dtype.str, self.rank, self.size)
            handle = self._world.Iallreduce(self.MPI.IN_PLACE, handshakes, self.MPI.SUM)

            def compare() -> None:
                combine(handshakes, numbers, op, self.rank)
                finish()

            sent = _Requests([_Request(handle, None, None, handshakes)], self, compare)
            if is_short(numbers):
                return sent
            sent.wait("a comparison of lengths")
        flat = numbers.reshape(-1)
        length = max(1, MOST_BYTES // numbers.itemsize)
        requests: list[_Request] = []
        for start in range(0, flat.size, length):
            part = flat[start : start + length]
            handle = self._world.Iallreduce(self.MPI.IN_PLACE, part, self._ops[op])
            requests.append(_Request(handle, None, None, part))
        return _Requests(requests, self, finish)

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> _Requests:
        """Start to send and receive messages."""
        self.waiting.begun += 1
        copy_own(sends, receives, self.rank)
        requests: list[_Request] = []
        for start, messages in ((self._world.Irecv, receives), (self._world.Isend, sends)):
            for one in messages:
                if one.peer == self.rank:
                    continue
                is_filled = messages is receives
                numbers = as_bytes(_of_host(one.array), filled=is_filled)
                for at in range(0, numbers.nbytes, MOST_BYTES):
                    part = numbers[at : at + MOST_BYTES]
                    handle = start([part, self.MPI.BYTE], one.peer)
                    expected = part.nbytes if is_filled else None
                    requests.append(_Request(handle, one.peer, expected, part))
        return _Requests(requests, self)

    def hold(self, requests: Sequence[_Request]) -> None:
        """Keep the memory of requests that have been started, and let them get on."""
        self._held.update(requests)
        if self._progress is not None and requests:
            self._progress.begin()

    def release(self, request: _Request) -> None:
        """Let go of the memory of a request that is done."""
        self._held.discard(request)
        if self._progress is not None and not self._held:
            self._progress.end()

    def side_channel(self) -> MpiEngine:
        """Return the engine over a copy of the communicator."""
        if self._side_channel is None:
            self._side_channel = MpiEngine(self.waiting.timeout, self._world)
            self._side_channel.waiting = self.waiting
        return self._side_channel

    def abort(self) -> None:
        """End all ranks, this one included."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._world.Abort(1)

    def stop(self) -> None:
        """End the progress of messages; mpi4py ends MPI, where all ranks wait for each other."""
        watch = self.waiting.watch
        silent = [] if watch is None else watch.outlast(self.waiting.timeout)
        if silent:
            why = f"{named(silent)} did not answer at the end, in {self.waiting.timeout:g} s"
            os.write(2, f"[rank {self.rank}] ended, since {why}\n".encode())
        if silent or (watch is not None and watch.failure is not None):
            limit_exit()
        if self._progress is not None:
            self._progress.stop()
        if self._side_channel is not None:
            self._side_channel.stop()


class _Progress:
    """A thread that lets MPI move messages while the program computes.

    Most MPIs move long messages only within calls. Any call does, also one that asks for messages
    that are never sent.
    """

    def __init__(self, MPI: Any, world: Any) -> None:
        self._world = world.Dup()
        self._wanted = threading.Event()
        self._active = False
        self._stopped = False
        self._thread: threading.Thread | None = None
        if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
            self._thread = threading.Thread(target=self._run, name="difftile progress", daemon=True)
            self._thread.start()

    def begin(self) -> None:
        """Start to call MPI."""
        self._active = True
        if not self._wanted.is_set():
            self._wanted.set()

    def end(self) -> None:
        """Call MPI no longer."""
        self._active = False

    def stop(self) -> None:
        """End the thread, before MPI ends."""
        self._stopped = True
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        idle = 0.0
        while not self._stopped:
            time.sleep(_PROGRESS)
            if self._active:
                self._world.Iprobe()
                idle = 0.0
            elif idle < _IDLE:
                idle += _PROGRESS
            else:
                self._wanted.clear()
                if not self._active:
                    self._wanted.wait()
                idle = 0.0


def _imported() -> Any:
    """Return mpi4py, which loads the library of MPI.

    Raises:
        ModuleNotFoundError: There is no mpi4py.
        RankError: There is no MPI that it knows.
    """
    try:
        return import_module("mpi4py.MPI")
    except ModuleNotFoundError:
        raise
    except (ImportError, RuntimeError) as error:
        lines = str(error).strip().splitlines()
        raise RankError(
            f"mpi4py is installed and finds no MPI that it can load: {'; '.join(lines)}. Packages "
            "of the system, such as Debian's mpich, may name their library otherwise. Install one "
            "beside Python, and start the ranks by its mpiexec: pip install mpich. Or build mpi4py "
            "with the MPI of the system: pip install --no-binary=mpi4py mpi4py"
        ) from None


def _of_host(array: Array) -> HostArray:
    if isinstance(array, np.ndarray):
        return cast(HostArray, array)
    raise RankError("MPI sends memory of the host: copy the numbers of a device to it first.")
