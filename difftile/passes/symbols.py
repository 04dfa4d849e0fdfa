"""Integers as affine forms of symbols, and the bounds of such forms.

A symbol has bounds that are forms of earlier symbols: a loop index has the bounds of its loop, and
bounds of the conditions around it. The bounds of a form follow by replacing its latest symbol by a
bound, one after the other, as in the elimination of Fourier and Motzkin, with few bounds tried.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import NamedTuple, TypeAlias

from difftile.passes.affine import Affine
from difftile.passes.intervals import Interval
from difftile.records import dataclass

_MOST_BOUNDS = 3  # of a symbol that are tried, the latest ones, besides its interval


class Need(NamedTuple):
    """An affine form that must not be negative.

    Args:
        form: The form, of integers as Python text.
        now: Its value for the parameters around which bounds are sought.
    """

    form: Affine[str]
    now: int

    @property
    def text(self) -> str:
        """The form in Python."""
        terms, constant = self.form.factors.items(), self.form.constant
        parts = [text if f == 1 else f"{f} * {text}" for text, f in terms if f > 0]
        less = [text if f == -1 else f"{-f} * {text}" for text, f in terms if f < 0]
        if constant or not parts:
            parts.append(str(constant))
        return " - ".join([" + ".join(parts), *less])


class Ranged(NamedTuple):
    """An integer: its interval, and the form that it is."""

    low: int
    high: int
    form: Affine[int]


class Implied(NamedTuple):
    """What follows from a condition, or from its opposite.

    Args:
        forms: They are not negative.
        unequal: They are not zero.
        is_all: The condition, or its opposite, follows from `forms` in turn.
    """

    forms: tuple[Affine[int], ...] = ()
    unequal: tuple[Affine[int], ...] = ()
    is_all: bool = False


class Truth(NamedTuple):
    """A condition.

    Args:
        holds: Whether it holds, if that is certain.
        yes: What follows where it holds; `no` where it does not.
    """

    holds: bool | None
    yes: Implied = Implied()
    no: Implied = Implied()


Known: TypeAlias = "Ranged | Truth"
UNDECIDED = Truth(None)


def exactly(value: int) -> Ranged:
    """Return a literal."""
    return Ranged(value, value, Affine({}, value))


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
    (forms, unequal, is_all), (more, others, also) = a.yes, b.yes
    return Truth(None, Implied((*forms, *more), (*unequal, *others), is_all and also))


@dataclass
class Symbols:
    """Symbols and their bounds; a symbol is its position in `lower`.

    Attributes:
        given: Symbols that follow from the parameters alone: the text of the symbol in Python, and
            its value for the parameters around which bounds are sought.
        lower: The bounds of each symbol from below, the latest ones last; `upper` from above.
        same: Results of operations that were met.
    """

    given: dict[int, tuple[str, int]] = field(default_factory=dict[int, "tuple[str, int]"])
    lower: list[list[Affine[int]]] = field(default_factory=list[list[Affine[int]]])
    upper: list[list[Affine[int]]] = field(default_factory=list[list[Affine[int]]])
    same: dict[object, Ranged] = field(default_factory=dict[object, Ranged])

    def whole(
        self,
        low: int,
        high: int,
        lower: Sequence[Affine[int]] = (),
        upper: Sequence[Affine[int]] = (),
    ) -> Ranged:
        """Return an integer with a symbol of its own."""
        self.lower.append([Affine({}, low), *lower])
        self.upper.append([Affine({}, high), *upper])
        return Ranged(low, high, Affine({len(self.lower) - 1: 1}))

    def greatest(self, of: Affine[int], depth: int = 0) -> int:
        """Return a bound of a form from above."""
        if not of.factors:
            return of.constant
        symbol = max(of.factors)
        factor, rest = of.split(symbol)
        tried = self._bounds(symbol, factor > 0, depth)
        found = [self.greatest(rest.plus(one, factor), depth + 1) for one in tried if one.factors]
        fixed = [factor * one.constant for one in tried if not one.factors]
        if fixed:  # most are
            found.append(self.greatest(rest, depth + 1) + min(fixed))
        return min(found)

    def _bounds(self, symbol: int, upper: bool, depth: int) -> list[Affine[int]]:
        """Return some bounds of a symbol: its interval, and the latest ones."""
        bounds = (self.upper if upper else self.lower)[symbol]
        tried = [bounds[0], *bounds[1:][-_MOST_BOUNDS:]]
        return tried[-1:] if depth > _MOST_BOUNDS else tried

    def least(self, of: Affine[int]) -> int:
        """Return a bound of a form from below."""
        return -self.greatest(-of)

    def ends(self, value: Ranged) -> Interval:
        """Return the interval of a value under the present conditions."""
        if not value.form.factors:
            return value.low, value.high
        return max(value.low, self.least(value.form)), min(value.high, self.greatest(value.form))

    @contextmanager
    def under(self, side: Implied) -> Generator[bool]:
        """Hold a condition inside the block; yields whether it can hold at all."""
        undo: list[list[Affine[int]]] = []
        known = [*side.forms]
        for one in side.unequal:  # from zero: it matters at an end
            if self.least(one) == 0:
                known.append(one - 1)
            elif self.greatest(one) == 0:
                known.append(-one - 1)
        possible, before = all([self.narrow(one, undo) for one in known]), len(self.same)
        try:
            yield possible
        finally:
            for bounds in reversed(undo):
                bounds.pop()
            while len(self.same) > before:  # results that hold under the conditions only
                self.same.popitem()

    def narrow(self, condition: Affine[int], undo: list[list[Affine[int]]]) -> bool:
        """Bound symbols by a form that is not negative; return whether it can be."""
        if self.greatest(condition) < 0:
            return False
        latest = max(condition.factors, default=None)
        for symbol in sorted(condition.factors, key=lambda one: (one != latest, one)):
            factor, rest = condition.split(symbol)
            if abs(factor) > 1 or symbol != latest:
                most = self.greatest(rest)
                bound = Affine({}, -(most // factor) if factor > 0 else most // -factor)
            else:
                bound = -rest if factor > 0 else rest
            bounds = (self.lower if factor > 0 else self.upper)[symbol]
            bounds.append(bound)
            undo.append(bounds)
            one = Affine({symbol: 1})
            if self.least(one) > self.greatest(one):
                return False
        return True

    def need(self, of: Affine[int]) -> Need:
        """Return a bound of a form from below that follows from the parameters alone."""
        found = self._given(of)
        return Need(found.renamed(lambda symbol: self.given[symbol][0]), self._now(found))

    def _now(self, of: Affine[int]) -> int:
        return of.value(lambda symbol: self.given[symbol][1])

    def _given(self, of: Affine[int], depth: int = 0) -> Affine[int]:
        """Return the bound that is greatest now."""
        symbol = max((symbol for symbol in of.factors if symbol not in self.given), default=None)
        if symbol is None:
            return of
        factor, rest = of.split(symbol)
        tried = self._bounds(symbol, factor < 0, depth)
        return max((self._given(rest.plus(one, factor), depth + 1) for one in tried), key=self._now)

    def define(self, value: Ranged, text: str, now: int) -> None:
        """Let the one symbol of a value be given."""
        (symbol,) = value.form.factors
        self.given[symbol] = text, now

    def described(self, of: Affine[int]) -> tuple[str, int] | None:
        """Return the text and the value of a form, if it follows from the parameters alone."""
        if any(symbol not in self.given for symbol in of.factors):
            return None
        text, now = self.need(of).text, self._now(of)
        return text if len(of.factors) == 1 and not of.constant else f"({text})", now

    # Conditions

    def less(self, a: Ranged, b: Ranged) -> Truth:
        """Return whether one integer is below another."""
        if a.high < b.low or a.low >= b.high:
            return Truth(a.high < b.low)
        gap = b.form - a.form - 1
        if self.least(gap) >= 0:
            return Truth(True)
        opposite = -gap - 1
        if self.greatest(gap) < 0:
            return Truth(False)
        return Truth(None, Implied((gap,), is_all=True), Implied((opposite,), is_all=True))

    def unequal(self, a: Ranged, b: Ranged) -> Truth:
        """Return whether two integers differ."""
        gap = a.form - b.form
        if a.high < b.low or b.high < a.low or self.least(gap) > 0 or self.greatest(gap) < 0:
            return Truth(True)
        if not gap.factors:
            return Truth(gap.constant != 0)
        return Truth(None, Implied((), (gap,)), Implied((gap, -gap), is_all=True))

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
