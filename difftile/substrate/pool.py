"""The pool of a session: free memory by kind, and how much old contents take.

A buffer with pins and without owners has old contents: a tape reads them again, and no field has
them any more. Their bytes are counted in `Pool.kept`, so each change of a buffer's
`pins` or `owners` that enters or leaves this state changes the count by the buffer's `held`:

    pins  owners
      0     > 0    a field's contents                     not counted
    > 0     > 0    a field's contents, read again         not counted
    > 0       0    old contents                           counted
      0       0    free, in the pool                      not counted

A record that reads contents again pins them by `keep`, while a field owns them, and `unpin` takes
the pin away. Where others may write into the field's memory, a copy is pinned: so their
writes falsify no record, and the field need not leave.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Protocol

from difftile.diagnostics import FieldError, OutOfMemory
from difftile.ir.types import MAX_ELEMENTS, Type, nbytes_of, shape_of
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Buffer, DeviceArray, Terms

_WORTH_PACKING = 1 << 15  # bytes; to look for the zeros takes as long as to copy some kilobytes
_ATTEMPTS_LEFT_OUT = 15


class Holder(Protocol):
    """An object that has its contents in a buffer."""

    memory: Buffer


class Pool:
    """The memory of one session: buffers that were given back, and a count of old contents.

    `kept` is the bytes of old contents; `peak` is the most that it has been since it was last set.
    `entered` is the sum of all bytes that ever became old contents: what a tape keeps has grown by
    no more than it has, whatever other threads keep or let go of meanwhile.

    Args:
        device_array: Makes memory of the device; None where fields live in memory of the host.
        device_array_over: Makes an array of memory that others have lent, from its address.
    """

    def __init__(
        self,
        device_array: Callable[[Type, tuple[int, ...]], DeviceArray] | None,
        device_array_over: Callable[[Type, tuple[int, ...], int], DeviceArray] | None = None,
    ) -> None:
        self.device_array = device_array
        self.device_array_over = device_array_over
        self._free: dict[tuple[Type, tuple[int, ...]], list[Buffer]] = {}
        self.unpackable: dict[int, int] = {}  # attempts to pack that are left out, by kind
        self.kept = 0
        self.entered = 0
        self.peak = 0
        self.ended = False  # whether buffers that come back are dropped

    @property
    def held(self) -> int:
        """Bytes of the free buffers."""
        return sum(buffer.nbytes for free in self._free.values() for buffer in free)

    def allocate(self, element: Type, shape: tuple[int, ...]) -> Buffer:
        """Return a buffer with any contents.

        Raises:
            OutOfMemory: The memory is not there.
        """
        free = self._free.setdefault((element, shape), [])
        return _usable(free) or self._allocate(element, shape, free)

    def allocate_like(self, other: Buffer) -> Buffer:
        """Return a buffer of the same kind as another of this pool, with any contents.

        Raises:
            OutOfMemory: The memory is not there.
        """
        free = other.siblings
        return _usable(free) or self._allocate(other.element, other.shape, free)

    def lent(
        self, element: Type, shape: tuple[int, ...], address: int, lender: object, terms: Terms
    ) -> Buffer:
        """Return a buffer of memory that others have lent; see `Buffer.lent`."""
        kind: Buffer = object.__new__(Buffer)  # without memory
        kind.element, kind.shape, kind.pool = element, shape, self
        kind.nbytes = nbytes_of(element, shape)
        kind.siblings = self._free.setdefault((element, shape), [])
        return Buffer.lent(kind, address, lender, terms)

    def _allocate(self, element: Type, shape: tuple[int, ...], siblings: list[Buffer]) -> Buffer:
        if prod(shape) * prod(shape_of(element)) > MAX_ELEMENTS:
            raise FieldError(
                f"A field of {element}, shape {shape}, is too large: kernels index up to "
                "2**31 - 1 numbers in one field. Split it, for example along its first axis."
            )
        try:
            buffer = Buffer(element, shape, self)
        except RecursionError:
            raise
        except (MemoryError, RuntimeError) as error:
            raise OutOfMemory(
                f"No memory for a field of {element}, shape {shape}: {error}"
            ) from None
        buffer.siblings = siblings
        return buffer

    def keep(self, nbytes: int) -> None:
        """Count bytes that a tape keeps; a negative number when it lets go of them."""
        self.kept += nbytes
        if nbytes > 0:
            self.entered += nbytes
        self.peak = max(self.peak, self.kept)

    def clear(self) -> None:
        """Drop all free buffers."""
        for free in self._free.values():
            free.clear()  # in place: living buffers know their list


def keep(holder: Holder, *, packing: bool = False) -> Buffer:
    """Pin the present contents of a field for a record that reads them again.

    Args:
        holder: The field.
        packing: Whether the record is prepared for packed contents.

    Returns:
        The buffer with the contents: the field's own, or a copy where others may write into it.
        Records of the same contents share a copy.

    Raises:
        OutOfMemory: There is no memory for the copy.
    """
    buffer = holder.memory
    if buffer.contents.sharers:
        buffer = _copy_of(buffer)
    buffer.pins += 1
    buffer.packing_pins += packing
    return buffer


def _copy_of(shared: Buffer) -> Buffer:
    """Return a copy of the contents of shared memory, which the caller pins."""
    copy = shared.contents.copy
    if (
        copy is not None
        and copy.pins
        and not copy.owners  # once it was free, it may be any field's
        and copy.packed is None
        and copy.shape == shared.shape
        and copy.has_contents_of(shared)
    ):
        return copy
    copy = shared.empty_like()
    copy.copy_from(shared)
    shared.contents.copy = copy
    shared.pool.keep(copy.held)
    return copy


def relieve(holder: Holder, *, copy: bool) -> Buffer:
    """Let a field of a pinned buffer go on in another one, with the same contents or with any.

    Returns:
        The buffer that the field has left, unless another thread was faster.

    Raises:
        OutOfMemory: The memory is not there.
    """
    with LOCK:
        old = holder.memory
        if not old.pins:
            return old
        fresh = old.empty_like()
        if copy:
            fresh.copy_from(old)
            fresh.contents.known = old.contents.known
        # No calls from here to the end, so that no signal is handled in between: a field
        # without an owned buffer, or bytes that are counted twice, would outlive the signal.
        pool = old.pool
        fresh.owners += 1
        holder.memory = fresh
        old.owners -= 1
        if not old.owners:
            pool.kept += old.held
            pool.entered += old.held
            if pool.kept > pool.peak:  # noqa: PLR1730 - a call
                pool.peak = pool.kept
        return old


def pack(*buffers: Buffer) -> None:
    """Pack old contents that are large and mostly zero, if all their readers can unpack.

    Args:
        buffers: Buffers that fields have left.
    """
    for buffer in buffers:
        if buffer.lender is not None:
            buffer.left()
            continue
        if (
            buffer.nbytes < _WORTH_PACKING
            or buffer.owners
            or not buffer.pins
            or buffer.pins != buffer.packing_pins
            or buffer.packed is not None
        ):
            continue
        # Fields of a kind that were not mostly zero will hardly be so at the next launch.
        kind, unpackable = id(buffer.siblings), buffer.pool.unpackable
        left_out = unpackable.get(kind, 0)
        if left_out:
            unpackable[kind] = left_out - 1
            continue
        memory = buffer.pack()
        if memory is None:
            unpackable[kind] = _ATTEMPTS_LEFT_OUT
        else:
            buffer.pool.kept -= buffer.nbytes - buffer.held
            memory.free()


def unpin(*buffers: Buffer, packing: bool = False) -> None:
    """Release contents that a record of a tape kept.

    Args:
        buffers: Buffers with the contents.
        packing: Whether the record was prepared for packed contents.
    """
    for buffer in buffers:
        buffer.pins -= 1
        buffer.packing_pins -= packing
        if not buffer.pins and not buffer.owners:
            buffer.pool.kept -= buffer.held
            buffer.free()


def _usable(free: list[Buffer]) -> Buffer | None:
    """Take one of some free buffers.

    Where a field was part of a cycle of objects, Python may have told the backend to free its
    memory in the same breath in which the field gave its buffer back.
    """
    while True:
        try:
            buffer = free.pop()
        except IndexError:
            return None
        if buffer.device is None or not buffer.device.is_finalized:
            return buffer
