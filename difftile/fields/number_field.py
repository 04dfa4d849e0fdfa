"""Fields of one element that hold numbers of Python, so that derivatives pass through these."""

from __future__ import annotations

from difftile.fields.field import Field, make
from difftile.fields.storage import scratch
from difftile.ir.types import Type


class NumberField(Field):
    """A field that stands for a number: kernels read it where they expect one."""

    __slots__ = ()


def number_field(
    element: Type, shape: tuple[int, ...] = (), kind: type[Field] = NumberField
) -> Field:
    """Return a field for a number, with any contents and a gradient of zero.

    Many are made while a tape is open. Their gradients are not registered, so that no launch has to
    be prepared again.

    Args:
        element: The type of the number.
        shape: A shape with one element.
        kind: The class of the field.
    """
    with scratch():
        return _with_gradient(element, shape, kind)


def value_field(element: Type) -> Field:
    """Return a field of the user's for a number, with any contents and a gradient of zero."""
    return _with_gradient(element, (), Field)


def _with_gradient(element: Type, shape: tuple[int, ...], kind: type[Field]) -> Field:
    gradient, held = make(element, shape), make(element, shape)
    gradient.buffer.fill(0.0)
    return held.over(held.storage, gradient, gradient, kind)
