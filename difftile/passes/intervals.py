"""The least and greatest values of integers, where they follow from literals."""

from __future__ import annotations

from typing import TypeAlias

from difftile.ir.nodes import Block, Const, For, Let, ParallelFor, Stmt, Value, Var
from difftile.ir.types import I32
from difftile.ir.walk import bound, definitions, walk

Interval: TypeAlias = tuple[int, int]


class Intervals:
    """The intervals of the integers of a block; None for those that may wrap around."""

    def __init__(self, block: Block) -> None:
        self._known: dict[Var, Interval | None] = {}
        self._defs: dict[Var, Stmt] = {}
        for stmt in walk(block):
            self._defs.update(dict.fromkeys((*definitions(stmt), *bound(stmt)), stmt))

    def of(self, value: Value) -> Interval | None:
        """Return the least and greatest value of an integer; None if either is not known."""
        if value.type != I32:
            return None
        if isinstance(value, Const):
            return int(value.value), int(value.value)
        if value not in self._known:
            self._known[value] = None  # a carry depends on itself
            self._known[value] = self._found(value)
        return self._known[value]

    def _found(self, value: Var) -> Interval | None:
        match self._defs.get(value):
            case For(index=index, start=start, stop=stop) if index is value:
                return self._range(start, stop)
            case ParallelFor(indices=indices, starts=starts, stops=stops) if value in indices:
                axis = indices.index(value)
                return self._range(starts[axis], stops[axis])
            case Let(op="bit_and", args=(_, Const(mask)) | (Const(mask), _)) if mask >= 0:
                return 0, int(mask)
            case Let(op="add" | "sub" | "mul" | "min" | "max" as op, args=args):
                first, second = map(self.of, args)
                return None if first is None or second is None else _combined(op, first, second)
            case _:
                return None

    def _range(self, start: Value, stop: Value) -> Interval | None:
        first, last = self.of(start), self.of(stop)
        return None if first is None or last is None else (first[0], last[1] - 1)


def _combined(op: str, first: Interval, second: Interval) -> Interval | None:
    (a, b), (c, d) = first, second
    match op:
        case "add":
            low, high = a + c, b + d
        case "sub":
            low, high = a - d, b - c
        case "mul":
            ends = (a * c, a * d, b * c, b * d)
            low, high = min(ends), max(ends)
        case "min":
            low, high = min(a, c), min(b, d)
        case _:
            low, high = max(a, c), max(b, d)
    return (low, high) if low >= -(2**31) and high < 2**31 else None
