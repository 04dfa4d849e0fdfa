"""Blocks of memory that kernels work on, and a pool of those that came back.

On the CPU a block is a NumPy array that kernels get by its address: reading and writing it from
Python costs nothing, and a new start of Taichi does not invalidate it. Elsewhere it is a Taichi
ndarray.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import taichi as ti

from difftile.diagnostics import FieldError, OutOfMemory
from difftile.ir.types import Type, numpy_dtype, scalar_of, shape_of
from difftile.substrate.device import Session, current
from difftile.substrate.lock import LOCK
from difftile.substrate.packing import Packed, pack
from difftile.substrate.taichi.names import to_taichi
from difftile.substrate.taichi.ndarrays import add, copy_rows, fill

_ALIGNMENT = 64  # a cache line, and the widest vector register
MAX_ELEMENTS = 2**31 - 1  # Taichi indexes with i32
_WORTH_PACKING = 1 << 15  # bytes; to look for the zeros takes as long as to copy some kilobytes
_ATTEMPTS_LEFT_OUT = 15


ZEROS = object()


class Contents:
    """What is known of what a block of memory holds: `ZEROS`, a name of its own, or None.

    Whoever writes sets it to None.
    """

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: object = None

    @property
    def version(self) -> object:
        """What stays the same object until the contents change."""
        if self.known is None:
            self.known = object()
        return self.known


class Buffer:
    """A block of memory for elements of one type in one shape.

    `owners` counts the fields whose contents are here now. `pins` counts the tape records that
    read these contents again: while it is above zero nothing must write here. With neither it is
    free, and goes to `siblings`, the free buffers of its kind. `zeros` says that all contents are
    known to be zero; whoever writes here by another way than the methods below takes it back.

    Old contents that are mostly zero may be packed. `packing_pins` counts the pins whose holders
    are prepared for that: they read the contents of `unpacked()`. A packed buffer has no memory of
    its own, not even an address. `held` is the bytes that old contents take.
    """

    __slots__ = (
        "_array",
        "_reshaped",
        "address",
        "contents",
        "element",
        "held",
        "nbytes",
        "ndarray",
        "owners",
        "packed",
        "packing_pins",
        "pins",
        "session",
        "shape",
        "siblings",
    )

    def __init__(self, element: Type, shape: tuple[int, ...], session: Session) -> None:
        self.element = element
        self.shape = shape
        self.session = session
        self.pins = self.packing_pins = 0
        self.owners = 0
        self.packed: _PackedBuffer | None = None
        self.siblings: list[Buffer] = []
        self._reshaped: dict[tuple[int, ...], Buffer] = {}
        self.contents = Contents()  # shared with those of other shapes
        dtype = numpy_dtype(scalar_of(element))
        full = (*shape, *shape_of(element))
        self.nbytes = self.held = math.prod(full) * dtype.itemsize
        self.ndarray: Any = None
        self._array: npt.NDArray[Any] | None = None
        self.address = 0
        if session.on_host:
            raw = np.empty(self.nbytes + _ALIGNMENT, np.uint8)
            start: int = raw.__array_interface__["data"][0]
            offset = -start % _ALIGNMENT
            self._array = np.ndarray(full, dtype, raw.data, offset)
            self.address = start + offset
        else:
            with LOCK:
                self.ndarray = ti.ndarray(to_taichi(element), shape)

    @property
    def zeros(self) -> bool:
        """Whether all contents are known to be zero."""
        return self.contents.known is ZEROS

    @zeros.setter
    def zeros(self, value: bool) -> None:
        self.contents.known = ZEROS if value else None

    @property
    def view(self) -> npt.NDArray[Any] | None:
        """The memory as a NumPy array where it is on the host, else None."""
        self.zeros = False
        return self._array

    def array(self) -> npt.NDArray[Any]:
        """Return the contents as an array, which may be the memory itself: not to be written."""
        return self.read() if self._array is None else self._array

    def change(self, change: Callable[[npt.NDArray[Any]], None]) -> None:
        """Let a function change the contents, given as an array."""
        self.zeros = False
        values = self.array()
        change(values)
        if self._array is None:
            self.write(values)

    def under(self, shape: tuple[int, ...]) -> Buffer:
        """Return the same memory as a buffer of another shape; it is not owned or pinned itself.

        Raises:
            FieldError: The memory is not on the host.
        """
        found = self._reshaped.get(shape)
        if found is None:
            if self._array is None:
                raise FieldError(
                    "Fields are reshaped on the CPU alone; elsewhere copy the contents: "
                    "dt.from_numpy(x.to_numpy().reshape(...))."
                )
            found = self._alias(shape)
            self._reshaped[shape] = found
        return found

    def _alias(self, shape: tuple[int, ...]) -> Buffer:
        """Return another buffer of the same memory."""
        assert self._array is not None
        other = object.__new__(Buffer)
        for name in ("element", "session", "nbytes", "held", "ndarray", "address", "contents"):
            setattr(other, name, getattr(self, name))
        other.shape = shape
        other.pins = other.packing_pins = other.owners = 0
        other.packed = None
        other.siblings, other._reshaped = [], {}
        other._array = self._array.reshape((*shape, *shape_of(self.element)))
        return other

    def pack(self) -> Buffer | None:
        """Keep the contents as the part that is not zero; return the memory if that is worth it."""
        if self._array is None or self._reshaped or not self.shape:
            return None
        packed = pack(self._array)
        if packed is None:
            return None
        memory = self._alias(self.shape)
        memory.siblings = self.siblings
        self.packed = _PackedBuffer(packed)
        self.held = packed.values.nbytes
        self._array = None
        del self.address  # whoever forgets to unpack is told
        return memory

    def unpacked(self) -> Buffer:
        """Return a buffer that holds the contents: this one, or another until the last pin goes."""
        if self.packed is None:
            return self
        if self.packed.memory is None:
            memory = self.packed.memory = POOL.take_like(self)
            assert memory._array is not None
            memory.zeros = False
            self.packed.contents.unpack(memory._array)
            POOL.keep(memory.nbytes)
            self.held += memory.nbytes
        return self.packed.memory

    def read(self) -> npt.NDArray[Any]:
        """Return a copy of the contents; element components are trailing axes."""
        if self._array is not None:
            return self._array.copy()
        with LOCK:
            return self.ndarray.to_numpy().reshape((*self.shape, *shape_of(self.element)))

    def write(self, values: npt.NDArray[Any]) -> None:
        """Set the contents from an array of the same shape and dtype."""
        self.zeros = False
        if self._array is not None:
            self._array[...] = values
        else:
            with LOCK:
                self.ndarray.from_numpy(np.array(values, order="C"))

    def read_at(self, index: tuple[int, ...]) -> Any:
        """Return one element: a NumPy number, or a copy of its components."""
        if self._array is not None:
            found = self._array[index]
            return found.copy() if isinstance(found, np.ndarray) else found
        with LOCK:
            found = self.ndarray[index if index else None]
        dtype = numpy_dtype(scalar_of(self.element))
        return found.to_numpy() if shape_of(self.element) else dtype.type(found)

    def write_at(self, index: tuple[int, ...], value: npt.NDArray[Any]) -> None:
        """Set one element."""
        self.zeros = False
        if self._array is not None:
            self._array[index] = value
        else:
            with LOCK:
                self.ndarray[index if index else None] = value.tolist()

    def fill(self, number: float) -> None:
        """Set every number to one value."""
        if number == 0 and self.zeros:
            return
        self.zeros = False
        if self._array is not None:
            self._array.fill(number)
        elif float(number) == number:
            with LOCK:
                fill(self.ndarray, number, to_taichi(scalar_of(self.element)))
        else:  # an integer that double precision does not hold
            full = (*self.shape, *shape_of(self.element))
            self.write(np.full(full, number, numpy_dtype(scalar_of(self.element))))
        self.zeros = number == 0  # only now: Ctrl+C may come before

    def copy_from(self, other: Buffer) -> None:
        """Set the contents from a buffer of the same shape and element."""
        self.zeros = False
        if self._array is not None:
            self._array[...] = other._array
        else:
            with LOCK:
                self.ndarray.copy_from(other.ndarray)
        self.zeros = other.zeros

    def copy_rows(self, other: Buffer, index: Buffer) -> None:
        """Set each row, all elements with one first index, from a row of a buffer of the kind.

        Args:
            other: It; the sizes of its other axes are those of this one.
            index: Which row, i32, shape (rows,); -1 sets zeros.
        """
        self.zeros = False
        if self._array is not None:
            rows = index.array()
            np.take(other.array(), rows, axis=0, out=self._array, mode="wrap")
            self._array[rows < 0] = 0
        else:
            with LOCK:
                copy_rows(other.ndarray, index.ndarray, self.ndarray)

    def add(self, other: Buffer) -> None:
        """Add the contents of a buffer of the same shape and element."""
        self.zeros = False
        if self._array is not None:
            self._array += other.array()
        else:
            with LOCK:
                add(self.ndarray, other.ndarray)


@dataclass(slots=True)
class _PackedBuffer:
    """Contents without memory of their own.

    Args:
        contents: What is not zero.
        memory: What they were unpacked into.
    """

    contents: Packed
    memory: Buffer | None = None


class Holder(Protocol):
    """What has its contents in a buffer."""

    buffer: Buffer


class Pool:
    """Buffers that were given back, by element and shape, and a count of what tapes keep.

    `kept` is the bytes of old values: of buffers that are pinned and hold no field's contents any
    more. `peak` is the most that it has been since it was last set.
    """

    def __init__(self) -> None:
        self._free: dict[tuple[Type, tuple[int, ...]], list[Buffer]] = {}
        self._session: Session | None = None
        self._unpackable: dict[int, int] = {}  # attempts to leave out, by kind
        self.kept = 0
        self.peak = 0

    @property
    def held(self) -> int:
        """Bytes of the free buffers."""
        return sum(buffer.nbytes for free in self._free.values() for buffer in free)

    def take(self, element: Type, shape: tuple[int, ...]) -> Buffer:
        """Return a buffer with any contents.

        Raises:
            OutOfMemory: The memory is not there.
        """
        session = current()
        if session is not self._session:
            self._free = {}
            self._session = session
        free = self._free.setdefault((element, shape), [])
        return _usable(free) or _allocate(element, shape, session, free)

    def take_like(self, other: Buffer) -> Buffer:
        """Return a buffer of the same kind as another of this session, with any contents."""
        free = other.siblings
        return _usable(free) or _allocate(other.element, other.shape, other.session, free)

    def own(self, buffer: Buffer) -> None:
        """Note that one field more has its contents here."""
        if buffer.pins and not buffer.owners:
            self.kept -= buffer.held
        buffer.owners += 1

    def disown(self, buffer: Buffer) -> None:
        """Note that one field less has its contents here."""
        buffer.owners -= 1
        if buffer.owners:
            return
        if buffer.pins:
            self.keep(buffer.held)
        else:
            self.give(buffer)

    def relieve(self, holder: Holder, *, copy: bool) -> Buffer:
        """Let a field of a pinned buffer go on in another one, with the same contents or with any.

        Returns:
            The buffer that it has left, unless another thread was faster.

        Raises:
            OutOfMemory: The memory is not there.
        """
        with LOCK:
            old = holder.buffer
            if not old.pins:
                return old
            fresh = self.take_like(old)
            if copy:
                fresh.copy_from(old)
            # Nothing is called from here on to the end, so that no signal comes in between.
            fresh.owners += 1
            holder.buffer = fresh
            old.owners -= 1
            if not old.owners:
                self.kept += old.held
                if self.kept > self.peak:  # noqa: PLR1730 - a call
                    self.peak = self.kept
            return old

    def pack(self, *buffers: Buffer) -> None:
        """Pack old contents that are large, mostly zero and read by those who can unpack."""
        for buffer in buffers:
            if (
                buffer.nbytes < _WORTH_PACKING
                or buffer.owners
                or not buffer.pins
                or buffer.pins != buffer.packing_pins
                or buffer.packed is not None
            ):
                continue
            # Fields of a kind that were not mostly zero will hardly be so at the next launch.
            kind = id(buffer.siblings)
            left_out = self._unpackable.get(kind, 0)
            if left_out:
                self._unpackable[kind] = left_out - 1
                continue
            memory = buffer.pack()
            if memory is None:
                self._unpackable[kind] = _ATTEMPTS_LEFT_OUT
            else:
                self.kept -= buffer.nbytes - buffer.held
                self.give(memory)

    def unpin(self, *buffers: Buffer, packing: bool = False) -> None:
        """Let go of contents that a record of a tape kept.

        Args:
            buffers: Where they are.
            packing: Whether the record was prepared for them to be packed.
        """
        for buffer in buffers:
            buffer.pins -= 1
            buffer.packing_pins -= packing
            if not buffer.pins and not buffer.owners:
                self.kept -= buffer.held
                self.give(buffer)

    def keep(self, nbytes: int) -> None:
        """Count bytes that a tape keeps elsewhere; a negative number when it lets go of them."""
        self.kept += nbytes
        self.peak = max(self.peak, self.kept)

    def give(self, buffer: Buffer) -> None:
        """Take a buffer back that nothing refers to any more."""
        memory = buffer if buffer.packed is None else buffer.packed.memory
        if memory is not None and buffer.session is self._session:
            buffer.siblings.append(memory)

    def clear(self) -> None:
        """Let go of everything that is free."""
        for free in self._free.values():
            free.clear()  # in place: living buffers know their list


def _usable(free: list[Buffer]) -> Buffer | None:
    """Take one of some free buffers.

    Where a field was part of a cycle of objects, Python may have told Taichi to free its memory in
    the same breath in which the field gave its buffer back.
    """
    while True:
        try:
            buffer = free.pop()
        except IndexError:
            return None
        if buffer.ndarray is None or not gc.is_finalized(buffer.ndarray):
            return buffer


def _allocate(
    element: Type, shape: tuple[int, ...], session: Session, siblings: list[Buffer]
) -> Buffer:
    """Return a new buffer.

    Raises:
        OutOfMemory: The memory is not there.
    """
    try:
        buffer = Buffer(element, shape, session)
    except RecursionError:
        raise
    except (MemoryError, RuntimeError) as error:
        raise OutOfMemory(f"No memory for a field of {element}, shape {shape}: {error}") from None
    buffer.siblings = siblings
    return buffer


POOL = Pool()
