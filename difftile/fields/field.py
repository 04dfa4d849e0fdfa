"""Fields: typed arrays in the memory of the device, indexed from kernels and from Python."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, TapeError, brief
from difftile.fields.arithmetic import carried_into, may_carry
from difftile.fields.array_like import ArrayLike, check_is_field, filled_by_launch
from difftile.fields.element import Element, component, picks_component, set_component
from difftile.fields.exchange import as_array, as_index, as_shape, as_view_shape
from difftile.fields.pending import PENDING, run_pending
from difftile.fields.recording import RECORDING, as_read, note_read, note_write
from difftile.fields.split import Split, exchange
from difftile.fields.view import View, assign_part
from difftile.fields.window import Window, picks_part, whole
from difftile.ir.types import (
    Type,
    field_type,
    is_float,
    scalar_from_numpy,
    shape_of,
    shaped,
)
from difftile.substrate import LOCK, Buffer, current_session, pack, relieve
from difftile.tracebacks import boundaries, boundary, shorten

if TYPE_CHECKING:
    from difftile.fields.rows import Rows


class Gradients:
    """Counts how often gradient buffers were exchanged, so that prepared launches notice."""

    epoch = 0


GRADIENTS = Gradients()


class GradientGuard:
    """Hears which gradients other threads change while a thread keeps all of them as they are.

    Attributes:
        others: The memory of those gradients, which is theirs.
    """

    open: ClassVar[weakref.WeakSet[GradientGuard]] = weakref.WeakSet()
    """The guards of all threads."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self.others: set[Storage] = set()

    @staticmethod
    def changes(gradients: Iterable[Storage]) -> None:
        """Tell the guards of other threads that this one changes the memory of some gradients."""
        here = threading.get_ident()
        with LOCK:
            for guard in list(GradientGuard.open):
                if guard._thread != here:
                    guard.others.update(gradients)


_with_grads: weakref.WeakSet[Field] = weakref.WeakSet()


def fields_with_grads() -> list[Field]:
    """Return all fields that live and have gradients."""
    with LOCK:
        return list(_with_grads)


class _Ended:
    """Stands in the place of a buffer, so that prepared launches need no check."""

    __slots__ = ("_why",)
    nbytes = 0  # for counts of fields that hold nothing any more

    def __init__(self, why: str) -> None:
        self._why = why

    def disown(self) -> None:
        """Do nothing: the memory is given back already."""

    def __getattr__(self, name: str) -> Any:
        raise FieldError(self._why)


_SCRATCH: ContextVar[bool] = ContextVar("difftile_scratch", default=False)


@contextmanager
def scratch() -> Generator[None]:
    """Make fields that an operation of the library keeps for itself, inside a block.

    The operation writes such memory before it reads it, so no result depends on the earlier
    contents, and `dt.gradcheck` does not take it for a parameter of the user.
    """
    token = _SCRATCH.set(True)
    try:
        yield
    finally:
        _SCRATCH.reset(token)


class Storage:
    """Where the contents of a field are now; fields that share their values share this.

    A launch on a tape may move the contents to another buffer, for all of them at once, unless
    others write there as well.

    Attributes:
        memory: The buffer, for those who know that no launch is pending.
        graded: The field among them that was given gradients last.
        gradient_of: The field whose gradient this is.
        of_overwritten: Whether this is a gradient with respect to contents that launches on the
            tape have overwritten, so that the field holds others now.
        rows: The rows that they belong to.
        is_array: Whether it was made for an array that stands in the place of a field.
        is_scratch: Whether an operation of the library keeps the memory for itself.
        read_only: Whether the memory belongs to others who rely on what it holds.
        exports: An array over the memory that lives as long as the field.
        split: How the elements are divided among ranks; None if all belong to this process.
    """

    __slots__ = (
        "__weakref__",
        "_fields",
        "exports",
        "graded",
        "gradient_of",
        "is_array",
        "is_scratch",
        "memory",
        "of_overwritten",
        "read_only",
        "rows",
        "split",
    )

    def __init__(self, buffer: Buffer) -> None:
        buffer.own()
        self.memory = buffer
        self.is_scratch = _SCRATCH.get()
        self.graded: weakref.ref[Field] | None = None
        self.gradient_of: weakref.ref[Field] | None = None
        self.of_overwritten = False
        self.rows: weakref.ref[Rows] | None = None
        self.read_only = False
        self.is_array = False
        self.exports: object = None
        self.split: Split | None = None
        self._fields: dict[weakref.ref[Field], None] = {}

    def __del__(self) -> None:
        self.memory.disown()

    @property
    def fields(self) -> list[Field]:
        """The fields that share this, the oldest first."""
        return [field for one in list(self._fields) if (field := one()) is not None]

    def share(self, field: Field) -> None:
        """Note that a field has its contents here, for as long as it lives."""
        self._fields[weakref.ref(field, self._fields.pop)] = None

    @property
    def buffer(self) -> Buffer:
        """The buffer, with what all launches up to now have left there."""
        run = PENDING.run  # once: another thread may be done with them at any moment
        if run is not None:
            run()
        return self.memory

    def holds(self, kept: Buffer) -> bool:
        """Tell whether the present contents are those that a record keeps in some buffer."""
        now = self.buffer
        return now is kept or (now.is_shared and now.has_contents_of(kept.unpacked()))

    def restore(self, kept: Buffer, mark: object = None) -> None:
        """Go back to the contents that a record keeps in some buffer.

        Args:
            kept: The buffer.
            mark: The mark of the contents when they were kept; see `Contents.mark`.

        Raises:
            TapeError: Others have changed memory that is not written here.
        """
        if self.holds(kept):
            if self.memory.is_shared:
                self.memory.contents.go_back(mark)
            return
        if self.read_only:
            raise TapeError(
                f"A field of {kept.element}, shape {kept.shape}, is over memory of others that is "
                "read-only, and they have changed it since the tape read it: its launches cannot "
                "run again. Copy the array, dt.from_dlpack(x, copy=True), or let the tape keep "
                "all values: a tape without 'memory' or 'snapshots'."
            )
        if self.memory.is_shared or kept.is_shared:
            if self.memory.pins:
                self.renew(copy=False)
            self.memory.copy_from(kept.unpacked())
            if self.memory.is_shared:
                self.memory.contents.go_back(mark)
        else:
            self.move(kept)

    def move(self, fresh: Buffer) -> None:
        """Go on in another buffer; the old one lives on while something pins it."""
        old = self.buffer
        fresh.own()
        self.memory = fresh
        old.disown()

    def end(self, why: str) -> None:
        """Give the memory back; later uses raise an error with the reason."""
        self.buffer.disown()
        self.memory = cast(Buffer, _Ended(why))

    def renew(self, *, copy: bool) -> None:
        """Leave pinned memory and go on in fresh, with the contents or with any."""
        pack(relieve(self, copy=copy))

    def __reduce__(self) -> Any:
        if self.split is not None:
            raise FieldError(
                "A field that is split among ranks is not pickled: another process may own other "
                "elements. Write it with dt.distributed.save(), or pickle x.to_global()."
            )
        inner = len(shape_of(self.buffer.element))
        return unpickled_storage, (self.buffer.read(), inner, self.is_scratch)


def unpickled_storage(values: npt.NDArray[Any], inner: int, is_scratch: bool) -> Storage:
    """Return memory with some contents, as pickles have them.

    Args:
        values: The contents.
        inner: The number of last axes that are those of an element.
        is_scratch: See `Storage`.
    """
    outer = values.ndim - inner
    scalar = scalar_from_numpy(values.dtype)
    if scalar is None:
        raise FieldError(f"Fields cannot hold {values.dtype}.")
    element = shaped(values.shape[outer:], scalar)
    made = Storage(current_session().pool.allocate(element, values.shape[:outer]))
    made.memory.write(values)
    made.is_scratch = is_scratch
    return made


def unpickled(storage: Storage, shape: tuple[int, ...]) -> Field:
    """Return a field over memory, as pickles have it."""
    return Field(storage.memory.element, shape, storage)


@boundaries("fill", "view", "broadcast_to", "transpose", "with_grads")
class Field(ArrayLike):
    """Elements of one type in a grid of any number of dimensions, `()` included.

    Made by `dt.field`, `dt.from_numpy`, `dt.zeros` and their like. Kernels take fields as
    parameters or from outside; Python reads and writes single elements by index, parts by slices,
    and whole fields by `to_numpy` and `from_numpy`.
    """

    __slots__ = ("__weakref__", "_grad_in", "_grad_out", "_origin", "shape", "storage", "type")

    def __init__(self, element: Type, shape: tuple[int, ...], storage: Storage) -> None:
        self.type = field_type(element, len(shape))
        self.shape = shape
        self.storage = storage
        storage.share(self)
        self._grad_in: Field | None = None
        self._grad_out: Field | None = None
        self._origin: Field | None = None

    # What it is

    @property
    def element(self) -> Type:
        """The type of one element."""
        return self.type.element

    @property
    def base(self) -> Field:
        """The field itself, which holds its elements."""
        return self

    @property
    def window(self) -> None:
        """All of the field."""
        return None

    @property
    def origin(self) -> Field:
        """The field that this one is another shape of, or itself: where the gradients are."""
        return self if self._origin is None else self._origin

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

    @property
    def split(self) -> Split | None:
        """How the elements are divided among ranks; None if all belong to this process."""
        return self.storage.split

    @property
    def inner(self) -> ArrayLike:
        """The elements that this rank owns, without the halos of a split field; or all.

        Raises:
            FieldError: The field is split, and this is another shape of it.
        """
        split = self._own_split()
        return self if split is None else View(self, whole(self.shape).sliced(self, split.owned))

    @boundary
    def exchange(self) -> None:
        """Fill the halos of a split field from the ranks that own these elements.

        All ranks call it. On a tape it is a step: the gradients of halos go back to the owners, are
        added there, and become zero here.

        Raises:
            FieldError: The field is not split, or this is another shape of it.
        """
        if self._own_split() is None:
            raise FieldError(
                f"{self!r} is not split among ranks and has no halos. Make it with "
                "dt.distributed.Grid(...).field(...)."
            )
        exchange([self])

    @boundary
    def from_global(self, values: npt.ArrayLike) -> None:
        """Set a split field, its halos included, from the elements of all ranks.

        Of a field that is not split these are its own elements.

        Args:
            values: The same on all ranks, shape of the whole grid and then of an element.

        Raises:
            FieldError: The shape differs, or floats would be cut to integers.
        """
        split = self._own_split()
        if split is None:
            self.from_numpy(values)
        else:
            split.from_global(self, values)

    @boundary
    def to_global(self, *, root: int | None = None) -> Any:
        """Return the elements of all ranks, in the order of the whole grid; all ranks call it.

        Of a field that is not split these are its own elements.

        Args:
            root: The only rank that receives them, while others get None; None for all ranks.
        """
        split = self._own_split()
        return self.to_numpy() if split is None else split.to_global(self, root)

    def _own_split(self) -> Split | None:
        split = self.split
        if split is not None and split.shape != self.shape:
            raise FieldError(
                f"{self!r} is another shape of a field that is split among ranks. Use that field."
            )
        return split

    def named(self) -> str:
        """Return type and shape in one line, by which messages name the field."""
        grad = ", grad" if self.grad_out is not None else ""
        return f"<field {self.element} {self.shape}{grad}>"

    def __copy__(self) -> Field:
        """Return a field with memory of its own: the contents, and a gradient of zeros."""
        return self.copied(self)

    def copied(self, part: ArrayLike) -> Field:
        """Return a field of its own with the contents of the field or of a part of it."""
        twin = make(self.element, part.shape)
        if part is self:
            twin.storage.split = self.split
        twin = twin.with_grads() if self.has_grads else twin
        twin.copy_from(part)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Field:
        """Return a copy, with copies of the gradients; fields that share memory do so as copies.

        On an open tape the copy is part of the tape, and gradients of copies are zero.
        """
        closed = RECORDING.get().recorder is None
        storage = self._live_storage()
        graded = None if closed or storage.graded is None else storage.graded()
        for other in (self._origin, graded):  # gradients flow to the one that has them
            if other is not None and other is not self:
                deepcopy(other, memo)
        own: Storage | None = memo.get(id(storage))
        fresh = own is None
        if own is None:
            own = memo[id(storage)] = make(self.element, self.shape).storage
            own.is_scratch, own.split = storage.is_scratch, storage.split
        twin = memo[id(self)] = Field(self.element, self.shape, own)
        gradients = self._grad_in, self._grad_out
        for gradient in gradients:
            if gradient is not None and not closed and id(gradient) not in memo:
                memo[id(gradient)] = make(gradient.element, gradient.shape)
                memo[id(gradient)].buffer.fill(0.0)
        twin.__setstate__((*deepcopy(gradients, memo), deepcopy(self._origin, memo)))
        if fresh:
            twin.copy_from(self)
        return twin

    def __reduce__(self) -> Any:
        note_read(self)
        state = self._grad_in, self._grad_out, self._origin
        return unpickled, (self._live_storage(), self.shape), state

    def __setstate__(self, state: tuple[Field | None, Field | None, Field | None]) -> None:
        self._grad_in, self._grad_out, self._origin = state
        if self._grad_in is not None or self._grad_out is not None:
            self._register()

    # Values

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return a copy of the contents, shape `shape` and then the shape of an element."""
        note_read(self)
        return as_read(self, None, self.buffer.read())

    @boundary
    def fill(self, value: npt.ArrayLike) -> None:
        """Set every element to one value: a number, or a vector or matrix for such elements."""
        if carried_into(self, value):
            return
        if not filled_by_launch(self, value):
            self.fill_at_once(value)

    def fill_at_once(self, value: npt.ArrayLike) -> None:
        """Set every element to one value, by no launch."""
        wanted = shape_of(self.element) if as_array(value).ndim else ()
        element = self._constants(value, wanted)
        buffer = self.before_write(None, element)
        if element.ndim == 0:
            buffer.fill(element.item())
        else:
            buffer.write(np.broadcast_to(element, (*self.shape, *element.shape)))

    def _set(self, values: npt.NDArray[Any], *, constant: bool) -> None:
        self.before_write(None, values if constant else None).write(values)

    def write_from(self, other: ArrayLike) -> None:
        """Copy a field that fits, without a record on the tape."""
        if isinstance(other, Field):
            source = other.buffer
            self.fresh_if_pinned(keep=False).copy_from(source)
        else:
            super().write_from(other)

    def __getitem__(self, index: Any) -> Any:
        try:
            if picks_part(index, len(self.shape)):
                return View(self, whole(self.shape).sliced(self, index))
            if picks_component(self, index):
                return component(self, index)
            where = as_index(self, self.shape, index)
            note_read(self)
            found = self.buffer.read_at(where)
            if shape_of(self.element):
                return Element.of(self, where, as_read(self, where, found))
            return as_read(self, where, found.item())
        except Exception as error:
            shorten(error)
            raise

    def __setitem__(self, index: Any, value: npt.ArrayLike) -> None:
        try:
            if picks_part(index, len(self.shape)):
                assign_part(self[index], value)
                return
            if picks_component(self, index):
                set_component(self, index, value)
                return
            where = as_index(self, self.shape, index)
            if isinstance(value, Element) and value.is_of(self, where):
                return  # `v[0] += 1` has written there already
            if isinstance(value, ArrayLike) or may_carry(value):
                part = View(self, whole(self.shape).sliced(self, where))
                if isinstance(value, ArrayLike):
                    assign_part(part, value)
                    return
                if carried_into(part, value):
                    return
            if not where and filled_by_launch(self, value):
                return
            array = self._constants(value, shape_of(self.element))
            self.before_write(where, array).write_at(where, array)
        except Exception as error:
            shorten(error)
            raise

    def before_write(
        self, where: tuple[int, ...] | Window | None, constants: npt.NDArray[Any] | None
    ) -> Buffer:
        """Tell an open tape and make the memory writable.

        Args:
            where: The element or the part that is to be written; None stands for all.
            constants: What is written; None where it is no constant, and the tape knows of it.

        Raises:
            FieldError: The memory belongs to others, and is read-only.
        """
        if self.storage.read_only:
            raise FieldError(
                f"{self!r} is over memory of others that is read-only, and is not written. "
                "Copy it first: x = dt.from_dlpack(array, copy=True)."
            )
        tape = note_write(self).recorder
        if tape is not None and constants is not None and tape.host_write(self, where, constants):
            return self.buffer
        return self.fresh_if_pinned(keep=where is not None)

    def fresh_if_pinned(self, *, keep: bool) -> Buffer:
        """Return memory that no tape needs any more, with the contents if they must stay."""
        old = self.buffer
        if self.storage.buffer.pins:
            self.storage.renew(copy=keep)
            return self.buffer
        return old

    # Other shapes

    @boundary
    def view(self, *shape: Any) -> Field:
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

    def under(self, shape: tuple[int, ...]) -> Field:
        """Return the field under a shape that holds as many elements."""
        if shape == self.shape:
            return self
        twin = type(self)(self.element, shape, self.storage)
        twin._origin = self.origin
        return twin

    def broadcast_to(self, *shape: Any) -> View:
        """Return the elements repeated along new axes in front, and along axes of size 1.

        Raises:
            FieldError: The shapes do not go together.
        """
        return View(self, whole(self.shape).broadcast(self, as_view_shape(shape)))

    def transpose(self, *axes: Any) -> View:
        """Return the elements with the axes in another order, in the same memory.

        `dt.zeros((3, n)).transpose()` is a field of shape (n, 3) whose last axis is the slowest: a
        kernel that is batched over n has the values of neighbouring worlds beside each other.

        Args:
            axes: The axis of the field that becomes each axis of the view; without them, the axes
                are reversed.

        Raises:
            FieldError: These are not all axes, each once.
        """
        return View(self, whole(self.shape).transposed(self, axes))

    # Gradients

    @property
    def has_grads(self) -> bool:
        """Tell whether the field has gradient buffers."""
        origin = self if self._origin is None else self._origin
        return origin._grad_out is not None or origin._grad_in is not None

    @property
    def grad(self) -> Field:
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
    def grad(self, gradient: ArrayLike) -> None:
        if not _is_same(gradient, self.grad):  # `x.grad += 1` assigns what it has changed
            raise FieldError(
                f"The gradient of {self!r} is not replaced by assignment. Set its contents, "
                "x.grad.copy_from(g), or attach another one, x = x.with_grads(g, g)."
            )

    @property
    def grad_out(self) -> Field | None:
        """The gradient with respect to the contents before a launch; None if there is none."""
        of = self._origin
        return self._grad_out if of is None else self._reshaped(of._grad_out)

    @grad_out.setter
    def grad_out(self, gradient: Field | None) -> None:
        if _is_same(gradient, self.grad_out):
            return
        self._check_is_origin()
        run_pending()  # with the gradients that there were
        self._grad_out = self._checked_gradient(gradient)
        self._register()

    @property
    def grad_in(self) -> Field | None:
        """The gradient with respect to the contents after a launch; the same buffer by default."""
        of = self._origin
        return self._grad_in if of is None else self._reshaped(of._grad_in)

    @grad_in.setter
    def grad_in(self, gradient: Field | None) -> None:
        if _is_same(gradient, self.grad_in):
            return
        self._check_is_origin()
        run_pending()
        self._grad_in = self._checked_gradient(gradient)
        self._register()

    @boundary
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
        self._check_is_origin()
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

    def over(
        self,
        storage: Storage,
        grad_in: Field | None,
        grad_out: Field | None,
        kind: type[Field] | None = None,
    ) -> Field:
        """Return a field like this one over other memory, with gradients of its own.

        These gradients are not registered: `zero_grads()` leaves them as they are.

        Args:
            storage: The memory.
            grad_in: Gradient with respect to the contents after a launch.
            grad_out: Gradient with respect to the contents before it.
            kind: The class of the field, `Field` by default.
        """
        twin = (kind or Field)(self.element, self.shape, storage)
        twin._grad_in, twin._grad_out = grad_in, grad_out
        return twin

    def _reshaped(self, gradient: Field | None) -> Field | None:
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

    def _checked_gradient(self, gradient: ArrayLike | None) -> Field | None:
        if gradient is None:
            return None
        self._check_is_smooth()
        check_is_field(gradient, "A gradient is")
        if not isinstance(gradient, Field):
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
        return gradient

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
                _with_grads.add(self)
            self.storage.graded = weakref.ref(self)
            for gradient in (self.grad_in, self.grad_out):
                if gradient is not None:
                    gradient.storage.gradient_of = weakref.ref(self)
                    gradient.storage.split = self.split


def _is_same(one: object, other: Field | None) -> bool:
    """Tell whether a value is a field, or None, that a field has already."""
    if other is None or not isinstance(one, Field):
        return one is other
    return one.storage is other.storage and one.shape == other.shape


@boundary
def zero_grads(fields: ArrayLike | Iterable[ArrayLike] | None = None) -> None:
    """Set the gradients of fields to zero.

    Args:
        fields: A field, or several; all fields that live by default.

    Raises:
        FieldError: A value is not a field.
    """
    if fields is None:
        fields = fields_with_grads()
    for field in (fields,) if isinstance(fields, ArrayLike) else fields:
        check_is_field(field, "zero_grads() takes")
        clear_grads(field)


def clear_grads(field: ArrayLike) -> None:
    """Set the gradients of a field to zero, if they belong to this session."""
    into, out = field.grad_in, field.grad_out
    if GradientGuard.open:
        GradientGuard.changes({one.base.storage for one in (into, out) if one is not None})
    for gradient in (out,) if into is out else (into, out):
        if gradient is None:
            continue
        buffer = gradient.base.storage.buffer
        if buffer.zeros or buffer.pool is not current_session().pool:
            continue
        if not isinstance(gradient, Field):
            gradient.clear()
        elif buffer.pins:
            gradient.fresh_if_pinned(keep=False).fill(0.0)
        else:
            buffer.fill(0.0)


def make(element: Type, shape: tuple[int, ...]) -> Field:
    """Return a field with any contents.

    Raises:
        FieldError: The shape has no elements, or too many.
    """
    shape = as_shape(shape)
    return Field(element, shape, Storage(current_session().pool.allocate(element, shape)))


def make_like(field: ArrayLike) -> Field:
    """Return a field with any contents like another, or like a part of one, and split like it."""
    made = make(field.element, field.shape)
    split = field.split if isinstance(field, Field) else None
    if split is not None and split.shape == field.shape:
        made.storage.split = split
    return made
