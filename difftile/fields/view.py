"""Parts of fields: `x[1:3]`, `x[::2]`, `x[:, 0]`, `x.broadcast_to(3, 4)`."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.any_field import AnyField
from difftile.fields.assign import assign_part
from difftile.fields.element import component, picks_component, set_component
from difftile.fields.elements import FieldElements
from difftile.fields.exchange import as_view_shape
from difftile.fields.host_access import HostAccess
from difftile.fields.recording import as_read, note_read
from difftile.fields.values import Values
from difftile.fields.window import Window
from difftile.ir.types import Type
from difftile.ir.views import ViewKind
from difftile.records import dataclass
from difftile.tracebacks import boundaries


# Not frozen: `x[1:3].grad += 1` assigns the gradient that it has changed.
@dataclass(slots=True, repr=False, eq=False)
@boundaries("__getitem__", "__setitem__", "broadcast_to", "transpose", "view", "with_grads")
class View(HostAccess):
    """A part of a field, in the memory of the field: writing through it changes the field.

    Its gradient is the same part of the field's gradient. Kernels take it like a field.

    Args:
        field: The field.
        window: Which of its elements.
    """

    field: Values[Any]
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
    def base(self) -> AnyField:
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

    def __copy__(self) -> AnyField:
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

    def _set(self, values: npt.NDArray[Any] | FieldElements) -> None:
        if self.window.repeats:
            raise FieldError(
                f"{self!r} repeats elements of the field, and is not written. Write to the field."
            )
        self.field.overwrite(self.window, values)

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
    def grad(self, gradient: FieldElements) -> None:
        self._check_is_own(gradient, self.grad)

    @property
    def grad_out(self) -> View | None:
        """The same part of the field's `grad_out`."""
        whole = self.field.grad_out
        return None if whole is None else View(whole, self.window)

    @grad_out.setter
    def grad_out(self, gradient: FieldElements | None) -> None:
        self._check_is_own(gradient, self.grad_out)

    @property
    def grad_in(self) -> View | None:
        """The same part of the field's `grad_in`."""
        whole = self.field.grad_in
        return None if whole is None else View(whole, self.window)

    @grad_in.setter
    def grad_in(self, gradient: FieldElements | None) -> None:
        self._check_is_own(gradient, self.grad_in)

    def _check_is_own(self, gradient: FieldElements | None, own: View | None) -> None:
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
