"""Fields: typed arrays in the memory of the device, indexed from kernels and from Python."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.arithmetic import carried_into, may_carry
from difftile.fields.assign import assign_part
from difftile.fields.element import FieldElement, component, picks_component, set_component
from difftile.fields.elements import FieldElements
from difftile.fields.exchange import as_array, as_index, as_shape, as_view_shape
from difftile.fields.halos import exchange
from difftile.fields.host_access import HostAccess, filled_by_launch
from difftile.fields.recording import RECORDING, as_read, note_read
from difftile.fields.split import Split
from difftile.fields.storage import Storage, allocate
from difftile.fields.values import Values
from difftile.fields.view import View
from difftile.fields.window import picks_part, whole
from difftile.ir.types import Type, shape_of
from difftile.tracebacks import boundaries, shorten


def unpickled(storage: Storage, shape: tuple[int, ...]) -> Field:
    """Return a field over memory, as pickles have it."""
    return Field(storage.memory.element, shape, storage)


@boundaries("exchange", "from_global", "to_global", "fill", "broadcast_to", "transpose")
class Field(HostAccess, Values["Field"]):
    """Elements of one type in a grid of any number of dimensions, `()` included.

    Made by `dt.field`, `dt.from_numpy`, `dt.zeros` and their like. Kernels take fields as
    parameters or from outside; Python reads and writes single elements by index, parts by slices,
    and whole fields by `to_numpy` and `from_numpy`.
    """

    __slots__ = ()

    # Among ranks

    @property
    def inner(self) -> Field | View:
        """The elements that this rank owns, without the halos of a split field; or all.

        Raises:
            FieldError: The field is split, and this is another shape of it.
        """
        split = self._own_split()
        return self if split is None else View(self, whole(self.shape).sliced(self, split.owned))

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

    def copied(self, part: FieldElements) -> Field:
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
        graded = None if closed else storage.graded_field
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

    def fill(self, value: npt.ArrayLike) -> None:
        """Set every element to one value: a number, or a vector or matrix for such elements."""
        if carried_into(self, value):
            return
        if not filled_by_launch(self, value):
            self.fill_at_once(value)

    def fill_at_once(self, value: npt.ArrayLike) -> None:
        """Set every element to one value, by no launch."""
        wanted = shape_of(self.element) if as_array(value).ndim else ()
        self.overwrite(None, self._constants(value, wanted))

    def _set(self, values: npt.NDArray[Any] | FieldElements) -> None:
        self.overwrite(None, values)

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
                return FieldElement.of(self, where, as_read(self, where, found))
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
            own = isinstance(value, FieldElement) and value.is_of(self, where)
            if own and not RECORDING.get().constant:
                return  # `v[0] += 1` has written there already
            if isinstance(value, FieldElements) or may_carry(value):
                part = View(self, whole(self.shape).sliced(self, where))
                if isinstance(value, FieldElements):
                    assign_part(part, value)
                    return
                if carried_into(part, value):
                    return
            if not where and filled_by_launch(self, value):
                return
            array = self._constants(value, shape_of(self.element))
            self.overwrite(where, array)
        except Exception as error:
            shorten(error)
            raise

    # Other shapes

    def broadcast_to(self, *shape: Any) -> View:
        """Return the elements repeated along new axes in front, and along axes of size 1.

        Raises:
            FieldError: The shapes do not go together.
        """
        return View(self, whole(self.shape).broadcast(self, as_view_shape(shape)))

    def transpose(self, *axes: Any) -> View:
        """Return the elements with the axes in another order, in the same memory.

        `dt.zeros((3, n)).transpose()` is a field of shape (n, 3) whose last axis is the slowest: a
        kernel that is batched over n has the values of neighbouring worlds next to each other.

        Args:
            axes: The axis of the field that becomes each axis of the view; without them, the axes
                are reversed.

        Raises:
            FieldError: These are not all axes, each once.
        """
        return View(self, whole(self.shape).transposed(self, axes))

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


def make(element: Type, shape: tuple[int, ...]) -> Field:
    """Return a field with any contents.

    Raises:
        FieldError: The shape has no elements, or too many.
    """
    shape = as_shape(shape)
    return Field(element, shape, allocate(element, shape))


def make_like(field: FieldElements) -> Field:
    """Return a field with any contents like another, or like a part of one, and split like it."""
    made = make(field.element, field.shape)
    split = field.split if isinstance(field, Field) else None
    if split is not None and split.shape == field.shape:
        made.storage.split = split
    return made
