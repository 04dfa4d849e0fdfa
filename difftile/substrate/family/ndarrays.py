"""Memory of devices: Taichi's ndarrays, which the host does not see."""

# Kernels of Taichi: their annotations are objects, and never text.
# pyrefly: ignore-errors[invalid-annotation, unannotated-return, unknown-variable-type]
# pyrefly: ignore-errors[untyped-function-decorator]

import gc
import weakref
from functools import cache
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from difftile.ir.types import Scalar, Type, numpy_dtype, scalar_of, shape_of
from difftile.substrate.batch import start_launches
from difftile.substrate.compiler import ti
from difftile.substrate.family.cuda import (
    current_stream,
    enter,
    finish_null_stream,
    finish_stream,
    memory_of,
)
from difftile.substrate.family.dtypes import dtype_of
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Box


class _Living:
    """The arrays of the compiler that it has not freed."""

    arrays: ClassVar[weakref.WeakSet[Any]] = weakref.WeakSet()


def leave() -> None:
    """Leave the memory of a session to its end.

    The compiler frees an array by its address, in the program of the moment. In a later program
    another array may be there.
    """
    with LOCK:
        for array in list(_Living.arrays):
            array.arr = None
        _Living.arrays.clear()


class Ndarray:
    """A `DeviceArray`; operations on the contents take the lock.

    A fill, also of a box, waits until the contents are used: most fills are clears, and are
    followed by another fill, by a copy, or by no use at all.
    """

    def __init__(self, element: Type, shape: tuple[int, ...]) -> None:
        self._element = element
        self._dtype = numpy_dtype(scalar_of(element))
        self._shape = (*shape, *shape_of(element))
        # Taichi has no empty memory; logs of loops that do not run are given one element.
        some = tuple(max(size, 1) for size in shape)
        with LOCK:
            enter()
            self._ndarray: Any = ti.ndarray(dtype_of(element), some)
            _Living.arrays.add(self._ndarray)
            self._memory = memory_of(self._ndarray)
            finish_null_stream()
        if current_stream() is not None:  # before the ndarray is let go, which frees the memory
            weakref.finalize(self, finish_stream)
        self._handle: Any = self._ndarray.arr
        self._waiting: _Fill | None = None

    @property
    def handle(self) -> Any:
        """The memory as a launch takes it."""
        if self._waiting is not None:
            self._fill()
        return self._handle

    @property
    def unfilled(self) -> Any:
        """The memory as a launch takes it that was called before a fill that may wait by now."""
        return self._handle

    @property
    def address(self) -> int:
        """Where the memory is; 0 if only Taichi knows."""
        return 0 if self._memory is None else self._memory.address

    @property
    def is_finalized(self) -> bool:
        """Whether Python has told Taichi to free the memory."""
        return gc.is_finalized(self._ndarray)

    def read(self) -> npt.NDArray[Any]:
        """Return a copy of the contents."""
        with LOCK:
            waiting = self._waiting
            if waiting is not None and waiting.box is None:
                return np.full(self._shape, waiting.number, self._dtype)
            if self._memory is None:
                values = self._ndarray.to_numpy().reshape(self._shape)
            else:
                values = np.empty(self._shape, self._dtype)
                self._memory.read(0, values)
            if waiting is not None and waiting.box is not None:
                values[_slices(waiting.box)] = waiting.number
            return values

    def write(self, values: npt.NDArray[Any]) -> None:
        """Set the contents."""
        with LOCK:
            if self._memory is None:
                self._ndarray.from_numpy(np.array(values, order="C"))
            else:
                self._memory.write(0, np.ascontiguousarray(values, self._dtype))
            self._waiting = None

    def read_rows(self, first: int, into: npt.NDArray[Any]) -> None:
        """Set an array from elements along the first axis."""
        with LOCK:
            self._fill()
            if self._memory is None:
                into[...] = self.read()[first : first + len(into)]
            elif into.size:
                self._memory.read(self._rows(first), into)

    def write_rows(self, first: int, values: npt.NDArray[Any]) -> None:
        """Set elements along the first axis from an array."""
        with LOCK:
            self._fill()
            if self._memory is None:
                whole = self.read()
                whole[first : first + len(values)] = values
                self.write(whole)
            elif values.size:
                self._memory.write(self._rows(first), values)

    def read_at(self, index: tuple[int, ...]) -> Any:
        """Return one element: a number, or a copy of its components."""
        inner = shape_of(self._element)
        with LOCK:
            found: Any
            if self._waiting is not None and self._waiting.sets(index):
                found = np.full(inner, self._waiting.number, self._dtype)
            elif self._memory is None:
                found = self._ndarray[index if index else None]
                found = found.to_numpy() if inner else self._dtype.type(found)
            else:
                found = np.empty(inner, self._dtype)
                self._memory.read(self._offset(index), found)
        return found if inner else found[()]

    def write_at(self, index: tuple[int, ...], value: npt.NDArray[Any]) -> None:
        """Set one element."""
        with LOCK:
            self._fill()
            if self._memory is None:
                self._ndarray[index if index else None] = value.tolist()
            else:
                one = np.ascontiguousarray(value, self._dtype)
                self._memory.write(self._offset(index), one)

    def fill(self, number: float) -> None:
        """Set every number, as soon as the contents are used."""
        with LOCK:
            self._waiting = _Fill(number, None)

    def clear(self, box: Box) -> None:
        """Set the elements of a box to zero, as soon as the contents are used."""
        with LOCK:
            waiting, new = self._waiting, _Fill(0.0, box)
            if waiting is not None and not waiting.is_part_of(new):
                if new.is_part_of(waiting):
                    return
                self._fill()
            self._waiting = new

    def abandon(self) -> None:
        """Let the contents be any: no fill waits any more."""
        self._waiting = None

    def copy_from(self, other: "Ndarray") -> None:
        """Set the contents from another array."""
        if other is self:
            return
        with LOCK:
            waiting = other._waiting
            if waiting is None or waiting.box is not None:
                if self._memory is not None and other._memory is not None:
                    self._memory.copy(other._memory)
                else:
                    self._ndarray.copy_from(other._ndarray)
            self._waiting = waiting

    def copy_part(self, first: int, other: "Ndarray", start: int, count: int) -> None:
        """Copy numbers of another flat array into this one, from an index on."""
        with LOCK:
            for one in (self, other):
                one._fill()
            if self._memory is not None and other._memory is not None:
                size = self._dtype.itemsize
                self._memory.copy_part(first * size, other._memory, start * size, count * size)
            else:
                values = self.read()
                values.reshape(-1)[first : first + count] = other.read().reshape(-1)[start:][:count]
                self.write(values)

    def copy_box(self, box: Box, packed: "Ndarray", *, back: bool) -> bool:
        """Copy a box to an array that holds nothing else, or back; tell whether that was done."""
        with LOCK:
            for one in (self, packed):
                one._fill()
            if self._memory is None or packed._memory is None:
                return False
            whole = (*box, *((0, size) for size in shape_of(self._element)))
            numbers = self._shape, self._dtype.itemsize
            return self._memory.copy_box(whole, *numbers, packed._memory, back=back)

    def copy_rows(self, other: "Ndarray", index: "Ndarray") -> None:
        """Set each row from the row of another array that the index has for it; -1 sets zeros."""
        with LOCK:
            for one in (other, index):
                one._fill()
            _before_kernel()
            _copy_rows(other._ndarray, index._ndarray, self._ndarray)
            self._waiting = None

    def add(self, other: "Ndarray") -> None:
        """Add the contents of another array."""
        with LOCK:
            if other._waiting == _CLEAR:
                return
            if self._waiting == _CLEAR:
                self.copy_from(other)
                return
            for one in (self, other):
                one._fill()
            _before_kernel()
            _add(self._ndarray, other._ndarray)

    def _fill(self) -> None:
        """Make up for a fill that waits."""
        with LOCK:
            waiting = self._waiting
            if waiting is None:
                return
            if waiting.box is None:
                self._fill_all(waiting.number)
            else:
                self._clear(waiting.box)
            self._waiting = None  # only now: Ctrl+C may come before

    def _fill_all(self, number: float) -> None:
        value = np.array(number, self._dtype)
        if self._memory is None or not self._memory.fill(value):
            _before_kernel()
            if float(number) == number and self._dtype.kind != "b":
                _fill_of(scalar_of(self._element))(self._ndarray, value.item())
            else:  # NaN; an integer that double precision does not hold; kernels take no bools
                self._ndarray.from_numpy(np.full(self._shape, value))

    def _clear(self, box: Box) -> None:
        whole = tuple((0, size) for size in shape_of(self._element))
        if self._memory is not None and self._memory.clear(
            (*box, *whole), self._shape, self._dtype.itemsize
        ):
            return
        _before_kernel()
        if self._dtype.kind != "b" and len(box) <= _MOST_AXES:
            rest = _MOST_AXES - len(box)
            _clear(
                self._ndarray, *(_Index([*ends, *[0] * rest]) for ends in zip(*box, strict=True))
            )
        else:
            values = self._ndarray.to_numpy()
            values[_slices(box)] = 0
            self._ndarray.from_numpy(values)

    def _rows(self, first: int) -> int:
        """Return where the elements with a first index begin [bytes]."""
        return first * prod(self._shape[1:]) * self._dtype.itemsize

    def _offset(self, index: tuple[int, ...]) -> int:
        """Return where an element begins [bytes]."""
        inner = shape_of(self._element)
        at = 0
        for k, size in zip(index, self._shape, strict=False):
            at = at * size + k
        return at * prod(inner) * self._dtype.itemsize


def _before_kernel() -> None:
    """Make ready for a kernel that the compiler launches from Python."""
    start_launches()
    enter()


class _Fill(NamedTuple):
    """A fill that waits.

    Args:
        number: The value of the fill.
        box: The elements; None stands for all.
    """

    number: float
    box: Box | None

    def sets(self, index: tuple[int, ...]) -> bool:
        """Tell whether it is one of an element."""
        if self.box is None:
            return True
        return all(low <= k < high for k, (low, high) in zip(index, self.box, strict=True))

    def is_part_of(self, other: "_Fill") -> bool:
        """Tell whether another fill is known to replace all of this one."""
        if other.box is None:
            return self.box is None or other == _CLEAR
        if self.box is None:
            return False
        return all(
            low <= start and stop <= high
            for (start, stop), (low, high) in zip(self.box, other.box, strict=True)
        )


_CLEAR = _Fill(0.0, None)
_MOST_AXES = 8  # of an ndarray
_Index = ti.types.vector(_MOST_AXES, ti.i32)


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(*ends) for ends in box)


@ti.kernel
def _clear(
    x: ti.types.ndarray(),
    low: _Index,
    high: _Index,
):
    """Set the elements of a box of an ndarray to zero."""
    for at in ti.grouped(x):
        inside = True
        for axis in ti.static(range(at.n)):
            inside = inside and low[axis] <= at[axis] and at[axis] < high[axis]
        if inside:
            x[at] = ti.zero(x[at])


@ti.kernel
def _copy_rows(x: ti.types.ndarray(), index: ti.types.ndarray(), y: ti.types.ndarray()):
    """Set each element of `y` from the row of `x` that the index has for its own; -1 sets zeros."""
    for at in ti.grouped(y):
        row = index[at[0]]
        source = at
        source[0] = ti.max(row, 0)
        y[at] = ti.select(row < 0, ti.zero(y[at]), x[source])


@ti.kernel
def _add(into: ti.types.ndarray(), values: ti.types.ndarray()):
    """Add an ndarray to one of the same shape and element."""
    for at in ti.grouped(into):
        into[at] += values[at]


@cache
def _fill_of(scalar: Scalar) -> Any:
    """Return a kernel that sets every number of an ndarray.

    The compiler's own method rounds to single precision, and recompiles a kernel at each call where
    elements are vectors.

    Args:
        scalar: The type of the numbers, and of the value.
    """
    dtype = dtype_of(scalar)

    @ti.kernel
    def fill(x: ti.types.ndarray(), value: dtype):
        for at in ti.grouped(x):
            x[at] = ti.cast(ti.zero(x[at]) + value, dtype)

    return fill
