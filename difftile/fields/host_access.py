"""Reading and writing of fields, and of parts of fields, from Python: what both have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.any_field import AnyField
from difftile.fields.arithmetic import FieldArithmetic, carried_into
from difftile.fields.as_numbers import AsNumbers
from difftile.fields.elements import FieldElements, check_is_field
from difftile.fields.exchange import as_array, as_contents
from difftile.fields.export import cuda_interface, device_of, dlpack_of, shared_array
from difftile.fields.pending import PENDING
from difftile.fields.recording import RECORDING, note_read, note_write
from difftile.ir.types import shape_of
from difftile.tracebacks import boundaries


@boundaries("copy", "__array__", "from_numpy", "add_numpy", "fill", "copy_from")
class HostAccess(AsNumbers, FieldArithmetic):
    """The access from Python to a field, or to a part of one."""

    __slots__ = ()

    @abstractmethod
    def _set(self, values: npt.NDArray[Any] | FieldElements) -> None:
        """Set every element to constants, or copy a field or part that fits."""

    def copy(self) -> AnyField:
        """Return a field with memory of its own: the contents, and a gradient of zeros."""
        return copy(self)

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
        self._set(array)

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
        self._set(np.broadcast_to(spread, (*self.shape, *inner)))

    def clear(self) -> None:
        """Set everything to zero."""
        self.fill(0)

    def copy_from(self, other: FieldElements | npt.NDArray[Any]) -> None:
        """Set the contents from a field of the same shape and element; gradients flow through.

        An array of another library is a constant, as in `from_numpy`.

        Raises:
            FieldError: Shape or element type differ.
        """
        if not isinstance(other, FieldElements):
            if not hasattr(other, "__dlpack__"):
                check_is_field(other, "copy_from() takes")
            self.from_numpy(other)
            return
        if other.shape != self.shape or other.element != self.element:
            raise FieldError(
                f"{self!r} cannot be copied from {other!r}: shape or element type differ."
            )
        if self._holds(other) and not RECORDING.get().constant:
            return
        if PENDING.loop is not None and PENDING.loop.copy(self, other):
            return
        note_read(other.base)
        self._set(other)

    def _holds(self, other: FieldElements) -> bool:
        """Tell whether another part has the same elements, and the same gradient."""
        same = other.base.storage is self.base.storage and other.window == self.window
        return same and other.has_grads == self.has_grads

    def _constants(self, values: npt.ArrayLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        if isinstance(values, FieldElements):
            raise FieldError(
                f"{self!r} takes numbers here, through which no gradient flows. "
                "Use x.copy_from(y), or a kernel."
            )
        return as_contents(self, self.element, values, shape)


STANDING_IN: dict[int, Callable[[object], FieldElements | None]] = {}
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


def filled_by_launch(target: FieldElements, value: object) -> bool:
    """Fill a field by a launch in the body of a `dt.steps` loop; return whether that was done."""
    return PENDING.loop is not None and PENDING.loop.fill(target, value)
