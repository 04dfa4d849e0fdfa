"""Fields over memory that a caller lends for one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from difftile.fields.field import Field
from difftile.fields.foreign import field_over, point_at
from difftile.interop.operation import ArrayLayout
from difftile.ir.types import Type
from difftile.substrate import Buffer, Terms, current_session

Addresses: TypeAlias = Sequence[int]
Some: TypeAlias = Sequence[int | None]
Values: TypeAlias = Sequence[Any]
Placing: TypeAlias = Callable[[Sequence[ArrayLayout]], Addresses]
"""Returns where the outputs go, given their layouts, which may be known after the run only."""

_NOBODY = object()


class LentField:
    """A field that stands for an array of the caller, in the memory of each call in turn.

    Args:
        element: The type of an element.
        shape: The shape.
        guarded: A write moves the field to memory of our own, and the array stays as it is.

    Attributes:
        field: The field.
    """

    def __init__(self, element: Type, shape: tuple[int, ...], *, guarded: bool = True) -> None:
        self._terms = Terms.GUARDED if guarded else Terms.LENT
        self.field = field_over(element, shape, 0, _NOBODY, Terms.LENT)

    def lend(self, address: int, lender: object) -> None:
        """Switch to memory of the caller."""
        point_at(self.field, address, lender or _NOBODY, self._terms)

    def start(self) -> None:
        """Switch to memory of its own, with zeros."""
        field = self.field
        field.storage.move(current_session().pool.allocate(field.element, field.shape))
        field.storage.buffer.fill(0.0)

    def end(self) -> None:
        """Release all memory."""
        point_at(self.field, 0, _NOBODY, Terms.LENT)


def buffer_at(field: Field, address: int) -> Buffer:
    """Return memory of the caller as a buffer that could be a field's."""
    pool = current_session().pool
    return pool.lent(field.element, field.shape, address, _NOBODY, Terms.LENT)


def copy_out(field: Field, address: int) -> None:
    """Copy the contents of a field to memory of the caller, unless they are there."""
    buffer = field.buffer
    if buffer.address != address or buffer.device is not None:
        buffer_at(field, address).copy_from(buffer)
