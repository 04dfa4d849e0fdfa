"""Programs one after the other: the statements of several launches as one program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Const,
    Load,
    ParallelFor,
    Size,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32
from difftile.ir.walk import WRITES, Cloner
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class SequenceRow:
    """A row of an array, which stands for an array with an axis less.

    Args:
        array: The array; its first axis counts rows.
        at: The row.
    """

    array: Array
    at: Value


def placed(
    block: Block, arrays: Mapping[Array, Array | SequenceRow], numbers: Mapping[Var, Value]
) -> tuple[Stmt, ...]:
    """Return a copy of statements on other arrays.

    Args:
        block: The body of a program.
        arrays: The replacement of each array parameter.
        numbers: The replacement of each other parameter.
    """
    return _Placer(arrays, numbers).block(block).stmts


class _Placer(Cloner):
    def __init__(
        self, arrays: Mapping[Array, Array | SequenceRow], numbers: Mapping[Var, Value]
    ) -> None:
        super().__init__(dict(numbers))
        self.places = arrays

    def stmt(self, stmt: Stmt) -> Stmt:
        copy = super().stmt(stmt)
        if not isinstance(copy, (Size, Load, *WRITES)):
            return copy
        if isinstance(copy, Accumulate):  # another program may touch the element, too
            copy = replace(copy, single_write=False)
        place = self.places.get(copy.array)
        if isinstance(place, SequenceRow):
            if isinstance(copy, Size):
                return replace(copy, array=place.array, axis=copy.axis + 1)
            return replace(copy, array=place.array, index=(place.at, *copy.index))
        return copy if place is None else replace(copy, array=place)


def copy_into_row(source: Array, row: SequenceRow) -> tuple[Stmt, ...]:
    """Return the loop that copies an array into a row."""
    return _copy(source, None, row.array, row.at)


def copy_from_row(row: SequenceRow, target: Array) -> tuple[Stmt, ...]:
    """Return the loop that copies a row into an array."""
    return _copy(row.array, row.at, target, None)


def _copy(
    source: Array, source_row: Value | None, target: Array, target_row: Value | None
) -> tuple[Stmt, ...]:
    whole = target if target_row is None else source
    sizes = [Var(f"n{axis}", I32) for axis in range(whole.type.ndim)]
    indices = tuple(Var(letter, I32) for letter, _ in zip("ijklmnopq", sizes, strict=False))
    value = Var("value", whole.type.element)
    at = () if source_row is None else (source_row,)
    to = () if target_row is None else (target_row,)
    copied = Load(value, source, (*at, *indices)), Store(target, (*to, *indices), value)
    if not sizes:
        return copied
    zeros = (Const(0, I32),) * len(sizes)
    return (
        *(Size(size, whole, axis) for axis, size in enumerate(sizes)),
        ParallelFor(indices, zeros, tuple(sizes), Block(copied)),
    )
