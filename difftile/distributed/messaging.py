"""Parts of memory on their way between ranks.

Where the engine takes memory of the device, messages are parts of the buffers themselves. Otherwise
they are arrays of the host: the buffers on the CPU, copies elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from difftile.fields.exchange import HostArray
from difftile.ir.types import numpy_dtype, scalar_of
from difftile.ranks import Message, current
from difftile.ranks.engine import Pending
from difftile.substrate import Buffer


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
    """Messages that have been started; both buffers stay as they are until `wait`.

    Args:
        source: The numbers to send, shape (n, ...).
        sends: Its parts.
        target: Takes the received numbers, shape (m, ...); becomes zero where no part receives.
        receives: Its parts, which do not overlap.
    """

    __slots__ = ("_pending", "_source", "_staged", "_target")

    def __init__(
        self, source: Buffer, sends: Sequence[Part], target: Buffer, receives: Sequence[Part]
    ) -> None:
        if covers(receives, target.shape[0]):
            target.abandon()
        else:
            target.fill(0.0)
            target.zeros = False
        engine = current()
        self._source, self._target = source, target  # alive
        self._staged: HostArray | None = None
        direct = _has_address(source) and _has_address(target) and engine.takes_device_memory
        if direct:
            sent = [_DevicePart(source, part) for part in sends]
            received = [_DevicePart(target, part) for part in receives]
        else:
            numbers = np.ascontiguousarray(source.array())
            into = target.array()
            if target.device is not None:
                self._staged = into
            sent = [numbers[part.start : part.stop] for part in sends]
            received = [into[part.start : part.stop] for part in receives]
        self._pending: Pending = engine.exchange(
            [Message(part.peer, one) for part, one in zip(sends, sent, strict=True)],
            [Message(part.peer, one) for part, one in zip(receives, received, strict=True)],
        )

    def wait(self, what: str) -> Buffer:
        """Wait for the messages; return the buffer with the received numbers.

        Args:
            what: The step, for errors.

        Raises:
            RankError: Another rank failed, or did not answer.
        """
        self._pending.wait(what)
        if self._staged is not None:
            self._target.write(self._staged)
            self._staged = None
        return self._target


class Returning:
    """Gradients on their way back from received elements to those that were sent.

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
        self._posted = Posted(gradient, receives, into, parts)

    def add_to(self, target: Buffer, what: str) -> None:
        """Wait for the gradients and add them.

        Args:
            target: The gradient of the elements that were sent.
            what: The step, for errors.

        Raises:
            RankError: Another rank failed, or did not answer.
        """
        came = self._posted.wait(what)
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
        self._free(self._posted.wait(what))

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


class _DevicePart:
    """A part of memory of a device, as libraries on CUDA take it."""

    __slots__ = ("__cuda_array_interface__", "_buffer")

    def __init__(self, buffer: Buffer, part: Part) -> None:
        self._buffer = buffer
        dtype = numpy_dtype(scalar_of(buffer.element))
        row = buffer.nbytes // max(1, buffer.shape[0])
        device: Any = buffer.device
        _ = device.handle  # with a fill that has waited
        self.__cuda_array_interface__ = {
            "data": (device.address + part.start * row, False),
            "shape": ((part.stop - part.start) * row // dtype.itemsize,),
            "typestr": dtype.str,
            "strides": None,
            "version": 3,
        }


def device_memory(buffer: Buffer) -> Any:
    """Return a buffer as the engine takes it from a device; None where it does not."""
    if not _has_address(buffer) or not buffer.shape or not current().takes_device_memory:
        return None
    return _DevicePart(buffer, Part(0, 0, buffer.shape[0]))


def _has_address(buffer: Buffer) -> bool:
    return bool(getattr(buffer.device, "address", 0))
