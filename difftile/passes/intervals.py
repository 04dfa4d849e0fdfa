"""Intervals of integers, and of a program's integers as far as they follow from known ones."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, TypeAlias

from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    For,
    Let,
    ParallelFor,
    Size,
    Stmt,
    Value,
    Var,
)
from difftile.ir.types import I32, Scalar, integer_limits
from difftile.ir.walk import bound, definitions, walk

Interval: TypeAlias = tuple[int, int]
"""The least and the greatest integer."""
Ends: TypeAlias = "tuple[int | None, int | None]"
"""The same, and None where there is no least or greatest one."""


def fits(ends: Interval, scalar: Scalar) -> bool:
    """Tell whether the integers of an interval are within the limits of a type."""
    least, most = integer_limits(scalar)
    return least <= ends[0] and ends[1] <= most


class Intervals:
    """The intervals of the integers of a block; None for integers that may wrap around.

    Args:
        block: The block.
        given: The shapes of arrays and the values of numbers that are known.
    """

    def __init__(self, block: Block, given: Mapping[Array | Var, Any] | None = None) -> None:
        self._given: Mapping[Array | Var, Any] = given or {}
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
            case None if value in self._given:
                number = int(self._given[value])
                return number, number
            case Size(array=array, axis=axis) if array in self._given:
                extent: int = self._given[array][axis]
                return extent, extent
            case For(index=index, start=start, stop=stop) if index is value:
                return self._range(start, stop)
            case ParallelFor(indices=indices, starts=starts, stops=stops) if value in indices:
                axis = indices.index(value)
                return self._range(starts[axis], stops[axis])
            case Let(op="bit_and", args=(_, Const(mask)) | (Const(mask), _)) if mask >= 0:
                return 0, int(mask)
            case Let(op=op, args=args) if op in OPERATIONS:
                known = [found for arg in args if (found := self.of(arg)) is not None]
                found = OPERATIONS[op](*known) if len(known) == len(args) else None
                return found if found is not None and fits(found, I32) else None
            case _:
                return None

    def _range(self, start: Value, stop: Value) -> Interval | None:
        first, last = self.of(start), self.of(stop)
        return None if first is None or last is None else (first[0], last[1] - 1)


def _by_ends(of: Callable[..., int]) -> Callable[..., Interval]:
    """Return the rule of an operation that is least and greatest at ends of its arguments."""

    def rule(*args: Interval) -> Interval:
        found = [of(*ends) for ends in product(*args)]
        return min(found), max(found)

    return rule


def _quotient(a: Interval, b: Interval) -> Interval | None:
    return None if b[0] <= 0 <= b[1] else _by_ends(operator.floordiv)(a, b)


def _remainder(a: Interval, b: Interval) -> Interval | None:
    (low, high), (first, last) = a, b
    if first > 0:
        return 0, min(last - 1, high) if low >= 0 else last - 1
    return (first + 1, 0) if last < 0 else None


def _c_quotient(a: Interval, b: Interval) -> Interval | None:
    return _quotient(a, b) if a[0] >= 0 and b[0] > 0 else None


def _c_remainder(a: Interval, b: Interval) -> Interval | None:
    (low, high), (first, last) = a, b
    if first > 0 and low >= 0:
        return _remainder(a, b)
    if first <= 0 <= last:
        return None
    most = max(abs(first), abs(last)) - 1
    return max(-most, min(low, 0)), min(most, max(high, 0))


def _magnitude(a: Interval) -> Interval:
    return max(0, a[0], -a[1]), max(-a[0], a[1])


def _common_bits(*args: Interval) -> Interval | None:
    most = [high for low, high in args if low >= 0]
    return (0, min(most)) if most else None


def _any_bits(a: Interval, b: Interval) -> Interval | None:
    return None if min(a[0], b[0]) < 0 else (0, 2 ** max(a[1], b[1]).bit_length() - 1)


def _shifted(by: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval | None]:
    def rule(a: Interval, b: Interval) -> Interval | None:
        return None if a[0] < 0 or b[0] < 0 or b[1] > 31 else _by_ends(by)(a, b)

    return rule


def _count_of_bits(_: Interval) -> Interval:
    return 0, 64


OPERATIONS: Mapping[str, Callable[..., Interval | None]] = {
    "add": _by_ends(operator.add),
    "sub": _by_ends(operator.sub),
    "neg": _by_ends(operator.neg),
    "invert": _by_ends(operator.invert),
    "mul": _by_ends(operator.mul),
    "floordiv": _quotient,
    "mod": _remainder,
    "raw_div": _c_quotient,
    "raw_mod": _c_remainder,
    "min": _by_ends(min),
    "max": _by_ends(max),
    "abs": _magnitude,
    "bit_and": _common_bits,
    "bit_or": _any_bits,
    "bit_xor": _any_bits,
    "shl": _shifted(operator.lshift),
    "shr": _shifted(operator.rshift),
    "shr_logical": _shifted(operator.rshift),
    "popcnt": _count_of_bits,
    "clz": _count_of_bits,
}
"""Intervals of results from intervals of arguments; integers are unlimited, None means unknown."""
