"""Memory of devices: Taichi's ndarrays, which the host does not see."""

# Kernels of Taichi: their annotations are objects, and never text.
# pyright: reportInvalidTypeForm=false

import gc
from typing import Any

import numpy as np
import numpy.typing as npt
import taichi as ti

from difftile.ir.types import Type, numpy_dtype, scalar_of, shape_of
from difftile.substrate.lock import LOCK
from difftile.substrate.taichi.names import dtype_of


class Ndarray:
    """A `DeviceArray`; most operations compile or run a kernel of Taichi, which takes the lock."""

    def __init__(self, element: Type, shape: tuple[int, ...]) -> None:
        self._element = element
        self._shape = (*shape, *shape_of(element))
        with LOCK:
            self._ndarray: Any = ti.ndarray(dtype_of(element), shape)
        self.handle: Any = self._ndarray.arr

    @property
    def is_finalized(self) -> bool:
        """Whether Python has told Taichi to free the memory."""
        return gc.is_finalized(self._ndarray)

    def read(self) -> npt.NDArray[Any]:
        """Return a copy of the contents."""
        with LOCK:
            return self._ndarray.to_numpy().reshape(self._shape)

    def write(self, values: npt.NDArray[Any]) -> None:
        """Set the contents."""
        with LOCK:
            self._ndarray.from_numpy(np.array(values, order="C"))

    def read_at(self, index: tuple[int, ...]) -> Any:
        """Return one element: a number, or a copy of its components."""
        with LOCK:
            found = self._ndarray[index if index else None]
        dtype = numpy_dtype(scalar_of(self._element))
        return found.to_numpy() if shape_of(self._element) else dtype.type(found)

    def write_at(self, index: tuple[int, ...], value: npt.NDArray[Any]) -> None:
        """Set one element."""
        with LOCK:
            self._ndarray[index if index else None] = value.tolist()

    def fill(self, number: float) -> None:
        """Set every number to one that double precision holds."""
        with LOCK:
            _fill(self._ndarray, number, dtype_of(scalar_of(self._element)))

    def copy_from(self, other: "Ndarray") -> None:
        """Set the contents from another array."""
        with LOCK:
            self._ndarray.copy_from(other._ndarray)

    def copy_rows(self, other: "Ndarray", index: "Ndarray") -> None:
        """Set each row from the row of another array that the index has for it; -1 sets zeros."""
        with LOCK:
            _copy_rows(other._ndarray, index._ndarray, self._ndarray)

    def add(self, other: "Ndarray") -> None:
        """Add the contents of another array."""
        with LOCK:
            _add(self._ndarray, other._ndarray)


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


@ti.kernel
def _fill(x: ti.types.ndarray(), value: ti.f64, scalar: ti.template()):
    """Set every number of an ndarray.

    Taichi's own method rounds to single precision, and recompiles a kernel at each call where
    elements are vectors.

    Args:
        x: The ndarray.
        value: A number that its type and double precision hold.
        scalar: The type of its numbers.
    """
    for at in ti.grouped(x):
        x[at] = ti.cast(ti.zero(x[at]) + ti.cast(value, scalar), scalar)
