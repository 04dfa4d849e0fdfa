"""Fields: typed arrays in the memory of the device, indexed from kernels and from Python."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.exchange import as_array, as_contents, as_index, as_shape
from difftile.fields.recording import OPEN_TAPE
from difftile.ir.types import Type, field_type, is_float, shape_of
from difftile.substrate.device import current
from difftile.substrate.memory import MAX_ELEMENTS, POOL, Buffer
from difftile.substrate.names import to_taichi


class Gradients:
    """Counts how often gradient buffers were exchanged, so that prepared launches notice."""

    epoch = 0


GRADIENTS = Gradients()
WITH_GRADS: weakref.WeakSet[Field] = weakref.WeakSet()


class Storage:
    """Where the contents of a field are now; fields that share their values share this.

    A launch on a tape may move the contents to another buffer, for all of them at once. `graded` is
    the field among them that was given gradients last.
    """

    __slots__ = ("buffer", "graded")

    def __init__(self, buffer: Buffer) -> None:
        POOL.own(buffer)
        self.buffer = buffer
        self.graded: weakref.ref[Field] | None = None

    def __del__(self) -> None:
        if POOL is not None:  # pyright: ignore[reportUnnecessaryComparison] - the interpreter ends
            POOL.disown(self.buffer)

    def move(self, fresh: Buffer) -> None:
        """Go on in another buffer; the old one lives on while something pins it."""
        old = self.buffer
        POOL.own(fresh)
        self.buffer = fresh
        POOL.disown(old)


class Field:
    """Elements of one type in a grid of any number of dimensions, `()` included.

    Made by `dt.field`, `dt.from_numpy`, `dt.zeros` and their like. Kernels take fields as
    parameters or from outside; Python reads and writes single elements by index and whole fields
    by `to_numpy` and `from_numpy`.
    """

    __slots__ = ("__weakref__", "_grad_in", "_grad_out", "shape", "storage", "type")

    def __init__(self, element: Type, shape: tuple[int, ...], storage: Storage) -> None:
        self.type = field_type(element, len(shape))
        self.shape = shape
        self.storage = storage
        self._grad_in: Field | None = None
        self._grad_out: Field | None = None

    # What it is

    @property
    def element(self) -> Type:
        """The type of one element."""
        return self.type.element

    @property
    def dtype(self) -> Any:
        """The element's type as Taichi names it: `ti.f32`, `ti.types.vector(3, ti.f32)` ..."""
        return to_taichi(self.element)

    @property
    def ndim(self) -> int:
        """The number of indices."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the values, gradients left out."""
        return self.storage.buffer.nbytes

    @property
    def buffer(self) -> Buffer:
        """The memory that holds the contents now.

        Raises:
            FieldError: The field was made before the last `dt.init`.
        """
        buffer = self.storage.buffer
        if buffer.session is not current():
            raise FieldError(
                f"{self!r} was made before the last dt.init(), which ended its memory. "
                "Make fields after dt.init()."
            )
        return buffer

    def __repr__(self) -> str:
        grad = ", grad" if self._grad_out is not None else ""
        return f"<field {self.element} {self.shape}{grad}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a field of shape () has no length")
        return self.shape[0]

    def __iter__(self) -> Any:
        raise TypeError("a field is not iterated from Python; use x.to_numpy(), or a kernel")

    def __bool__(self) -> bool:
        return True

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype)

    def __copy__(self) -> Field:
        """Return a field with memory of its own: the contents, and a gradient of zeros."""
        twin = make(self.element, self.shape)
        twin = twin.with_grads() if self.has_grads else twin
        twin.copy_from(self)
        return twin

    def __deepcopy__(self, memo: object) -> Field:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise FieldError(f"{self!r} is memory of this process; save x.to_numpy() instead.")

    # Values

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return a copy of the contents, shape `shape` and then the shape of an element."""
        return self.buffer.read()

    def from_numpy(self, values: npt.ArrayLike) -> None:
        """Set the contents from an array of the same shape; any strides will do.

        Args:
            values: Shape `shape` and then the shape of an element; floats may change precision.

        Raises:
            FieldError: The shape differs, or floats would be cut to integers.
        """
        array = self._constants(values, (*self.shape, *shape_of(self.element)))
        self._before_write(None, array).write(array)

    def fill(self, value: npt.ArrayLike) -> None:
        """Set every element to one value: a number, or a vector or matrix for such elements."""
        wanted = shape_of(self.element) if as_array(value).ndim else ()
        element = self._constants(value, wanted)
        buffer = self._before_write(None, element)
        if element.ndim == 0:
            buffer.fill(element.item())
        else:
            buffer.write(np.broadcast_to(element, (*self.shape, *element.shape)))

    def clear(self) -> None:
        """Set everything to zero."""
        self.fill(0)

    def copy_from(self, other: Field) -> None:
        """Set the contents from a field of the same shape and element; gradients flow through.

        Raises:
            FieldError: Shape or element type differ.
        """
        if isinstance(other, np.ndarray):
            raise FieldError("copy_from() takes a field; for an array use from_numpy().")
        _check_is_field(other, "copy_from() takes")
        if other.shape != self.shape or other.element != self.element:
            raise FieldError(
                f"{self!r} cannot be copied from {other!r}: shape or element type differ."
            )
        if other.storage is self.storage:
            return
        tape = OPEN_TAPE.get()
        if tape is not None:
            tape.host_copy(self, other)
        source = other.buffer
        self.fresh_if_pinned(keep=False).copy_from(source)

    def __getitem__(self, index: Any) -> Any:
        where = as_index(self, self.shape, index)
        found = self.buffer.read_at(where)
        if shape_of(self.element):
            # A copy: `x[2][0] = 1` would be lost without an error if it could be written.
            found.flags.writeable = False
            return found
        return found.item()

    def __setitem__(self, index: Any, value: npt.ArrayLike) -> None:
        where = as_index(self, self.shape, index)
        array = self._constants(value, shape_of(self.element))
        self._before_write(where, array).write_at(where, array)

    def _constants(self, values: npt.ArrayLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        if isinstance(values, Field):
            raise FieldError(
                f"{self!r} takes numbers here, through which no gradient flows. "
                "Use x.copy_from(y), or a kernel."
            )
        return as_contents(self, self.element, values, shape)

    def _before_write(self, index: tuple[int, ...] | None, values: npt.NDArray[Any]) -> Buffer:
        """Tell an open tape and make the memory writable; None stands for the whole field."""
        tape = OPEN_TAPE.get()
        if tape is not None:
            tape.host_write(self, index, values)
        return self.fresh_if_pinned(keep=index is not None)

    def fresh_if_pinned(self, *, keep: bool) -> Buffer:
        """Return memory that no tape needs any more, with the contents if they must stay."""
        old = self.buffer
        if not old.pins:
            return old
        fresh = POOL.take(self.element, self.shape)
        if keep:
            fresh.copy_from(old)
        self.storage.move(fresh)
        return fresh

    # Gradients

    @property
    def has_grads(self) -> bool:
        """Tell whether the field has gradient buffers."""
        return self._grad_out is not None or self._grad_in is not None

    @property
    def grad(self) -> Field:
        """The gradient with respect to the contents before a launch: `grad_out`.

        Raises:
            FieldError: The field has none.
        """
        if self._grad_out is None:
            advice = "Make it with grad=True, or use x = x.with_grads()."
            if self._grad_in is not None:
                advice = "It has a grad_in alone; give it a grad_out as well."
            raise FieldError(f"{self!r} has no gradient. {advice}")
        return self._grad_out

    @property
    def grad_out(self) -> Field | None:
        """The gradient with respect to the contents before a launch; None if there is none."""
        return self._grad_out

    @grad_out.setter
    def grad_out(self, gradient: Field | None) -> None:
        self._grad_out = self._checked_gradient(gradient)
        self._register()

    @property
    def grad_in(self) -> Field | None:
        """The gradient with respect to the contents after a launch; the same buffer by default."""
        return self._grad_in

    @grad_in.setter
    def grad_in(self, gradient: Field | None) -> None:
        self._grad_in = self._checked_gradient(gradient)
        self._register()

    def with_grads(
        self,
        grad_in: Field | None = None,
        grad_out: Field | None = None,
        *,
        zero: bool | None = None,
    ) -> Field:
        """Return a field with the same memory and with gradient buffers.

        Args:
            grad_in: Gradient with respect to the contents after a launch.
            grad_out: Gradient with respect to the contents before it. With neither given, one new
                buffer serves as both; with one given, the other stays None.
            zero: Set the buffers to zero; by default only new ones.

        Raises:
            FieldError: A buffer does not fit, or integers are asked for a gradient.
        """
        self._check_is_smooth()
        twin = Field(self.element, self.shape, self._live_storage())
        if grad_in is None and grad_out is None:
            gradient = make(self.element, self.shape)
            if zero is not False:
                gradient.buffer.fill(0.0)
            twin._grad_in = twin._grad_out = gradient
        else:
            twin._grad_in = self._checked_gradient(grad_in)
            twin._grad_out = self._checked_gradient(grad_out)
            if zero:
                for gradient in {id(g): g for g in (grad_in, grad_out) if g is not None}.values():
                    gradient.buffer.fill(0.0)
        twin._register()
        return twin

    def detach(self) -> Field:
        """Return a field with the same memory and without gradient."""
        return Field(self.element, self.shape, self._live_storage())

    def _live_storage(self) -> Storage:
        _ = self.buffer  # raises if it is gone
        return self.storage

    def _checked_gradient(self, gradient: Field | None) -> Field | None:
        if gradient is None:
            return None
        self._check_is_smooth()
        _check_is_field(gradient, "A gradient is")
        if gradient.storage is self.storage:
            raise FieldError(f"{self!r} is not its own gradient; make one with dt.zeros_like().")
        if gradient.shape != self.shape or gradient.element != self.element:
            raise FieldError(f"{gradient!r} is no gradient of {self!r}: shape or type differ.")
        return gradient

    def _check_is_smooth(self) -> None:
        if not is_float(self.element):
            raise FieldError(f"{self!r} holds integers, which have no derivative.")

    def _register(self) -> None:
        GRADIENTS.epoch += 1
        if self.has_grads:
            WITH_GRADS.add(self)
            self.storage.graded = weakref.ref(self)


def zero_grads(fields: Field | Iterable[Field] | None = None) -> None:
    """Set the gradients of fields to zero.

    Args:
        fields: A field, or several; all fields that live by default.

    Raises:
        FieldError: One is no field.
    """
    session = current()
    if fields is None:
        fields = list(WITH_GRADS)
    for field in (fields,) if isinstance(fields, Field) else fields:
        _check_is_field(field, "zero_grads() takes")
        for gradient in (field.grad_in, field.grad_out):
            if gradient is not None and gradient.storage.buffer.session is session:
                gradient.fresh_if_pinned(keep=False).fill(0.0)


def _check_is_field(value: object, what: str) -> None:
    if not isinstance(value, Field):
        raise FieldError(f"{what} a field, not {type(value).__name__}.")


def make(element: Type, shape: tuple[int, ...]) -> Field:
    """Return a field with any contents.

    Raises:
        FieldError: The shape has no elements, or too many.
    """
    shape = as_shape(shape)
    if math.prod(shape) * math.prod(shape_of(element)) > MAX_ELEMENTS:
        raise FieldError(f"A field of shape {shape} is too large: kernels index up to 2**31 - 1.")
    return Field(element, shape, Storage(POOL.take(element, shape)))
