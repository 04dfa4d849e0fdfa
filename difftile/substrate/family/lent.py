"""Memory of CUDA that Taichi did not allocate: lent by others, or to be shared with them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.ir.types import Type, numpy_dtype, scalar_of, shape_of
from difftile.substrate.family.cuda import CudaMemory, allocate, memory_at
from difftile.substrate.family.ndarrays import Ndarray
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Box


class LentArray(Ndarray):
    """A `DeviceArray` over an address, which launches take as an array from outside.

    Others may look at the memory at any time, so that no fill waits.

    Args:
        element: The type of its elements.
        shape: How many there are along each axis.
        address: Where the memory begins.

    Raises:
        FieldError: There is no driver of CUDA.
    """

    def __init__(self, element: Type, shape: tuple[int, ...], address: int) -> None:
        self._element = element
        self._dtype = numpy_dtype(scalar_of(element))
        self._shape = (*shape, *shape_of(element))
        memory = memory_at(address, prod(self._shape) * self._dtype.itemsize)
        if memory is None:
            raise FieldError("Memory of devices is shared on CUDA alone; elsewhere copy it.")
        self._memory: CudaMemory = memory  # pyrefly: ignore[bad-override-mutable-attribute]
        self._ndarray = self._handle = self._waiting = None

    @property
    def is_finalized(self) -> bool:
        """Whether Python has told Taichi to free the memory."""
        return False

    def fill(self, number: float) -> None:
        """Set every number."""
        super().fill(number)
        self._fill()

    def clear(self, box: Box) -> None:
        """Set the elements of a box to zero."""
        super().clear(box)
        self._fill()

    def copy_from(self, other: Ndarray) -> None:
        """Set the contents from another array."""
        if other is not self:
            with LOCK:
                _ = other.handle  # with its fill
                super().copy_from(other)

    def copy_rows(self, other: Ndarray, index: Ndarray) -> None:
        """Set each row from the row of another array that the index has for it; -1 sets zeros."""
        rows = index.read()
        values = np.take(other.read(), rows, axis=0, mode="wrap")
        values[rows < 0] = 0
        self.write(values)

    def add(self, other: Ndarray) -> None:
        """Add the contents of another array."""
        self.write(self.read() + other.read())

    def _fill_all(self, number: float) -> None:
        if not self._memory.fill(np.array(number, self._dtype)):
            self._memory.write(0, np.full(self._shape, number, self._dtype))

    def _clear(self, box: Box) -> None:
        values: npt.NDArray[Any] = np.empty(self._shape, self._dtype)
        self._memory.read(0, values)
        values[tuple(slice(*ends) for ends in box)] = 0
        self._memory.write(0, values)


def shareable(nbytes: int) -> tuple[int, object]:
    """Return memory that outlives the session: its address, and the object that keeps it alive.

    Raises:
        FieldError: There is no driver of CUDA.
    """
    found = allocate(nbytes)
    if found is None:
        raise FieldError("Memory of devices is shared on CUDA alone; elsewhere copy it.")
    return found.address, found
