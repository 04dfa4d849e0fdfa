"""The check of a launch before it runs: that no access certainly leaves its shape."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from difftile.compile.arguments import Argument
from difftile.diagnostics import IndexOutOfRange
from difftile.ir.nodes import Array, Var
from difftile.passes.known import Whole
from difftile.passes.polynomials import (
    Case,
    Cases,
    Polynomial,
    Symbol,
    case,
    constant,
    of,
)
from difftile.passes.projection import possible
from difftile.passes.reach import Leaving, Reach

_I32_LIMIT = 2**31

Test: TypeAlias = Callable[[Sequence[Argument]], bool]
"""Whether the arguments of a launch would certainly leave a shape."""
Interval: TypeAlias = tuple[int, int]
"""The first integer, and that after the last."""


class Limits:
    """The conditions under which a kernel certainly reaches outside a shape.

    Args:
        reach: The accesses that can be told to leave, and when.
        position: The position of each parameter among the values of a launch.
    """

    def __init__(self, reach: Reach, position: Mapping[Array | Var, int]) -> None:
        self._leaving = reach.leaving
        self._meaning = reach.meaning
        self._position = position
        self._tests: dict[frozenset[int], tuple[Callable[..., Test], list[Symbol]]] = {}

    def check(self, values: Sequence[Argument]) -> None:
        """Check a launch.

        Raises:
            IndexOutOfRange: The launch would certainly reach outside a shape.
        """
        found = self._first(values)
        if found >= 0:
            raise self._error(found, values)

    def leaves(self, values: Sequence[Argument]) -> bool:
        """Tell whether a launch would certainly reach outside a shape."""
        return self._first(values) >= 0

    @cached_property
    def _first(self) -> Callable[[Sequence[Argument]], int]:
        """A function that returns the number of the first access that leaves its shape, or -1."""
        return _compiled(self.source)

    @property
    def source(self) -> str:
        """The test of all accesses as a Python function of the values of a launch."""
        lines = ["def test(values):"]
        names = {symbol: f"s{symbol.order}" for symbol in sorted(_symbols(self._leaving))}
        for symbol, name in names.items():
            k, axis = self._place(symbol)
            lines.append(f"    {name} = values[{k}]{'' if axis is None else f'.shape[{axis}]'}")
        for k, one in enumerate(self._leaving):
            cases = " or ".join(_written(c, names) for c in one.when)
            lines.append(f"    if {cases}: return {k}")
        return "\n".join([*lines, "    return -1"])

    def intervals(
        self, values: Sequence[Argument], varying: Collection[int]
    ) -> dict[int, Interval] | None:
        """Return where the numbers at some positions may be in launches with the same fields.

        Args:
            values: Those of a launch that was checked.
            varying: The positions of numbers that may be others next time.

        Returns:
            For some of the positions an interval; None where it takes more to tell.
        """
        given = {
            symbol: self._value(symbol, values)
            for symbol in self._meaning
            if not self._varies(symbol, varying)
        }
        found: dict[int, Interval] = {}
        for one in (c for leaving in self._leaving for c in leaving.when):
            left = case(part.replaced(given) for part in one)
            if left is None:
                continue
            if len(left) != 1 or len(left[0].terms) != 1 or len(left[0].terms[0][0]) != 1:
                return None
            (((symbol,), factor),), rest = left[0]  # the factor is 1 or -1
            k = self._place(symbol)[0]
            low, high = found.get(k, (-_I32_LIMIT, _I32_LIMIT))
            found[k] = (low, min(high, -rest)) if factor > 0 else (max(low, rest + 1), high)
        return found

    def leaving_by(self, values: Sequence[Argument], varying: frozenset[int]) -> Test:
        """Return a test of launches that differ only in the numbers at some positions.

        Args:
            values: Those of a launch that was checked.
            varying: The positions.
        """
        if varying not in self._tests:
            self._tests[varying] = self._test_of(varying)
        make, fixed = self._tests[varying]
        return make(*(self._value(symbol, values).constant for symbol in fixed))

    def _test_of(self, varying: frozenset[int]) -> tuple[Callable[..., Test], list[Symbol]]:
        """Return a function that makes a test from the common symbols of launches, and these."""
        matter = [
            one for one in self._leaving if any(self._varies(s, varying) for s in _symbols([one]))
        ]
        used = sorted(_symbols(matter))
        fixed = [symbol for symbol in used if not self._varies(symbol, varying)]
        names = {symbol: f"s{symbol.order}" for symbol in used}
        lines = [
            f"def test({', '.join(names[symbol] for symbol in fixed)}):",
            "    def test(values):",
        ]
        for symbol in used:
            if symbol not in fixed:
                lines.append(f"        {names[symbol]} = values[{self._place(symbol)[0]}]")
        cases = [_written(c, names) for one in matter for c in one.when]
        lines += [f"        return {' or '.join(cases)}", "    return test"]
        return _compiled("\n".join(lines)), fixed

    def _varies(self, symbol: Symbol, varying: Collection[int]) -> bool:
        """Tell whether a symbol is a number at one of some positions."""
        return symbol.kind == "number" and self._place(symbol)[0] in varying

    def _place(self, symbol: Symbol) -> tuple[int, int | None]:
        """Return the position of a parameter, and the axis of a field."""
        meaning = self._meaning[symbol]
        if isinstance(meaning, Var):
            return self._position[meaning], None
        array, axis = meaning
        return self._position[array], axis

    def _error(self, which: int, values: Sequence[Argument]) -> IndexOutOfRange:
        """Return the error for an access of a launch that leaves its shape."""
        leaving = self._leaving[which]
        given = {symbol: self._value(symbol, values) for symbol in self._meaning}
        index = tuple(_ends(one, leaving.reached, given) for one in leaving.index)
        shape = tuple(_ends(one, leaving.reached, given) for one in leaving.shape)
        sizes = tuple(0 if ends is None else ends[1] for ends in shape)
        return IndexOutOfRange(leaving.span, leaving.what, sizes, index)

    def _value(self, symbol: Symbol, values: Sequence[Any]) -> Polynomial:
        k, axis = self._place(symbol)
        return constant(values[k] if axis is None else values[k].shape[axis])


def _symbols(leaving: Iterable[Leaving]) -> set[Symbol]:
    return {s for one in leaving for c in one.when for part in c for s in part.symbols()}


def _compiled(source: str) -> Callable[..., Any]:
    made: dict[str, Callable[..., Any]] = {}
    exec(compile(source, "<limits of a launch>", "exec", dont_inherit=True), made)
    return made["test"]


def _written(whole: Case, names: Mapping[Symbol, str]) -> str:
    """Return a case as a Python expression."""
    return " and ".join(_comparison(part, names) for part in whole) or "True"


def _comparison(part: Polynomial, names: Mapping[Symbol, str]) -> str:
    """Return that a polynomial is not negative, without a sign where that is possible."""
    sides: dict[bool, list[str]] = {True: [], False: []}
    for monomial, factor in part.terms:
        factors = [names[symbol] for symbol in monomial]
        text = " * ".join(factors if abs(factor) == 1 else [str(abs(factor)), *factors])
        sides[factor > 0].append(text)
    if part.constant or not sides[part.constant > 0]:
        sides[part.constant > 0].append(str(abs(part.constant)))
    return f"{' + '.join(sides[True]) or '0'} >= {' + '.join(sides[False]) or '0'}"


_ENDS = Symbol(-1, "loop")


def _ends(
    value: Whole, reached: Cases, given: Mapping[Symbol, Polynomial]
) -> tuple[int, int] | None:
    """Return the least and the greatest value that an integer may have in a launch."""
    found: list[tuple[int, int]] = []
    for where, polynomial in value:
        equal = of(_ENDS).minus(polynomial)
        for one in reached:
            parts = (*one, *where, equal, equal.scaled(-1))
            left = case(part.replaced(given) for part in parts)
            for symbol in sorted({s for part in left or () for s in part.loops()} - {_ENDS}):
                left = None if left is None else possible(left, symbol)
            if left is not None:
                low = [-part.constant for part in left if part.split(_ENDS)[0].constant > 0]
                high = [part.constant for part in left if part.split(_ENDS)[0].constant < 0]
                if low and high:
                    found.append((max(low), min(high)))
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)
