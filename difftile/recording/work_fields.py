"""Gradients that a backward pass works on: copies, and sums into fields."""

from __future__ import annotations

from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, make_like
from difftile.fields.window import Window


def add_to(target: Field, values: HostArray, window: Window | None = None) -> None:
    """Add to a field, or to a part of one."""

    def add(array: HostArray) -> None:
        if window is None:
            array += values
        else:
            window.add(array, values)

    target.buffer.change(add)


def copied(field: Field) -> Field:
    """Return a field with a copy of the contents."""
    twin = make_like(field)
    twin.buffer.copy_from(field.buffer)
    return twin


def zeros_of(field: Field) -> Field:
    """Return a field of zeros like another."""
    made = make_like(field)
    made.buffer.fill(0.0)
    return made
