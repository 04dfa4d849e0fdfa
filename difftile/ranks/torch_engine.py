"""The engine over torch.distributed: gloo for memory of the host, NCCL for memory of GPUs."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from importlib import import_module
from queue import SimpleQueue
from typing import Any, ClassVar, cast

import numpy as np

from difftile.diagnostics import RankError
from difftile.ranks.engine import Array, Message, Pending
from difftile.ranks.failures import guard
from difftile.ranks.handshake import combine, handshakes_of, is_short
from difftile.ranks.launchers import RankPlace, has_address, place
from difftile.ranks.numbers import CARRIERS, HostArray, as_bytes, carried, check_op
from difftile.ranks.single_rank import Done, copy_own
from difftile.ranks.streams import session_stream
from difftile.ranks.waiting import Waiting

_FOREVER = timedelta(days=100)  # the rank that waits knows when it has waited too long
_LATER = 10.0  # that gloo waits longer than the rank, which knows what it waits for [s]
_SLICE = 0.5  # between looks at the clock and at failures [s]
_TAGS = 1 << 11  # messages between two ranks until their tags come again


class _Waiter:
    """A thread that waits for messages in gloo, which cannot be asked whether they have come.

    A wait in gloo hears neither Ctrl+C nor failures of other ranks, and one that is given up breaks
    the connection. Where the caller waits at once, the thread costs about 20 us.
    """

    idle: ClassVar[deque[_Waiter]] = deque()  # each waits for one exchange at a time

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Exchange] = SimpleQueue()
        threading.Thread(target=self._run, name="difftile wait", daemon=True).start()

    @staticmethod
    def begin(exchange: _Exchange) -> None:
        """Start to wait for an exchange."""
        try:
            waiter = _Waiter.idle.pop()
        except IndexError:
            waiter = _Waiter()
        waiter._queue.put(exchange)

    def _run(self) -> None:
        while True:
            self._queue.get().run()
            _Waiter.idle.append(self)


class _Exchange:
    """Messages of gloo that have been started, for which a thread waits.

    Args:
        works: The requests.
        peers: The other rank of each.
        waiting: How this rank waits.
    """

    def __init__(self, works: Sequence[Any], peers: Sequence[int], waiting: Waiting) -> None:
        self._works, self._peers, self._waiting = works, peers, waiting
        self._at = 0  # requests that are done
        self._error: RuntimeError | None = None
        self._done = threading.Lock()
        self._done.acquire()
        _Waiter.begin(self)

    def run(self) -> None:
        """Wait for the requests, in order; in a thread of its own."""
        try:
            while self._at < len(self._works):
                self._works[self._at].wait(_FOREVER)
                self._at += 1
        except RuntimeError as error:
            self._error = error
        # Before the caller may end the interpreter: the destructors of requests wait for its lock,
        # and a thread that finds it gone aborts the process.
        self._works = ()
        self._done.release()

    def wait(self, what: str) -> None:
        """Wait for the messages."""
        if not self._done.acquire(blocking=False):
            waiting = self._waiting
            begun = time.monotonic()
            with waiting.step(what, self._peers):
                while not self._done.acquire(timeout=min(_SLICE, waiting.timeout)):
                    waiting.check(what, begun, self._peers[self._at :])
        self._done.release()  # for a second wait
        if self._error is not None:
            peer = self._peers[self._at]
            raise self._waiting.broken(what, [peer], str(self._error)) from None


class _Sum:
    """Numbers of all ranks that gloo combines, in a thread of its own.

    Args:
        work: The request.
        waiting: How this rank waits.
        finish: Is called when the numbers are there.
    """

    def __init__(self, work: Any, waiting: Waiting, finish: Callable[[], None]) -> None:
        self._work, self._waiting, self._finish = work, waiting, finish

    def wait(self, what: str) -> None:
        """Wait for the numbers."""
        work, self._work = self._work, None
        if work is None:
            return
        waiting = self._waiting
        begun = time.monotonic()
        limit = timedelta(seconds=min(_SLICE, waiting.timeout))
        with waiting.step(what, ()):
            while not self._is_done(work, limit, what):
                waiting.check(what, begun, ())
        self._finish()

    def _is_done(self, work: Any, limit: timedelta, what: str) -> bool:
        """Wait for some time; tell whether the numbers are there."""
        was_done = work.is_completed()
        try:
            work.wait(limit)
        except RuntimeError as error:
            if was_done:  # an error of its own, no time-out of this wait
                raise self._waiting.broken(what, (), str(error)) from None
            return False
        return True


class _DeviceWorks:
    """Requests of NCCL that have been started, on the stream of the session."""

    def __init__(
        self,
        works: Sequence[Any],
        held: Sequence[Any],
        engine: TorchEngine,
        finish: Callable[[], None] | None = None,
    ) -> None:
        self._works, self._held, self._engine, self._finish = works, held, engine, finish

    def wait(self, what: str) -> None:
        """Let later work on the stream of the session wait; the host goes on."""
        with self._engine.on_stream():
            for work in self._works:
                work.wait()
            if self._finish is not None:
                self._finish()
        self._engine.note(self._works, what)
        self._works = self._held = ()
        self._finish = None


class TorchEngine:
    """torch.distributed.

    Args:
        timeout: The time after which a rank stops waiting for others [s].
        group: A group of torch with the ranks; by default all processes.
    """

    name = "torch"

    def __init__(self, timeout: float, group: Any = None) -> None:
        torch, dist = import_module("torch"), import_module("torch.distributed")
        self._torch, self._dist = torch, dist
        self._limit = timedelta(seconds=timeout + _LATER)
        self._started = not dist.is_initialized()
        if self._started:
            _start(dist, self._limit, timeout)
        elif group is None:  # of our own, so that messages of the program's are not taken for ours
            group = dist.new_group(backend="gloo", timeout=self._limit)
        self._group = group
        # Its methods, since the functions of torch.distributed take 5 to 15 us more.
        self._gloo: Any = dist.group.WORLD if group is None else group
        self._from_numpy: Any = torch.from_numpy
        self._has_nccl: bool | None = None
        self._devices: Any = None  # the group for devices, from its first use on
        self.rank: int = dist.get_rank(group)
        self.size: int = dist.get_world_size(group)
        self.waiting = Waiting(self.rank, self.size, timeout)
        self._ops = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN}
        self._options = {name: _all_reduce_options(dist, one) for name, one in self._ops.items()}
        self._sent = [0] * self.size
        self._received = [0] * self.size
        self._running: deque[tuple[Any, str, float]] = deque()
        self._side_channel: TorchEngine | None = None

    @property
    def host(self) -> str | None:
        """The address by which others find rank 0, as far as variables say it."""
        return os.environ.get("MASTER_ADDR")

    @property
    def takes_device_memory(self) -> bool:
        """Whether arrays may be in the memory of a device; asking starts CUDA."""
        found = self._has_nccl
        if found is None:
            found = bool(self._dist.is_nccl_available() and self._torch.cuda.is_available())
            self._has_nccl = found
        return found

    def all_reduce(
        self, array: Array, op: str = "sum", *, agreed: bool = False, dtype: str = ""
    ) -> Pending:
        """Start to combine the numbers of all ranks."""
        self.waiting.begun += 1
        self.waiting.joined += 1
        if not isinstance(array, np.ndarray):
            return self._reduce_device(array, op)
        given = cast(HostArray, array)
        numbers, finish = carried(given, op)
        if not agreed:
            handshakes = handshakes_of(numbers, op, dtype or given.dtype.str, self.rank, self.size)

            def compare() -> None:
                combine(handshakes, numbers, op, self.rank)
                finish()

            work = self._gloo.allreduce([self._from_numpy(handshakes)], self._options["sum"])
            sent = _Sum(work, self.waiting, compare)
            if is_short(numbers):
                return sent
            sent.wait("a comparison of lengths")
        if not numbers.size:
            return Done()
        work = self._gloo.allreduce([self._from_numpy(numbers)], self._options[op])
        return _Sum(work, self.waiting, finish)

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> Pending:
        """Start to send and receive messages."""
        self.waiting.begun += 1
        if any(not isinstance(one.array, np.ndarray) for one in (*sends, *receives)):
            return self._exchange_device(sends, receives)
        copy_own(sends, receives, self.rank)
        works: list[Any] = []
        peers: list[int] = []
        for start, messages, counts in (
            (self._gloo.recv, receives, self._received),
            (self._gloo.send, sends, self._sent),
        ):
            for one in messages:
                peer = one.peer
                if peer == self.rank or not one.array.size:
                    continue
                numbers = as_bytes(one.array, filled=messages is receives)
                tag = self._tag(counts, peer, numbers.nbytes)
                works.append(start([self._from_numpy(numbers)], peer, tag))
                peers.append(peer)
        return _Exchange(works, peers, self.waiting) if works else Done()

    def _tag(self, counts: list[int], peer: int, nbytes: int) -> int:
        """Return a tag with which a message is received only in its turn, and of its length.

        Without tags gloo takes a short message for a long one.
        """
        counts[peer] += 1
        return counts[peer] % _TAGS << 19 | nbytes % ((1 << 19) - 1)

    def on_stream(self) -> AbstractContextManager[Any]:
        """Return a context in which torch works on the stream of the session."""
        handle, torch = session_stream(), self._torch
        # A context of torch takes 30 us; on a rank, the device of launches is the first that torch
        # sees.
        if torch._C._cuda_getCurrentRawStream(0) == handle:
            return nullcontext()
        cuda = torch.cuda
        return cuda.stream(cuda.ExternalStream(handle) if handle else cuda.default_stream())

    def _nccl(self) -> Any:
        """Return the group for devices; all ranks come here together at its first use."""
        if self._devices is None:
            limit = timedelta(seconds=self.waiting.timeout)
            ranks = None if self._group is None else self._dist.get_process_group_ranks(self._group)
            self._devices = self._dist.new_group(ranks, backend="nccl", timeout=limit)
            guard(self.waiting, self.late)
        return self._devices

    def _tensor(self, array: Array) -> Any:
        return self._torch.as_tensor(array, device="cuda")

    def _bytes(self, array: Array) -> Any:
        tensor, of_bytes = self._tensor(array), self._torch.uint8  # NCCL sends few other integers
        if tensor.dtype == of_bytes or not tensor.numel():
            return tensor
        return tensor.reshape(-1).view(of_bytes)

    def _reduce_device(self, array: Array, op: str) -> _DeviceWorks:
        group = self._nccl()
        with self.on_stream():
            tensor = self._tensor(array)
            name = str(tensor.dtype).removeprefix("torch.")
            check_op(op, name)
            if name == "uint64":
                raise RankError("Numbers of type u64 are combined in memory of the host only.")
            carrier = CARRIERS.get(name)
            numbers = tensor if carrier is None else tensor.to(getattr(self._torch, carrier))
            work = self._dist.all_reduce(numbers, self._ops[op], group=group, async_op=True)
        finish = None if carrier is None else lambda: tensor.copy_(numbers)
        return _DeviceWorks([work], [tensor, numbers, array], self, finish)

    def _exchange_device(
        self, sends: Sequence[Message], receives: Sequence[Message]
    ) -> _DeviceWorks:
        sent, received = (
            [(tensor, one.peer) for one in side if (tensor := self._bytes(one.array)).numel()]
            for side in (sends, receives)
        )
        with self.on_stream():
            works = self._post(sent, received) if sent or received else []
        return _DeviceWorks(works, [sent, received, sends, receives], self)

    def _post(self, sent: Sequence[Any], received: Sequence[Any]) -> list[Any]:
        """Start messages on the device: tensors, and the other rank of each; not none.

        As `batch_isend_irecv` does, whose checks take as long as a short message.
        """
        group = self._nccl()
        device = (*sent, *received)[0][0].device
        group._start_coalescing(device)
        for tensor, peer in sent:
            group.send([tensor], peer, 0)
        for tensor, peer in received:
            group.recv([tensor], peer, 0)
        return [group._end_coalescing(device)]

    def note(self, works: Sequence[Any], what: str) -> None:
        """Keep requests on a device, so that `late` can tell which of them take too long."""
        now, running = time.monotonic(), self._running
        running += [(work, what, now) for work in works]
        # From the oldest on, and no further than one that runs: to ask takes some microseconds.
        while running and len(running) > len(works) and running[0][0].is_completed():
            running.popleft()

    def late(self) -> str | None:
        """Return the step whose requests on the device take too long, or None."""
        limit = time.monotonic() - self.waiting.timeout
        for work, what, begun in tuple(self._running):
            if begun < limit and not work.is_completed():
                return what
        return None

    def side_channel(self) -> TorchEngine:
        """Return the engine over a second group of the same ranks."""
        if self._side_channel is None:
            dist = self._dist
            ranks = None if self._group is None else dist.get_process_group_ranks(self._group)
            group = dist.new_group(ranks, backend="gloo", timeout=self._limit)
            self._side_channel = TorchEngine(self.waiting.timeout, group)
            self._side_channel.waiting = self.waiting
        return self._side_channel

    def abort(self) -> None:
        """Do nothing: connections end with the process."""

    def stop(self) -> None:
        """End the groups that were made here, and with them the threads of gloo.

        Such a thread lets go of the numbers of a request after it has told that it is done. Where
        the interpreter has ended by then, that aborts the process.
        """
        side_channel, self._side_channel = self._side_channel, None
        if side_channel is not None:
            side_channel.stop()
        group, self._group, self._gloo, self._devices = self._group, None, None, None
        if not self._dist.is_initialized():
            return
        if self._started:
            self._dist.destroy_process_group()
        elif group is not None:
            self._dist.destroy_process_group(group)


def _start(dist: Any, limit: timedelta, timeout: float) -> None:
    """Start the default group of torch, by the variables of a launcher.

    Args:
        dist: torch.distributed.
        limit: The limit of waits in gloo.
        timeout: The limit for finding the others [s].
    """
    here = place()
    if here is None:
        raise RankError(
            "torch connects processes that a launcher has started, and sets variables for, such "
            "as RANK and WORLD_SIZE: torchrun --nproc-per-node=4 program.py"
        )
    if not has_address():
        _agree_on_address(here)
    found: list[Exception | None] = []

    def connect() -> None:
        try:
            dist.init_process_group("gloo", rank=here.rank, world_size=here.size, timeout=limit)
        except Exception as error:  # raised below
            found.append(error)
        else:
            found.append(None)

    # In a thread, since a program that listens there and does not answer lets torch wait for ever.
    begun = time.monotonic()
    thread = threading.Thread(target=connect, name="difftile start", daemon=True)
    thread.start()
    while not found and time.monotonic() - begun < timeout:
        thread.join(min(_SLICE, timeout))
    error = found[0] if found else TimeoutError("nobody answers there as torch does")
    if error is None:
        return
    if not isinstance(error, (RuntimeError, ValueError, OSError)):
        raise error
    first = str(error).strip().splitlines()[0].rstrip(".")
    raise RankError(
        f"Rank {here.rank} of {here.size} found no connection with the others, in "
        f"{time.monotonic() - begun:.0f} s, by MASTER_ADDR={os.environ['MASTER_ADDR']} and "
        f"MASTER_PORT={os.environ['MASTER_PORT']}: {first}. Another program may listen at that "
        "port: choose one that is free, the same for all ranks."
    ) from None


def _all_reduce_options(dist: Any, op: Any) -> Any:
    made = dist.AllreduceOptions()
    made.reduceOp = op
    return made


def _agree_on_address(here: RankPlace) -> None:
    raise RankError(
        f"{here.launcher} does not say where torch's processes meet. Before it, export "
        "MASTER_ADDR, the host of rank 0, and MASTER_PORT, such as 29500; or use MPI: "
        "DIFFTILE_RANKS=mpi."
    )
