"""Parts of memory on their way between ranks.

What a rank sends to itself is copied in the memory where it is. Where the engine takes memory of
the device, other messages are parts of the buffers themselves. Otherwise they are arrays of the
host: the buffers on the CPU, copies elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from difftile.diagnostics import RankError
from difftile.fields.exchange import HostArray
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.ranks import Message, current
from difftile.ranks.engine import Pending
from difftile.substrate import Buffer, current_session


@dataclass(frozen=True, slots=True)
class Part:
    """Elements of a field along its first axis, which go to a rank or come from it.

    Args:
        peer: The other rank; the own one for a copy.
        start: The first element.
        stop: The first element after them.
    """

    peer: int
    start: int
    stop: int


class Posted:
    """Messages that have been started; all buffers stay as they are until `wait`.

    Args:
        sources: The numbers to send, shape (n, ...) each; a message has the rows of all of them.
        sends: Their parts.
        targets: Take the received numbers, shape (m, ...), in the order of the sources.
        receives: Their parts, which do not overlap.
        clears: Set the rest of the targets to zero, where no part receives.
        axis: The axis of the parts in all of them; those before it have size 1.
    """

    __slots__ = ("_arrivals", "_messages", "_parts", "_pending", "_sources", "_targets")

    def __init__(
        self,
        sources: Sequence[Buffer],
        sends: Sequence[Part],
        targets: Sequence[Buffer],
        receives: Sequence[Part],
        *,
        clears: bool = True,
        axis: int = 0,
    ) -> None:
        for target in targets:
            if covers(receives, target.shape[axis]):
                target.abandon()
            elif clears:
                target.fill(0.0)
            target.zeros = False
        engine = current()
        _copy_own(sources, sends, targets, receives, engine.rank, axis)
        sends, receives = (
            [part for part in side if part.peer != engine.rank] for side in (sends, receives)
        )
        self._sources, self._targets, self._parts = sources, tuple(targets), receives  # alive
        self._arrivals: list[_HostRows] = []
        self._messages: list[HostArray] = []
        sent: list[Message] = []
        received: list[Message] = []
        if not sends and not receives:
            self._sources, self._pending = (), engine.exchange([], [])
            return
        on_device = all(map(_has_address, (*sources, *targets)))
        if on_device and engine.takes_device_memory:  # asking starts CUDA
            sent = [Message(p.peer, _bytes_of(b, p, axis)) for p in sends for b in sources]
            received = [Message(p.peer, _bytes_of(b, p, axis)) for p in receives for b in targets]
        else:
            leaving = [_HostRows(one, sends, axis) for one in sources]
            self._arrivals = [_HostRows(one, receives, axis) for one in targets]
            for one in (*leaving, *(self._arrivals if axis else ())):
                one.read()
            sent = [Message(part.peer, _joined(leaving, part)) for part in sends]
            self._messages = [_room(self._arrivals, part) for part in receives]
            received = [
                Message(part.peer, one) for part, one in zip(receives, self._messages, strict=True)
            ]
        self._pending: Pending = engine.exchange(sent, received)

    def wait(self, what: str) -> tuple[Buffer, ...]:
        """Wait for the messages; return the buffers with the received numbers.

        Args:
            what: The step, for errors.

        Raises:
            RankError: Another rank failed, or did not answer.
        """
        self._pending.wait(what)
        arrivals, self._arrivals = self._arrivals, []
        if len(arrivals) > 1:
            for part, message in zip(self._parts, self._messages, strict=True):
                at = 0
                for rows in arrivals:
                    into = rows.of(part)
                    into[...] = message[at : at + into.nbytes].view(into.dtype).reshape(into.shape)
                    at += into.nbytes
        for one in arrivals:
            one.write()
        return self._targets


def _copy_own(
    sources: Sequence[Buffer],
    sends: Sequence[Part],
    targets: Sequence[Buffer],
    receives: Sequence[Part],
    rank: int,
    axis: int,
) -> None:
    """Copy the parts that a rank sends to itself.

    Raises:
        RankError: Other parts are received than are sent.
    """
    own = [[(p.start, p.stop) for p in side if p.peer == rank] for side in (sends, receives)]
    if [stop - start for start, stop in own[0]] != [stop - start for start, stop in own[1]]:
        raise RankError(f"Rank {rank} sends the elements {own[0]} to itself and receives {own[1]}.")
    for (start, stop), (into, _) in zip(*own, strict=True):
        for source, target in zip(sources, targets, strict=True):
            row = math.prod((*source.shape[axis + 1 :], *shape_of(source.element)))
            target.copy_part(into * row, source, start * row, (stop - start) * row)


class _HostRows:
    """The rows of a buffer that messages have, in memory of the host.

    On the CPU that is the buffer itself, elsewhere memory from which copies are fast: of the rows
    along the first axis, and of the whole buffer for those along another one.

    Args:
        buffer: The buffer.
        parts: The parts of it.
        axis: Their axis.
    """

    __slots__ = ("_buffer", "_first", "_rows", "_taken")

    def __init__(self, buffer: Buffer, parts: Sequence[Part], axis: int) -> None:
        self._buffer = buffer
        if axis:
            parts = [Part(0, 0, buffer.shape[0])]
        self._first = min((part.start for part in parts), default=0)
        if buffer.device is None:
            self._first, self._taken = 0, buffer.array()
            self._rows = self._taken.reshape(self._taken.shape[axis:])
            return
        count = max((part.stop for part in parts), default=0) - self._first
        inner = *buffer.shape[1:], *shape_of(buffer.element)
        dtype = numpy_dtype(scalar_of(buffer.element))
        nbytes = math.prod((count, *inner)) * dtype.itemsize
        memory = current_session().backend.staging_memory(nbytes)
        self._taken = memory.view(dtype).reshape(count, *inner)
        self._rows = self._taken.reshape(self._taken.shape[axis:])

    def of(self, part: Part) -> HostArray:
        """Return the rows of a part."""
        return self._rows[part.start - self._first : part.stop - self._first]

    def read(self) -> None:
        """Take the contents of the buffer."""
        if self._buffer.device is not None:
            self._buffer.read_rows(self._first, self._taken)

    def write(self) -> None:
        """Put the contents into the buffer."""
        if self._buffer.device is not None:
            self._buffer.write_rows(self._first, self._taken)


def _joined(sources: Sequence[_HostRows], part: Part) -> HostArray:
    """Return the rows of a part of some sources as one message."""
    rows = [one.of(part) for one in sources]
    if len(rows) == 1:
        return rows[0]
    return np.concatenate([one.reshape(-1).view(np.uint8) for one in rows])


def _room(targets: Sequence[_HostRows], part: Part) -> HostArray:
    """Return memory for the message that is to become a part of some targets."""
    rows = [one.of(part) for one in targets]
    return rows[0] if len(rows) == 1 else np.empty(sum(one.nbytes for one in rows), np.uint8)


class ReturningGradients:
    """Gradients on their way back from received elements to the elements that were sent.

    Args:
        gradient: Of the received elements, shape (m, ...).
        receives: The parts that were received.
        to: A buffer in the shape of the elements that were sent.
        sends: The parts that were sent; they may overlap.
        frees: Whether the gradient is a copy, whose memory is given back when it has arrived.
    """

    __slots__ = ("_copy", "_parts", "_posted")

    def __init__(
        self,
        gradient: Buffer,
        receives: Sequence[Part],
        to: Buffer,
        sends: Sequence[Part],
        *,
        frees: bool = False,
    ) -> None:
        self._parts = sends
        self._copy = gradient if frees else None
        if covers(sends, to.shape[0]):
            into, parts = to.empty_like(), list(sends)
        else:
            parts: list[Part] = []
            at = 0
            for one in sends:
                parts.append(Part(one.peer, at, at + one.stop - one.start))
                at = parts[-1].stop
            into = to.pool.allocate(to.element, (at, *to.shape[1:]))
        self._posted = Posted([gradient], receives, [into], parts)

    def add_to(self, target: Buffer, what: str) -> None:
        """Wait for the gradients and add them.

        Args:
            target: The gradient of the elements that were sent.
            what: The step, for errors.

        Raises:
            RankError: Another rank failed, or did not answer.
        """
        (came,) = self._posted.wait(what)
        if came.shape == target.shape and covers(self._parts, target.shape[0]):
            target.add(came)
        else:
            numbers = came.array()

            def add(array: HostArray) -> None:
                at = 0
                for one in self._parts:
                    size = one.stop - one.start
                    into = array[one.start : one.stop]
                    np.add(into, numbers[at : at + size], out=into)
                    at += size

            target.change(add)
        self._free(came)

    def drop(self, what: str) -> None:
        """Wait for the gradients and let them go.

        Args:
            what: The step, for errors.

        Raises:
            RankError: Another rank failed, or did not answer.
        """
        self._free(*self._posted.wait(what))

    def _free(self, came: Buffer) -> None:
        came.free()
        if self._copy is not None:
            self._copy.free()


def covers(parts: Sequence[Part], size: int) -> bool:
    """Tell whether parts follow each other from the first element to the last."""
    at = 0
    for one in parts:
        if one.start != at:
            return False
        at = one.stop
    return at == size


class _OnDevice:
    """Memory of a device, as libraries on CUDA take it.

    Args:
        buffer: The buffer, which this keeps alive.
        start: Where the part of it begins [bytes].
        count: How many numbers it has.
        kind: Their type, in NumPy's short form.
    """

    __slots__ = ("__cuda_array_interface__", "_buffer")

    def __init__(self, buffer: Buffer, start: int, count: int, kind: str) -> None:
        self._buffer = buffer
        device: Any = buffer.device
        _ = device.handle  # with a fill that has waited
        self.__cuda_array_interface__ = {
            "data": (device.address + start, False),
            "shape": (count,),
            "typestr": kind,
            "strides": None,
            "version": 3,
        }


def _bytes_of(buffer: Buffer, part: Part, axis: int) -> _OnDevice:
    row = buffer.nbytes // max(1, buffer.shape[axis])
    return _OnDevice(buffer, part.start * row, (part.stop - part.start) * row, "|u1")


def device_memory(buffer: Buffer) -> Any:
    """Return a buffer as the engine takes it from a device; None where it does not."""
    if not _has_address(buffer) or not buffer.shape or not current().takes_device_memory:
        return None
    dtype = numpy_dtype(scalar_of(buffer.element))
    return _OnDevice(buffer, 0, buffer.nbytes // dtype.itemsize, dtype.str)


def _has_address(buffer: Buffer) -> bool:
    return bool(getattr(buffer.device, "address", 0))
