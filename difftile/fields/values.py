"""The values of a field: elements in memory, under a shape, with their gradients."""

from __future__ import annotations

import math
import weakref
from abc import abstractmethod
from typing import Any, Generic, TypeVar, cast

import numpy as np

from difftile.diagnostics import FieldError, brief
from difftile.fields.elements import FieldElements, WholeElements, check_is_field
from difftile.fields.exchange import HostArray, as_view_shape
from difftile.fields.gradient_changes import GRADIENTS
from difftile.fields.pending import run_pending
from difftile.fields.recording import Recorder, Where, note_write
from difftile.fields.storage import Storage, allocate
from difftile.fields.window import Window
from difftile.ir.types import Type, field_type, is_float, shape_of
from difftile.substrate import LOCK, Buffer, current_session
from difftile.tracebacks import boundaries

_F = TypeVar("_F", bound="Values[Any]")
"""The class of the field: gradients, and the field that one is a view of, are such fields."""

WITH_GRADS: weakref.WeakSet[Values[Any]] = weakref.WeakSet()
"""The fields that live and have gradients."""


@boundaries("view", "with_grads")
class Values(WholeElements, Generic[_F]):
    """Elements in memory, under a shape, with their gradients.

    Views of it in other shapes share both: the gradients belong to the `origin`.
    """

    __slots__ = (
        *("__weakref__", "_grad_in", "_grad_out", "_is_detached", "_origin"),
        *("shape", "storage", "type"),
    )

    def __init__(self, element: Type, shape: tuple[int, ...], storage: Storage) -> None:
        self.type = field_type(element, len(shape))
        self.shape = shape
        self.storage = storage
        storage.share(self)
        self._grad_in: _F | None = None
        self._grad_out: _F | None = None
        self._origin: _F | None = None
        self._is_detached = False

    # What it is

    @property
    def element(self) -> Type:
        """The type of one element."""
        return self.type.element

    @property
    def base(self) -> _F:
        """The field itself, which holds its elements."""
        return self  # pyrefly: ignore[bad-return] - of that class

    @property
    def window(self) -> None:
        """All of the field."""
        return None

    @property
    def origin(self) -> _F:
        """The field that this one is another shape of, or itself: where the gradients are."""
        return self if self._origin is None else self._origin  # pyrefly: ignore[bad-return]

    @property
    def nbytes(self) -> int:
        """The bytes of the values, gradients left out."""
        return self.storage.buffer.nbytes

    @property
    def buffer(self) -> Buffer:
        """The memory that holds the contents now, in the field's shape.

        Raises:
            FieldError: The field was made before the last `dt.init`.
        """
        buffer = self.storage.buffer
        if buffer.pool is not current_session().pool:
            raise FieldError(
                f"{self!r} was made before the last dt.init(), which ended its memory. "
                "Make fields after dt.init()."
            )
        return buffer if buffer.shape == self.shape else buffer.under(self.shape)

    # Fields like it

    @abstractmethod
    def over(self, storage: Storage, grad_in: _F | None, grad_out: _F | None) -> _F:
        """Return a field like this one over other memory, with gradients of its own."""

    @abstractmethod
    def copied(self, part: FieldElements) -> _F:
        """Return a field of its own with the contents of the field or of a part of it."""

    def detach(self) -> _F:
        """Return a field with the same memory and without gradient, which reads constants."""
        twin = self.over(self._live_storage(), None, None)
        twin._is_detached = True
        return twin

    @property
    def is_cut(self) -> bool:
        """Whether no derivative passes through reads of the field, though it may to its memory.

        It is detached, or has no gradient while another living field with this memory has one.
        """
        origin = self if self._origin is None else self._origin
        if origin._grad_out is not None or origin._grad_in is not None:
            return False
        twin = self.storage.graded_field
        return origin._is_detached or (twin is not None and twin.has_grads)

    def view(self, *shape: Any) -> _F:
        """Return the field under another shape, in the same memory and with the same gradient.

        Args:
            shape: Integers, or one tuple of them; one may be -1 and is worked out.

        Raises:
            FieldError: The number of elements differs.
        """
        sizes = as_view_shape(shape, self.size)
        if math.prod(sizes) != self.size:
            raise FieldError(f"{self!r} has {self.size} elements, which do not fill {sizes}.")
        _ = self._live_storage()
        return self.under(sizes)

    def under(self, shape: tuple[int, ...]) -> _F:
        """Return the field under a shape that holds as many elements."""
        if shape == self.shape:
            return self  # pyrefly: ignore[bad-return]
        twin = type(self)(self.element, shape, self.storage)
        twin._origin = self.origin
        return twin  # pyrefly: ignore[bad-return]

    # Writing

    def overwrite(self, where: Where, given: HostArray | FieldElements) -> None:
        """Write what Python gives, by way of the open tape if there is one.

        Args:
            where: The element or the part; None stands for all.
            given: Constants, of which one element stands for all of a whole field; or the field or
                part that is copied.

        Raises:
            FieldError: The memory belongs to others, and is read-only.
        """
        recorder = self.before_write()
        if recorder is None:
            self.put(where, given)
        else:
            recorder.write(self, where, given)

    def before_write(self) -> Recorder | None:
        """Check that Python may write the field now, and return who has to record it.

        Raises:
            FieldError: The memory belongs to others, and is read-only.
        """
        if self.storage.read_only:
            raise FieldError(
                f"{self!r} is over memory of others that is read-only, and is not written. "
                "Copy it first: x = dt.from_dlpack(array, copy=True)."
            )
        return note_write(self).recorder

    def put(
        self, where: Where, given: HostArray | FieldElements, *, in_place: bool = False
    ) -> None:
        """Write as `overwrite` does, without a record.

        Args:
            where: The element or the part; None stands for all.
            given: What is written.
            in_place: Whether to write into memory whose contents a tape needs, and has saved.
        """
        if not isinstance(given, np.ndarray):
            source, window = given.base.buffer, given.window
            if where is None and window is None:
                self.fresh_if_pinned(keep=False).copy_from(source)
                return
            given = source.read() if window is None else window.of(source.array()).copy()
        buffer = self.buffer if in_place else self.fresh_if_pinned(keep=where is not None)
        if isinstance(where, Window):
            where.assign(buffer, given)
        elif where is not None:
            buffer.write_at(where, given)
        elif given.ndim == 0:
            buffer.fill(given.item())
        else:
            inner = shape_of(self.element)
            one = given.ndim == len(inner) and bool(self.shape)
            buffer.write(np.broadcast_to(given, (*self.shape, *inner)) if one else given)

    # Gradients

    @property
    def has_grads(self) -> bool:
        """Tell whether the field has gradient buffers."""
        origin = self if self._origin is None else self._origin
        return origin._grad_out is not None or origin._grad_in is not None

    @property
    def grad(self) -> _F:
        """The gradient with respect to the contents before a launch: `grad_out`.

        Raises:
            FieldError: The field has none.
        """
        gradient = self.grad_out
        if gradient is None:
            advice = "Make it with grad=True, or use x = x.with_grads()."
            if self.grad_in is not None:
                advice = "It has a grad_in alone; give it a grad_out as well."
            raise FieldError(f"{self!r} has no gradient. {advice}")
        return gradient

    @grad.setter
    def grad(self, gradient: FieldElements) -> None:
        if not _is_same(gradient, self.grad):  # `x.grad += 1` assigns what it has changed
            raise FieldError(
                f"The gradient of {self!r} is not replaced by assignment. Set its contents, "
                "x.grad.copy_from(g), or attach another one, x = x.with_grads(g, g)."
            )

    @property
    def grad_out(self) -> _F | None:
        """The gradient with respect to the contents before a launch; None if there is none."""
        of = self._origin
        return self._grad_out if of is None else self._reshaped(of._grad_out)

    @grad_out.setter
    def grad_out(self, gradient: _F | None) -> None:
        if _is_same(gradient, self.grad_out):
            return
        self._check_is_origin()
        run_pending()  # with the gradients that there were
        self._grad_out = self._checked_gradient(gradient)
        self._register()

    @property
    def grad_in(self) -> _F | None:
        """The gradient with respect to the contents after a launch; the same buffer by default."""
        of = self._origin
        return self._grad_in if of is None else self._reshaped(of._grad_in)

    @grad_in.setter
    def grad_in(self, gradient: _F | None) -> None:
        if _is_same(gradient, self.grad_in):
            return
        self._check_is_origin()
        run_pending()
        self._grad_in = self._checked_gradient(gradient)
        self._register()

    def with_grads(
        self,
        grad_in: _F | None = None,
        grad_out: _F | None = None,
        *,
        zero: bool | None = None,
    ) -> _F:
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
        self._check_is_origin()
        twin = self.over(self._live_storage(), None, None)
        if grad_in is None and grad_out is None:
            gradient = twin.over(allocate(self.element, self.shape), None, None)
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

    def _reshaped(self, gradient: _F | None) -> _F | None:
        return None if gradient is None else gradient.view(self.shape)

    def _check_is_origin(self) -> None:
        if self._origin is not None:
            raise FieldError(
                f"{self!r} is another shape of {self._origin!r} and has the gradient of that. "
                "Give that field one, x = x.with_grads(), and take the view of it."
            )

    def _live_storage(self) -> Storage:
        _ = self.buffer  # raises if it is gone
        return self.storage

    def _checked_gradient(self, gradient: FieldElements | None) -> _F | None:
        if gradient is None:
            return None
        self._check_is_smooth()
        check_is_field(gradient, "A gradient is")
        if not isinstance(gradient, Values):
            raise FieldError(f"A gradient is a whole field, not {brief(gradient)}.")
        if gradient.storage.read_only:
            raise FieldError(
                f"{gradient!r} is over memory of others that is read-only, and no gradient is "
                "written there. Copy it first: dt.from_dlpack(array, copy=True)."
            )
        if gradient.storage is self.storage:
            raise FieldError(f"{self!r} is not its own gradient; make one with dt.zeros_like().")
        if gradient.shape != self.shape or gradient.element != self.element:
            raise FieldError(f"{gradient!r} is no gradient of {self!r}: shape or type differ.")
        return cast("_F", gradient)

    def _check_is_smooth(self) -> None:
        if not is_float(self.element):
            raise FieldError(
                f"{self!r} holds integers, which have no derivative. Make it a field of floats, "
                "such as ti.f32."
            )

    def _register(self) -> None:
        GRADIENTS.epoch += 1
        if self.has_grads:
            with LOCK:
                WITH_GRADS.add(self)
            self.storage.graded = weakref.ref(self)
            for gradient in (self.grad_in, self.grad_out):
                if gradient is not None:
                    gradient.storage.gradient_of = weakref.ref(self)
                    gradient.storage.split = self.split


def _is_same(one: object, other: Values[Any] | None) -> bool:
    """Tell whether a value is a field, or None, that a field has already."""
    if other is None or not isinstance(one, Values):
        return one is other
    return one.storage is other.storage and one.shape == other.shape
