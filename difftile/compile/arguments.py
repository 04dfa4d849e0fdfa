"""The arguments of a call from Python, and of its launch in the program's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from difftile.fields.field import Field

Argument: TypeAlias = Field | float
Arguments: TypeAlias = list[Argument]
CallArgs: TypeAlias = tuple[object, ...]
CallKwargs: TypeAlias = Mapping[str, object]


def field_at(values: Sequence[Argument], position: int) -> Field:
    """Return the field at a position."""
    value = values[position]
    assert isinstance(value, Field)
    return value


def number_at(values: Sequence[Argument], position: int) -> float:
    """Return the number at a position."""
    value = values[position]
    assert not isinstance(value, Field)
    return value
