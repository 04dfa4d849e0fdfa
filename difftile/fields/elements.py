"""What every floor may ask of a field, or of a part of one: its type, its memory, its contents."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.arithmetic import FieldComparisons
from difftile.fields.split import Split
from difftile.fields.storage import Storage
from difftile.fields.window import Window
from difftile.habits import taught
from difftile.ir.types import Type, numpy_dtype, scalar_of, shape_of
from difftile.lang.meanings import dtype_of
from difftile.substrate import Buffer, current_session


@taught("field", "A field")
class Shaped(FieldComparisons):
    """A field of any kind, as Python sees its shape."""

    __slots__ = ()

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """The number of indices."""
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a field of shape () has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True


class FieldElements(Shaped, ABC):
    """Elements of one type in a grid: a field, or a part of one."""

    __slots__ = ()

    @property
    @abstractmethod
    def element(self) -> Type:
        """The type of one element."""

    @property
    @abstractmethod
    def base(self) -> WholeElements:
        """The field whose memory, and whose gradient, holds the elements."""

    @property
    @abstractmethod
    def window(self) -> Window | None:
        """Which elements of that field; None for all."""

    @property
    @abstractmethod
    def has_grads(self) -> bool:
        """Tell whether there are gradient buffers."""

    @abstractmethod
    def named(self) -> str:
        """Return type and shape in one line, by which messages name the field."""

    @abstractmethod
    def __getitem__(self, index: Any) -> Any:
        """Return an element, or the part that slices and fewer integers than axes pick."""

    @abstractmethod
    def to_numpy(self) -> npt.NDArray[Any]:
        """Return a copy of the contents, shape `shape` and then the shape of an element."""

    @property
    def dtype(self) -> Any:
        """The element's type as Taichi names it: `ti.f32`, `ti.types.vector(3, ti.f32)` ..."""
        return dtype_of(self.element)

    @property
    def element_shape(self) -> tuple[int, ...]:
        """The shape of one element: () for a number, (n,) for a vector, (n, m) for a matrix."""
        return shape_of(self.element)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of its numbers, of which an element holds `element_shape`."""
        return numpy_dtype(scalar_of(self.element))

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """Where the elements are: "cpu", "cuda", "vulkan" or "metal"."""
        return current_session().device


class WholeElements(FieldElements):
    """All elements of a field."""

    __slots__ = ()

    storage: Storage

    @property
    @abstractmethod
    def buffer(self) -> Buffer:
        """The memory that holds the contents now, in the field's shape."""

    @abstractmethod
    def __setitem__(self, index: Any, value: Any) -> None:
        """Set an element, or the part that slices and fewer integers than axes pick."""

    @property
    def split(self) -> Split | None:
        """How the elements are divided among ranks; None if all belong to this process."""
        return self.storage.split

    def fresh_if_pinned(self, *, keep: bool) -> Buffer:
        """Return memory that no tape needs any more, with the contents if they must stay."""
        old = self.buffer
        if self.storage.buffer.pins:
            self.storage.renew(copy=keep)
            return self.buffer
        return old


def check_is_field(value: object, what: str) -> None:
    """Check that a value is a field, or a part of one.

    Raises:
        FieldError: The value is neither.
    """
    if not isinstance(value, FieldElements):
        raise FieldError(f"{what} a field, not {type(value).__name__}.")


def overlap(one: FieldElements, other: FieldElements) -> bool:
    """Tell whether two parts share elements at other indices, or memory under other shapes."""
    base, against = one.base, other.base
    if base.storage is not against.storage:
        memory = base.storage.memory
        return memory.is_shared and memory.meets(against.storage.memory)
    if base.shape != against.shape:
        return True
    if one.window == other.window:
        return False
    elements = np.empty(base.shape, np.uint8)  # never touched: only its addresses count
    first, second = (elements if p.window is None else p.window.of(elements) for p in (one, other))
    return np.shares_memory(first, second)
