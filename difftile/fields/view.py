"""Parts of fields: `x[1:3]`, `x[::2]`, `x[:, 0]`, `x.broadcast_to(3, 4)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, brief
from difftile.fields.arithmetic import carried_into
from difftile.fields.array_like import ArrayLike, followed_array
from difftile.fields.element import component, picks_component, set_component
from difftile.fields.exchange import as_array, as_view_shape
from difftile.fields.recording import as_read, note_read
from difftile.fields.window import Window
from difftile.ir.types import Type, shape_of
from difftile.ir.views import ViewKind
from difftile.records import dataclass
from difftile.tracebacks import boundaries

if TYPE_CHECKING:
    from difftile.fields.field import Field


# Not frozen: `x[1:3].grad += 1` assigns the gradient that it has changed.
@dataclass(slots=True, repr=False, eq=False)
@boundaries("__getitem__", "__setitem__", "broadcast_to", "transpose", "view", "with_grads")
class View(ArrayLike):
    """A part of a field, in the memory of the field: writing through it changes the field.

    Its gradient is the same part of the field's gradient. Kernels take it like a field.

    Args:
        field: The field.
        window: Which of its elements.
    """

    field: Field
    window: Window

    def equals(self, other: object) -> bool:
        """Tell whether another view selects the same elements of the same field."""
        if not isinstance(other, View):
            return False
        return self.field is other.field and self.window == other.window

    def __hash__(self) -> int:
        return hash((self.field, self.window))

    @property
    def shape(self) -> tuple[int, ...]:  # pyrefly: ignore[bad-override]
        """Elements along each dimension."""
        return self.window.shape

    @property
    def element(self) -> Type:
        """The type of one element."""
        return self.field.element

    @property
    def base(self) -> Field:
        """The field whose memory, and whose gradient, holds the elements."""
        return self.field

    @property
    def kind(self) -> ViewKind:
        """The kind of view, for which kernels are compiled."""
        return self.window.kind

    @property
    def numbers(self) -> tuple[int, ...]:
        """The arguments of kernels that follow the field."""
        return self.window.numbers

    def named(self) -> str:
        """Return type and shape in one line, by which messages name the field."""
        return f"<view {self.element} {self.shape} of {self.field!r}>"

    def __copy__(self) -> Field:
        """Return a field with memory of its own: the contents, and a gradient of zeros."""
        return self.field.copied(self)

    def __reduce__(self) -> Any:
        # As a part of the whole field, in copies as well: what shares memory goes on sharing it.
        return View, (self.field, self.window)

    # Values

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return a copy of the contents, shape `shape` and then the shape of an element."""
        note_read(self.field)
        return as_read(self.field, self.window, self.window.of(self.field.buffer.array()).copy())

    def _set(self, values: npt.NDArray[Any], *, constant: bool) -> None:
        if self.window.repeats:
            raise FieldError(
                f"{self!r} repeats elements of the field, and is not written. Write to the field."
            )
        buffer = self.field.before_write(self.window, values if constant else None)
        self.window.assign(buffer, values)

    def __getitem__(self, index: Any) -> Any:
        if picks_component(self, index):
            return component(self, index)
        part = self.window.sliced(self, self._index(index))
        if part.shape:
            return View(self.field, part)
        return self.field[part.starts if part.starts else None]

    def __setitem__(self, index: Any, value: npt.ArrayLike) -> None:
        if picks_component(self, index):
            set_component(self, index, value)
            return
        part = View(self.field, self.window.sliced(self, self._index(index)))
        assign_part(part, value)

    def _index(self, index: Any) -> Any:
        return () if index is None and not self.shape else index

    def is_same(self, other: View) -> bool:
        """Tell whether another view is of the same elements."""
        return self.field.storage is other.field.storage and self.window == other.window

    # Shapes

    def broadcast_to(self, *shape: Any) -> View:
        """Return the elements repeated along new axes in front, and along axes of size 1.

        Raises:
            FieldError: The shapes do not go together.
        """
        return View(self.field, self.window.broadcast(self, as_view_shape(shape)))

    def transpose(self, *axes: Any) -> View:
        """Return the elements with the axes in another order; see `Field.transpose`.

        Raises:
            FieldError: These are not all axes, each once.
        """
        return View(self.field, self.window.transposed(self, axes))

    def view(self, *shape: Any) -> NoReturn:
        """Refuse: a part of a field is not one stretch of memory."""
        raise FieldError(
            f"{self!r} is a part of a field, which takes no other shape. "
            "Reshape the field first, 'x.view(...)[...]', or copy the part into a field."
        )

    # Gradients

    @property
    def has_grads(self) -> bool:
        """Tell whether the field has gradient buffers."""
        return self.field.has_grads

    @property
    def grad(self) -> View:
        """The same part of the field's gradient.

        Raises:
            FieldError: The field has none.
        """
        return View(self.field.grad, self.window)

    @grad.setter
    def grad(self, gradient: ArrayLike) -> None:
        self._check_is_own(gradient, self.grad)

    @property
    def grad_out(self) -> View | None:
        """The same part of the field's `grad_out`."""
        whole = self.field.grad_out
        return None if whole is None else View(whole, self.window)

    @grad_out.setter
    def grad_out(self, gradient: ArrayLike | None) -> None:
        self._check_is_own(gradient, self.grad_out)

    @property
    def grad_in(self) -> View | None:
        """The same part of the field's `grad_in`."""
        whole = self.field.grad_in
        return None if whole is None else View(whole, self.window)

    @grad_in.setter
    def grad_in(self, gradient: ArrayLike | None) -> None:
        self._check_is_own(gradient, self.grad_in)

    def _check_is_own(self, gradient: ArrayLike | None, own: View | None) -> None:
        """Check an assignment such as that after `x[1:3].grad += 1`."""
        if gradient != own:
            self.with_grads()

    def with_grads(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse: the gradient belongs to the field."""
        raise FieldError(
            f"{self!r} has the gradient of its field. Give the field one, "
            "x = x.with_grads(), and take the view of that."
        )

    def detach(self) -> View:
        """Return the same part of the field without its gradient."""
        return View(self.field.detach(), self.window)


def overlap(one: ArrayLike, other: ArrayLike) -> bool:
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


def assign_part(part: View, value: npt.ArrayLike | ArrayLike) -> None:
    """Set a part of a field to what broadcasts to its shape: `x[1:3] = value`.

    Args:
        part: The part.
        value: A number or an element for all, an array, or a field, from which gradients flow.

    Raises:
        FieldError: The shapes do not go together, or the type cannot hold the values.
    """
    value = followed_array(value)
    if isinstance(value, View) and part.is_same(value):
        return  # `x[1:3] += 1` has written there already
    if isinstance(value, ArrayLike):
        fitting: Any = value
        if value.shape != part.shape:
            if not _broadcasts(value.shape, part.shape):
                raise FieldError(
                    f"{part!r} takes a field that broadcasts to it, not {brief(value)}."
                )
            fitting = fitting.broadcast_to(part.shape)
        part.copy_from(fitting)
        return
    if carried_into(part, value):
        return
    array, inner = as_array(value), shape_of(part.element)
    if array.shape in ((), inner):
        part.fill(value)
        return
    wanted = (*part.shape, *inner)
    given = array.reshape(array.shape[_ones_in_front(array.shape, len(wanted)) :])
    if not _broadcasts(given.shape, wanted):
        raise FieldError(
            f"{part!r} takes an array that broadcasts to shape {wanted}, not one of shape "
            f"{array.shape}."
        )
    part.from_numpy(np.broadcast_to(given, wanted))


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def _ones_in_front(shape: tuple[int, ...], dimensions: int) -> int:
    """Return how many axes of size 1 there are before so many others."""
    spare = shape[: max(0, len(shape) - dimensions)]
    return len(spare) if all(size == 1 for size in spare) else 0
