"""Integers as sums of symbols, and the bounds of such sums.

A symbol has bounds that are sums of earlier symbols: of a loop index those of its loop, and those
of the conditions around it. The bounds of a sum follow by replacing its latest symbol by a bound,
one after the other, as in the elimination of Fourier and Motzkin, with few bounds tried.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import NamedTuple, TypeAlias

from difftile.records import dataclass

Interval: TypeAlias = tuple[int, int]
"""The least and the greatest integer."""
_MOST_BOUNDS = 3  # of a symbol that are tried, the latest ones, besides its interval


class Sum(NamedTuple):
    """A constant, and symbols with their factors, the latest one last."""

    constant: int
    terms: tuple[tuple[int, int], ...] = ()

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """Return the sum with a multiple of another one."""
        constant = self.constant + times * other.constant
        if not other.terms:
            return Sum(constant, self.terms)
        found = dict(self.terms)
        for symbol, factor in other.terms:
            found[symbol] = found.get(symbol, 0) + times * factor
        return Sum(constant, tuple(sorted((s, f) for s, f in found.items() if f)))

    def scaled(self, times: int) -> Sum:
        """Return a multiple."""
        return Sum(0).plus(self, times)

    def shifted(self, by: int) -> Sum:
        """Return the sum plus a constant."""
        return Sum(self.constant + by, self.terms)


class Need(NamedTuple):
    """A sum that must not be negative.

    Args:
        constant: Its constant.
        terms: Integers as Python text, and their factors.
        now: Its value for the parameters around which bounds are sought.
    """

    constant: int
    terms: tuple[tuple[str, int], ...]
    now: int

    @property
    def text(self) -> str:
        """The sum in Python."""
        parts = [text if f == 1 else f"{f} * {text}" for text, f in self.terms if f > 0]
        less = [text if f == -1 else f"{-f} * {text}" for text, f in self.terms if f < 0]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " - ".join([" + ".join(parts), *less])


class Whole(NamedTuple):
    """An integer: its interval, and the sum that it is."""

    low: int
    high: int
    sum: Sum


class Side(NamedTuple):
    """What follows from a condition, or from its opposite.

    Args:
        sums: They are not negative.
        unequal: They are not zero.
        is_all: The condition, or its opposite, follows from `sums` in turn.
    """

    sums: tuple[Sum, ...] = ()
    unequal: tuple[Sum, ...] = ()
    is_all: bool = False


class Truth(NamedTuple):
    """A condition.

    Args:
        holds: Whether it holds, if that is certain.
        yes: What follows where it holds; `no` where it does not.
    """

    holds: bool | None
    yes: Side = Side()
    no: Side = Side()


Known: TypeAlias = "Whole | Truth"
UNDECIDED = Truth(None)


def exactly(value: int) -> Whole:
    """Return a literal."""
    return Whole(value, value, Sum(value))


def negated(cond: Truth) -> Truth:
    """Return the opposite of a condition."""
    holds = None if cond.holds is None else not cond.holds
    return Truth(holds, cond.no, cond.yes)


def both(a: Truth, b: Truth) -> Truth:
    """Return whether two conditions hold."""
    if a.holds is False or b.holds is False:
        return Truth(False)
    if a.holds and b.holds:
        return Truth(True)
    if a.holds or b.holds:
        return b if a.holds else a
    (sums, unequal, is_all), (more, others, also) = a.yes, b.yes
    return Truth(None, Side((*sums, *more), (*unequal, *others), is_all and also))


@dataclass
class Symbols:
    """Symbols and their bounds.

    Attributes:
        given: Symbols that follow from the parameters alone: the text of the symbol in Python, and
            its value for the parameters around which bounds are sought.
        lower: The bounds of each symbol from below, the latest ones last; `upper` from above.
        same: Results of operations that were met.
    """

    given: dict[int, tuple[str, int]] = field(default_factory=dict[int, "tuple[str, int]"])
    lower: list[list[Sum]] = field(default_factory=list[list[Sum]])
    upper: list[list[Sum]] = field(default_factory=list[list[Sum]])
    same: dict[object, Whole] = field(default_factory=dict[object, Whole])

    def whole(
        self, low: int, high: int, lower: Sequence[Sum] = (), upper: Sequence[Sum] = ()
    ) -> Whole:
        """Return an integer with a symbol of its own."""
        self.lower.append([Sum(low), *lower])
        self.upper.append([Sum(high), *upper])
        return Whole(low, high, Sum(0, ((len(self.lower) - 1, 1),)))

    def greatest(self, of: Sum, depth: int = 0) -> int:
        """Return a bound of a sum from above."""
        if not of.terms:
            return of.constant
        symbol, factor = of.terms[-1]
        rest = Sum(of.constant, of.terms[:-1])
        tried = self._bounds(symbol, factor > 0)
        tried = tried[-1:] if depth > _MOST_BOUNDS else tried
        return min(self.greatest(rest.plus(one, factor), depth + 1) for one in tried)

    def _bounds(self, symbol: int, upper: bool) -> list[Sum]:
        """Return some bounds of a symbol: its interval, and the latest ones."""
        bounds = (self.upper if upper else self.lower)[symbol]
        return [bounds[0], *bounds[1:][-_MOST_BOUNDS:]]

    def least(self, of: Sum) -> int:
        """Return a bound of a sum from below."""
        return -self.greatest(of.scaled(-1))

    def ends(self, value: Whole) -> Interval:
        """Return the interval of a value under the present conditions."""
        if len(value.sum.terms) == 0:
            return value.low, value.high
        return max(value.low, self.least(value.sum)), min(value.high, self.greatest(value.sum))

    @contextmanager
    def under(self, side: Side) -> Generator[bool]:
        """Hold a condition inside the block; yields whether it can hold at all."""
        undo: list[list[Sum]] = []
        known = [*side.sums]
        for one in side.unequal:  # from zero: it matters at an end
            if self.least(one) == 0:
                known.append(one.shifted(-1))
            elif self.greatest(one) == 0:
                known.append(one.scaled(-1).shifted(-1))
        possible, before = all([self.narrow(one, undo) for one in known]), len(self.same)
        try:
            yield possible
        finally:
            for bounds in reversed(undo):
                bounds.pop()
            while len(self.same) > before:  # results that hold under the conditions only
                self.same.popitem()

    def narrow(self, condition: Sum, undo: list[list[Sum]]) -> bool:
        """Bound symbols by a sum that is not negative; return whether it can be."""
        if self.greatest(condition) < 0:
            return False
        *earlier, latest = condition.terms or (None,)
        for term in (latest, *earlier):
            if term is None:
                continue
            symbol, factor = term
            rest = Sum(condition.constant, tuple(t for t in condition.terms if t != term))
            if abs(factor) > 1 or term != latest:
                most = self.greatest(rest)
                bound = Sum(-(most // factor)) if factor > 0 else Sum(most // -factor)
            else:
                bound = rest.scaled(-1) if factor > 0 else rest
            bounds = (self.lower if factor > 0 else self.upper)[symbol]
            bounds.append(bound)
            undo.append(bounds)
            one = Sum(0, ((symbol, 1),))
            if self.least(one) > self.greatest(one):
                return False
        return True

    def need(self, of: Sum) -> Need:
        """Return a bound of a sum from below that follows from the parameters alone."""
        found = self._given(of)
        terms = tuple((self.given[symbol][0], factor) for symbol, factor in found.terms)
        return Need(found.constant, terms, self._now(found))

    def _now(self, of: Sum) -> int:
        return of.constant + sum(self.given[symbol][1] * factor for symbol, factor in of.terms)

    def _given(self, of: Sum, depth: int = 0) -> Sum:
        """Return the bound that is greatest now."""
        term = next((term for term in reversed(of.terms) if term[0] not in self.given), None)
        if term is None:
            return of
        symbol, factor = term
        rest = Sum(of.constant, tuple(one for one in of.terms if one != term))
        tried = self._bounds(symbol, factor < 0)
        tried = tried[-1:] if depth > _MOST_BOUNDS else tried
        return max((self._given(rest.plus(one, factor), depth + 1) for one in tried), key=self._now)

    def define(self, value: Whole, text: str, now: int) -> None:
        """Let the one symbol of a value be given."""
        ((symbol, _),) = value.sum.terms
        self.given[symbol] = text, now

    def described(self, of: Sum) -> tuple[str, int] | None:
        """Return the text and the value of a sum, if it follows from the parameters alone."""
        if any(symbol not in self.given for symbol, _ in of.terms):
            return None
        terms = tuple((self.given[symbol][0], factor) for symbol, factor in of.terms)
        text = Need(of.constant, terms, 0).text
        return text if len(terms) == 1 and not of.constant else f"({text})", self._now(of)

    # Conditions

    def less(self, a: Whole, b: Whole) -> Truth:
        """Return whether one integer is below another."""
        if a.high < b.low or a.low >= b.high:
            return Truth(a.high < b.low)
        gap = b.sum.plus(a.sum, -1).shifted(-1)
        if self.least(gap) >= 0:
            return Truth(True)
        opposite = gap.scaled(-1).shifted(-1)
        if self.greatest(gap) < 0:
            return Truth(False)
        return Truth(None, Side((gap,), is_all=True), Side((opposite,), is_all=True))

    def unequal(self, a: Whole, b: Whole) -> Truth:
        """Return whether two integers differ."""
        gap = a.sum.plus(b.sum, -1)
        if a.high < b.low or b.high < a.low or self.least(gap) > 0 or self.greatest(gap) < 0:
            return Truth(True)
        if not gap.terms:
            return Truth(gap.constant != 0)
        return Truth(None, Side((), (gap,)), Side((gap, gap.scaled(-1)), is_all=True))

    def chosen(self, cond: Truth, then: Known, orelse: Known) -> Known:
        """Return the one of two values that a condition picks."""
        if cond.holds is not None:
            return then if cond.holds else orelse
        if isinstance(then, Truth) and isinstance(orelse, Truth):
            sides = both(cond, then), both(negated(cond), orelse)
            return negated(both(*map(negated, sides)))
        if isinstance(then, Truth) or isinstance(orelse, Truth):
            return UNDECIDED
        ends: list[Interval] = []
        for side, value in ((cond, then), (negated(cond), orelse)):
            with self.under(side.yes) as possible:
                if possible:
                    ends.append(self.ends(value))
        if not ends:
            return then
        return self.whole(min(low for low, _ in ends), max(high for _, high in ends))
