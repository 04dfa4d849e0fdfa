"""The common type of fields and of parts of fields: reading and writing from Python."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.arithmetic import Arithmetic, Compared, carried_into
from difftile.fields.as_numbers import AsNumbers
from difftile.fields.exchange import as_array, as_contents
from difftile.fields.export import cuda_interface, device_of, dlpack_of, shared_array
from difftile.fields.pending import PENDING
from difftile.fields.recording import RECORDING, note_read, note_write
from difftile.fields.window import Window
from difftile.habits import taught
from difftile.ir.types import Type, shape_of
from difftile.lang.meanings import dtype_of
from difftile.substrate import current_session
from difftile.tracebacks import boundaries

if TYPE_CHECKING:
    from difftile.fields.field import Field


@taught("field", "A field")
class Shaped(Compared):
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


@boundaries("copy", "__array__", "from_numpy", "add_numpy", "fill", "copy_from")
class ArrayLike(AsNumbers, Shaped, Arithmetic, ABC):
    """Elements of one type in a grid: a field, or a part of one."""

    __slots__ = ()

    @property
    @abstractmethod
    def element(self) -> Type:
        """The type of one element."""

    @property
    @abstractmethod
    def base(self) -> Field:
        """The field whose memory, and whose gradient, holds the elements."""

    @property
    @abstractmethod
    def window(self) -> Window | None:
        """Which elements of that field; None for all."""

    @property
    @abstractmethod
    def has_grads(self) -> bool:
        """Tell whether there are gradient buffers."""

    @property
    @abstractmethod
    def grad_in(self) -> ArrayLike | None:
        """The gradient with respect to the contents after a launch."""

    @property
    @abstractmethod
    def grad_out(self) -> ArrayLike | None:
        """The gradient with respect to the contents before a launch."""

    @abstractmethod
    def named(self) -> str:
        """Return type and shape in one line, by which messages name the field."""

    @abstractmethod
    def __getitem__(self, index: Any) -> Any:
        """Return an element, or the part that slices and fewer integers than axes pick."""

    @abstractmethod
    def to_numpy(self) -> npt.NDArray[Any]:
        """Return a copy of the contents, shape `shape` and then the shape of an element."""

    @abstractmethod
    def _set(self, values: npt.NDArray[Any], *, constant: bool) -> None:
        """Set every element; constants are told to an open tape."""

    @property
    def dtype(self) -> Any:
        """The element's type as Taichi names it: `ti.f32`, `ti.types.vector(3, ti.f32)` ..."""
        return dtype_of(self.element)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """Where the elements are: "cpu", "cuda", "vulkan" or "metal"."""
        return current_session().device

    def copy(self) -> Field:
        """Return a field with memory of its own: the contents, and a gradient of zeros."""
        return copy(self)  # pyrefly: ignore[bad-return] - of a part, too

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return a copy of the contents, or with `copy=False` an array over the memory."""
        if copy is False:
            if self.__dlpack_device__() != (1, 0):
                raise ValueError(f"{self!r} is in memory of a device, which NumPy would copy.")
            shared = shared_array(self)
            if dtype is not None and np.dtype(dtype) != shared.dtype:
                raise ValueError(f"{self!r} holds {shared.dtype}, not {dtype}, without a copy.")
            return shared
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return the memory for `from_dlpack` of another library, without a copy."""
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"{self!r} is on device {self.__dlpack_device__()}.")
        return dlpack_of(self, max_version, copy, stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the device of the memory, as DLPack numbers it."""
        return device_of(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory for libraries on CUDA that do not know DLPack."""
        return cuda_interface(self)

    def from_numpy(self, values: npt.ArrayLike) -> None:
        """Set the contents from an array of the same shape; any strides will do.

        Args:
            values: Shape `shape` and then the shape of an element; floats may change precision.

        Raises:
            FieldError: The shape differs, or floats would be cut to integers.
        """
        if carried_into(self, values):
            return
        field = followed_array(values)
        if field is not values and (field.shape, field.element) == (self.shape, self.element):
            self.copy_from(field)
            return
        array = self._constants(values, (*self.shape, *shape_of(self.element)))
        self._set(array, constant=True)

    def add_numpy(self, values: npt.ArrayLike) -> None:
        """Add an array to the contents; an element that a view repeats takes all that is its own.

        Args:
            values: Shape `shape` and then the shape of an element.

        Raises:
            FieldError: The shape differs, floats would be cut to integers, or a tape is open, which
                would take the sum for a constant.
        """
        array = self._constants(values, (*self.shape, *shape_of(self.element)))
        recorder = note_write(self.base).recorder
        if recorder is not None:
            recorder.host_add(self, array)
        window = self.window

        def add(contents: npt.NDArray[Any]) -> None:
            if window is None:
                contents += array
            else:
                window.add(contents, array)

        self.base.fresh_if_pinned(keep=True).change(add)

    def fill(self, value: npt.ArrayLike) -> None:
        """Set every element to one value: a number, or a vector or matrix for such elements."""
        if carried_into(self, value) or filled_by_launch(self, value):
            return
        inner = shape_of(self.element)
        given = self._constants(value, inner if as_array(value).ndim else ())
        spread = given if given.ndim else np.broadcast_to(given, inner)
        self._set(np.broadcast_to(spread, (*self.shape, *inner)), constant=True)

    def clear(self) -> None:
        """Set everything to zero."""
        self.fill(0)

    def copy_from(self, other: ArrayLike | npt.NDArray[Any]) -> None:
        """Set the contents from a field of the same shape and element; gradients flow through.

        An array of another library is a constant, as in `from_numpy`.

        Raises:
            FieldError: Shape or element type differ.
        """
        if not isinstance(other, ArrayLike):
            if not hasattr(other, "__dlpack__"):
                check_is_field(other, "copy_from() takes")
            self.from_numpy(other)
            return
        if other.shape != self.shape or other.element != self.element:
            raise FieldError(
                f"{self!r} cannot be copied from {other!r}: shape or element type differ."
            )
        if other.base.storage is self.base.storage and other.window == self.window:
            return
        if PENDING.loop is not None and PENDING.loop.copy(self, other):
            return
        note_read(other.base)
        tape = note_write(self.base).recorder
        if tape is not None:
            tape.host_copy(self, other)
        self.write_from(other)

    def write_from(self, other: ArrayLike) -> None:
        """Copy a field that fits, without a record on the tape."""
        base, window = other.base, other.window
        values = base.buffer.read() if window is None else window.of(base.buffer.array()).copy()
        self._set(values, constant=False)

    def _constants(self, values: npt.ArrayLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        if isinstance(values, ArrayLike):
            raise FieldError(
                f"{self!r} takes numbers here, through which no gradient flows. "
                "Use x.copy_from(y), or a kernel."
            )
        return as_contents(self, self.element, values, shape)


STANDING_IN: dict[int, Callable[[object], ArrayLike | None]] = {}
"""The fields of arrays that kernels were given, by the identity of the array; see `arrays.py`."""


def followed_array(values: Any) -> Any:
    """Return the field of an array that a transformation follows, and anything else as it is.

    Kernels may have written values that vary into the array, and what is copied from it varies too.
    """
    found = STANDING_IN.get(id(values))
    recording = RECORDING.get()
    if found is None or recording.constant:
        return values
    if recording.recorder is None or not recording.recorder.is_private:
        return values
    field = found(values)
    return values if field is None else field


def filled_by_launch(target: ArrayLike, value: object) -> bool:
    """Fill a field by a launch in the body of a `dt.steps` loop; return whether that was done."""
    return PENDING.loop is not None and PENDING.loop.fill(target, value)


def check_is_field(value: object, what: str) -> None:
    """Check that a value is a field, or a part of one.

    Raises:
        FieldError: The value is neither.
    """
    if not isinstance(value, ArrayLike):
        raise FieldError(f"{what} a field, not {type(value).__name__}.")
