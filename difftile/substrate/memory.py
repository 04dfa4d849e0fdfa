"""Blocks of memory that programs work on.

On the CPU a block is a NumPy array that compiled code gets by its address, so Python reads and
writes it without a copy. Elsewhere the block is an array of the backend.

A block may be borrowed from another library, or shared with one (`dlpack`). Where others may
write, the contents are unknown, and a record that reads them again keeps a copy.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.ir.types import Type, nbytes_of, numpy_dtype, scalar_of, shape_of
from difftile.records import dataclass
from difftile.substrate.packing import Packed, pack

if TYPE_CHECKING:
    from difftile.substrate.pool import Pool

_ALIGNMENT = 64  # a cache line, and the widest vector register
_ZEROS = object()
_GONE = object()  # stands for those who have lent memory that they were given back

Box: TypeAlias = tuple[tuple[int, int], ...]
"""A part of an array: along each axis where it starts, and where it stops."""


class DeviceArray(Protocol):
    """Memory of a device that the host does not see.

    Arrays from the host have the shape of the memory and then the shape of an element. Operations
    on two arrays expect the same element, and the same shape unless they say otherwise.
    """

    @property
    def handle(self) -> Any:
        """The memory as a launch of the backend takes it, which may write it afterwards."""
        ...

    @property
    def is_finalized(self) -> bool:
        """Whether Python has finalized the memory, which still has references to it."""
        ...

    def read(self) -> npt.NDArray[Any]:
        """Return a copy of the contents."""
        ...

    def write(self, values: npt.NDArray[Any]) -> None:
        """Set the contents."""
        ...

    def read_rows(self, first: int, into: npt.NDArray[Any]) -> None:
        """Set an array, without gaps, from as many elements along the first axis."""
        ...

    def write_rows(self, first: int, values: npt.NDArray[Any]) -> None:
        """Set elements along the first axis from an array without gaps."""
        ...

    def read_at(self, index: tuple[int, ...]) -> Any:
        """Return one element: a number, or a copy of its components."""
        ...

    def write_at(self, index: tuple[int, ...], value: npt.NDArray[Any]) -> None:
        """Set one element."""
        ...

    def fill(self, number: float) -> None:
        """Set every number, at the latest when the contents are used."""
        ...

    def clear(self, box: Box) -> None:
        """Set the elements of a box to zero, at the latest when the contents are used."""
        ...

    def abandon(self) -> None:
        """Let the contents be any."""
        ...

    def copy_from(self, other: Any) -> None:
        """Set the contents from another array."""
        ...

    def copy_part(self, first: int, other: Any, start: int, count: int) -> None:
        """Copy numbers of another flat array into this one, from an index on."""
        ...

    def copy_box(self, box: Box, packed: Any, *, back: bool) -> bool:
        """Copy a box to an array that holds nothing else, or back; tell whether that was done."""
        ...

    def copy_rows(self, other: Any, index: Any) -> None:
        """Set each row from the row of another array that the index has for it; -1 sets zeros."""
        ...

    def add(self, other: Any) -> None:
        """Add the contents of another array."""
        ...


class Terms(Enum):
    """The terms of memory that another library has lent."""

    SHARED = "both sides write it"
    READ_ONLY = "nobody writes it"
    GUARDED = "a field that is written leaves it first"
    LENT = "nobody else looks at it as long as a field has it"


_GUARDED, _SHARED = Terms.GUARDED, Terms.SHARED


class _Unwritten:
    """Stands where a version was while others may write: it is there until the session writes.

    Args:
        version: The version.
    """

    __slots__ = ("version",)

    def __init__(self, version: object) -> None:
        self.version = version


class Contents:
    """The knowledge about the contents of a block: `known` is `_ZEROS`, a version, or None.

    Each write of the session sets `known` to None.

    Attributes:
        sharers: The number of others who may write the block at any time; while there are some,
            the contents are unknown.
        copy: The latest copy that was made of the contents of a shared block for a record.
    """

    __slots__ = ("copy", "known", "sharers")

    def __init__(self) -> None:
        self.known: object = None
        self.sharers = 0
        self.copy: Buffer | None = None

    @property
    def version(self) -> object:
        """An object that stays the same until the contents change."""
        if self.sharers:
            return object()
        if self.known is None or isinstance(self.known, _Unwritten):
            self.known = object()
        return self.known

    def share(self) -> None:
        """Note that one more may write at any time."""
        if not isinstance(self.known, _Unwritten):
            self.known = _Unwritten(self.known)
        self.sharers += 1

    def unshare(self) -> None:
        """Note that one of those who might write is gone."""
        self.sharers -= 1
        if not self.sharers:
            self.copy = None

    def mark(self) -> object:
        """Return an object by which `is_unwritten_since` remembers this moment."""
        if not self.sharers:
            return self.version
        if not isinstance(self.known, _Unwritten):
            self.known = _Unwritten(None)
        return self.known

    @property
    def is_uncertain(self) -> bool:
        """Whether others may write, or might since the session wrote last."""
        return isinstance(self.known, _Unwritten)

    def go_back(self, mark: object) -> None:
        """Note that a shared block was given the contents that it had at a moment."""
        self.known = mark if isinstance(mark, _Unwritten) else _Unwritten(mark)

    def is_unwritten_since(self, mark: object) -> bool:
        """Tell whether the session has not written since a moment; writes of others are unknown."""
        known = self.known
        return known is mark or (isinstance(known, _Unwritten) and known.version is mark)


class Buffer:
    """A block of memory for elements of one type in one shape.

    `owners` counts the fields whose contents are here now. `pins` counts the tape records that
    read these contents again: while it is above zero, the contents must not change. A buffer with
    neither is free, and belongs to `siblings`, the free buffers of its kind. `zeros` says that all
    contents are known to be zero; code that writes here without the methods below resets it.

    Old contents that are mostly zero may be packed. `packing_pins` counts the pins whose holders
    are prepared for that: they read the contents of `unpacked()`. A packed buffer has no memory of
    its own, not even an address. `held` is the bytes that old contents take.

    A buffer that others may write is shared: it has no pins, and its field stays in it. One of
    memory that others have lent keeps that alive by its `lender` until it is free, takes no bytes
    of the session, and does not go back to the pool. Where a field that is written has to leave it,
    it has one pin more as long as a field has its contents here: `guard` tells whether it has that
    pin now, and is None for memory that needs none.
    """

    __slots__ = (
        "_array",
        "_reshaped",
        "address",
        "contents",
        "device",
        "element",
        "guard",
        "held",
        "lender",
        "nbytes",
        "owners",
        "packed",
        "packing_pins",
        "pins",
        "pool",
        "shape",
        "siblings",
    )

    def __init__(self, element: Type, shape: tuple[int, ...], pool: Pool) -> None:
        self.element = element
        self.shape = shape
        self.pool = pool
        self.pins = self.packing_pins = 0
        self.owners = 0
        self.packed: _PackedBuffer | None = None
        self.siblings: list[Buffer] = []
        self._reshaped: dict[tuple[int, ...], Buffer] = {}
        self.contents = Contents()  # shared with views of other shapes
        dtype = numpy_dtype(scalar_of(element))
        full = (*shape, *shape_of(element))
        self.nbytes = self.held = nbytes_of(element, shape)
        self.lender: object = None
        self.guard: bool | None = None
        self.device: DeviceArray | None = None
        self._array: npt.NDArray[Any] | None = None
        self.address = 0
        if pool.device_array is not None:
            self.device = pool.device_array(element, shape)
        else:
            raw = np.empty(self.nbytes + _ALIGNMENT, np.uint8)
            start: int = raw.__array_interface__["data"][0]
            offset = -start % _ALIGNMENT
            self._array = np.ndarray(full, dtype, raw.data, offset)
            self.address = start + offset

    @staticmethod
    def lent(kind: Buffer, address: int, lender: object, terms: Terms) -> Buffer:
        """Return a buffer on memory that another library has lent.

        Args:
            kind: A buffer of the same kind and session; `Pool.lent` needs none.
            address: Where the memory begins; the elements follow each other without gaps.
            lender: Keeps the memory alive; None where the caller sees to that.
            terms: The terms of the loan.
        """
        made: Buffer = object.__new__(Buffer)
        made.element, made.shape, made.pool = kind.element, kind.shape, kind.pool
        made.nbytes, made.siblings = kind.nbytes, kind.siblings
        made.pins = made.packing_pins = made.owners = made.held = 0
        made.packed = made.device = None
        made.contents = Contents()
        made.guard = None
        if terms is _GUARDED:
            made.guard = False
        elif terms is _SHARED:
            made.contents.share()
        made.address, made.lender = address, _GONE if lender is None else lender
        over_device = made.pool.device_array_over
        if over_device is not None:
            made._array = None
            made.device = over_device(made.element, made.shape, address)
        return made

    @staticmethod
    def passing(kind: Buffer, address: int) -> Buffer:
        """Return a buffer on memory that another library has lent for one launch.

        The buffer has only the attributes that a launch reads; it is not owned, pinned or freed.
        Memory of a device becomes an array of the backend once it is filled or copied.

        Args:
            kind: A buffer of the same kind and session.
            address: Where the memory begins; the elements follow each other without gaps.
        """
        made: Buffer = object.__new__(Buffer)
        made.element = kind.element
        made.shape, made.nbytes, made.address = kind.shape, kind.nbytes, address
        made.contents = Contents()
        made.packed = None
        made.pool = kind.pool
        return made

    def __getattr__(self, name: str) -> Any:
        """Make an attribute that launches on lent memory do not need, at its first use."""
        if name == "_reshaped":
            self._reshaped = {}
            return self._reshaped
        over_device = self.pool.device_array_over
        if name == "device":
            self.device = None
            if over_device is not None:
                self.device = over_device(self.element, self.shape, self.address)
            return self.device
        if name != "_array":
            raise AttributeError(f"a buffer has no '{name}' now")
        if over_device is not None:
            self._array = None
            return None
        memory: Any = (ctypes.c_char * self.nbytes).from_address(self.address)
        full = (*self.shape, *shape_of(self.element))
        self._array = np.ndarray(full, numpy_dtype(scalar_of(self.element)), memory)
        return self._array

    # Who needs it

    @property
    def is_shared(self) -> bool:
        """Whether others may write here at any time."""
        return self.contents.sharers > 0

    def meets(self, other: Buffer) -> bool:
        """Tell whether two blocks have bytes in common."""
        return (
            self.address < other.address + other.nbytes
            and other.address < self.address + self.nbytes
        )

    def has_contents_of(self, other: Buffer) -> bool:
        """Tell whether all bits equal the bits of a buffer of the same kind."""
        one, two = (
            np.ascontiguousarray(b.array()).reshape(-1).view(np.uint8) for b in (self, other)
        )
        return bool(np.array_equal(one, two))

    def empty_like(self) -> Buffer:
        """Return a buffer of the same kind and session, with any contents.

        Raises:
            OutOfMemory: The memory is not there.
        """
        return self.pool.allocate_like(self)

    def own(self) -> None:
        """Note that one field more has its contents here."""
        # Old contents that become a field's again are no longer kept for a tape only.
        if self.pins and not self.owners:
            self.pool.kept -= self.held
        self.owners += 1
        if self.guard is False:
            self.guard = True
            self.pins += 1

    def disown(self) -> None:
        """Note that one field less has its contents here."""
        self.owners -= 1
        if self.owners:
            return
        if self.guard:
            self.guard = False
            self.pins -= 1
        if self.pins:
            self.pool.keep(self.held)
        else:
            self.free()

    def left(self) -> None:
        """Note that a field has left for other memory, and that its launch is over."""
        if self.guard and not self.owners:
            self.guard = False
            self.pins -= 1
            if not self.pins:
                self.free()

    def free(self) -> None:
        """Give the memory back; no record and no field refers to it any more."""
        if self.lender is not None or self.contents.sharers:
            self.lender = None if self.lender is None else _GONE
            self.contents.copy = None
            return
        memory = self if self.packed is None else self.packed.memory
        if memory is not None and not self.pool.ended:
            self.siblings.append(memory)

    # Contents

    @property
    def zeros(self) -> bool:
        """Whether all contents are known to be zero."""
        return self.contents.known is _ZEROS and not self.contents.sharers

    @zeros.setter
    def zeros(self, value: bool) -> None:
        contents = self.contents
        contents.known = _ZEROS if value and not contents.sharers else None

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
        if shape == self.shape:
            return self
        found = self._reshaped.get(shape)
        if found is None:
            if self._array is None:
                raise FieldError(
                    "Fields are reshaped on the CPU alone; elsewhere copy the contents: "
                    "dt.from_numpy(x.to_numpy().reshape(...))."
                )
            found = self._reshaped[shape] = self._alias(self._array, shape)
        return found

    def _alias(self, array: npt.NDArray[Any], shape: tuple[int, ...]) -> Buffer:
        """Return another buffer of the same memory."""
        other = object.__new__(Buffer)
        for name in (
            "element",
            "pool",
            "nbytes",
            "held",
            "device",
            "address",
            "contents",
            "lender",
            "guard",
        ):
            setattr(other, name, getattr(self, name))
        other.shape = shape
        other.pins = other.packing_pins = other.owners = 0
        other.packed = None
        other.siblings, other._reshaped = [], {}
        other._array = array.reshape((*shape, *shape_of(self.element)))
        return other

    def pack(self) -> Buffer | None:
        """Keep the contents as the part that is not zero; return the memory if that is worth it."""
        if self._array is None or self._reshaped or not self.shape:
            return None
        packed = pack(self._array)
        if packed is None:
            return None
        memory = self._alias(self._array, self.shape)
        memory.siblings = self.siblings
        self.packed = _PackedBuffer(packed)
        self.held = packed.values.nbytes
        self._array = None
        del self.address  # an error for code that forgets to unpack
        return memory

    def unpacked(self) -> Buffer:
        """Return a buffer that holds the contents: this one, or another until the last pin goes."""
        if self.packed is None:
            return self
        if self.packed.memory is None:
            memory = self.packed.memory = self.empty_like()
            assert memory._array is not None
            memory.zeros = False
            self.packed.contents.unpack(memory._array)
            # Now old contents take the box and the memory, until the last pin frees both.
            self.pool.keep(memory.nbytes)
            self.held += memory.nbytes
        return self.packed.memory

    def read(self) -> npt.NDArray[Any]:
        """Return a copy of the contents; element components are trailing axes."""
        return self._on_device.read() if self._array is None else self._array.copy()

    def write(self, values: npt.NDArray[Any]) -> None:
        """Set the contents from an array of the same shape and dtype."""
        self.zeros = False
        if self._array is None:
            self._on_device.write(values)
        else:
            self._array[...] = values

    def read_rows(self, first: int, into: npt.NDArray[Any]) -> None:
        """Copy elements along the first axis to an array without gaps, of the same dtype.

        Args:
            first: The first of them.
            into: Takes as many as it has; element components are trailing axes.
        """
        if self._array is None:
            self._on_device.read_rows(first, into)
        else:
            into[...] = self._array[first : first + len(into)]

    def write_rows(self, first: int, values: npt.NDArray[Any]) -> None:
        """Set elements along the first axis from an array without gaps, of the same dtype.

        Args:
            first: The first of them.
            values: The contents of as many; element components are trailing axes.
        """
        self.zeros = False
        if self._array is None:
            self._on_device.write_rows(first, values)
        else:
            self._array[first : first + len(values)] = values

    def read_at(self, index: tuple[int, ...]) -> Any:
        """Return one element: a NumPy number, or a copy of its components."""
        if self._array is None:
            return self._on_device.read_at(index)
        found: Any = self._array[index]
        return found.copy() if shape_of(self.element) else found

    def write_at(self, index: tuple[int, ...], value: npt.NDArray[Any]) -> None:
        """Set one element."""
        if self._array is not None:
            self.zeros = False
            self._array[index] = value
        elif not self.shape and not shape_of(self.element):
            self.fill(value.item())
        else:
            self.zeros = False
            self._on_device.write_at(index, value)

    def fill(self, number: float) -> None:
        """Set every number to one value."""
        if number == 0 and self.zeros:
            return
        self.zeros = False
        if self._array is None:
            self._on_device.fill(number)
            if self.contents.sharers:
                _ = self._on_device.handle  # others look without asking for it
        else:
            self._array.fill(number)
        self.zeros = number == 0  # only now: Ctrl+C may come before

    def clear(self, box: Box) -> None:
        """Set the elements of a box to zero."""
        if box == tuple((0, size) for size in self.shape):
            self.fill(0.0)
        elif not self.zeros:
            self.zeros = False
            if self._array is None:
                self._on_device.clear(box)
                if self.contents.sharers:
                    _ = self._on_device.handle
            else:
                self._array[tuple(slice(*ends) for ends in box)] = 0

    def abandon(self) -> None:
        """Let the contents be any, since a launch is about to set all of them."""
        self.zeros = False
        if self.device is not None:
            self.device.abandon()

    def copy_from(self, other: Buffer) -> None:
        """Set the contents from a buffer of the same shape and element."""
        self.zeros = False
        if self._array is None:
            self._on_device.copy_from(other.device)
        else:
            self._array[...] = other._array
        self.zeros = other.zeros

    def copy_part(self, first: int, other: Buffer, start: int, count: int) -> None:
        """Copy some numbers, in the order of memory, from a buffer of the same element.

        Args:
            first: The first number that is set; an element has as many as it has components.
            other: The source; no other part of the same memory.
            start: The first number of the source.
            count: How many.
        """
        if not count:
            return
        self.zeros = False
        if self._array is None:
            self._on_device.copy_part(first, other.device, start, count)
        else:
            self._array.reshape(-1)[first : first + count] = other.array().reshape(-1)[
                start : start + count
            ]

    def box(self, box: Box) -> Buffer | None:
        """Return a copy of a box in memory of the device; None where that would take long.

        Args:
            box: Where it starts and stops along each axis; not empty.
        """
        made = self.pool.allocate(self.element, tuple(stop - start for start, stop in box))
        if self._on_device.copy_box(box, made.device, back=False):
            made.zeros = False
            return made
        made.free()
        return None

    def set_box(self, box: Box, values: Buffer) -> None:
        """Set a box from its copy by `box`, in memory of the device."""
        self.zeros = False
        self._on_device.copy_box(box, values.device, back=True)

    def copy_rows(self, other: Buffer, index: Buffer) -> None:
        """Set each row, all elements with one first index, from a row of a buffer of the kind.

        Args:
            other: The source; all its axes but the first have the sizes of this buffer's.
            index: Which row, i32, shape (rows,); -1 sets zeros.
        """
        self.zeros = False
        if self._array is None:
            self._on_device.copy_rows(other.device, index.device)
        else:
            rows = index.array()
            if not len(other.array()):
                self._array.fill(0)
                return
            np.take(other.array(), rows, axis=0, out=self._array, mode="wrap")
            self._array[rows < 0] = 0

    def add(self, other: Buffer) -> None:
        """Add the contents of a buffer of the same shape and element."""
        if self._array is not None:
            self.zeros = False
            self._array += other.array()
        elif self.zeros:
            self.copy_from(other)
        elif not other.zeros:
            self.zeros = False
            self._on_device.add(other.device)

    @property
    def _on_device(self) -> DeviceArray:
        assert self.device is not None, "the contents are packed"
        return self.device


@dataclass(slots=True)
class _PackedBuffer:
    """Contents without memory of their own.

    Args:
        contents: The part that is not zero.
        memory: The buffer that they were unpacked into.
    """

    contents: Packed
    memory: Buffer | None = None
