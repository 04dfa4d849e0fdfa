"""Integer polynomials over sizes and numbers, which a launch fixes, and counters of its loops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias


class Symbol(NamedTuple):
    """An integer that stands for a value of the program.

    Args:
        order: Its number, which no other symbol has.
        kind: A "size" is at least one. Sizes and "number"s are fixed by the launch; a "loop" symbol
            takes several values while it runs.
    """

    order: int
    kind: Literal["size", "number", "loop"]


Monomial: TypeAlias = tuple[Symbol, ...]
_Terms: TypeAlias = tuple[tuple[Monomial, int], ...]


class Polynomial(NamedTuple):
    """A sum of products of symbols.

    Args:
        terms: Each product that is not constant, and its factor, in order.
        constant: The rest.
    """

    terms: tuple[tuple[Monomial, int], ...]
    constant: int

    def plus(self, other: Polynomial, times: int = 1) -> Polynomial:
        """Return the sum with a multiple of another polynomial."""
        if not other.terms:
            return Polynomial(self.terms, self.constant + times * other.constant)
        found = dict(self.terms)
        for monomial, factor in other.terms:
            found[monomial] = found.get(monomial, 0) + times * factor
        return _ordered(found, self.constant + times * other.constant)

    def minus(self, other: Polynomial) -> Polynomial:
        """Return the difference."""
        return self.plus(other, -1)

    def scaled(self, times: int) -> Polynomial:
        """Return a multiple."""
        return NOTHING.plus(self, times)

    def shifted(self, by: int) -> Polynomial:
        """Return the polynomial plus a constant."""
        return Polynomial(self.terms, self.constant + by)

    def product(self, other: Polynomial) -> Polynomial:
        """Return the product."""
        if not other.terms:
            return self.scaled(other.constant)
        if not self.terms:
            return other.scaled(self.constant)
        found: dict[Monomial, int] = {}
        for a, f in (*self.terms, ((), self.constant)):
            for b, g in (*other.terms, ((), other.constant)):
                monomial = tuple(sorted((*a, *b)))
                found[monomial] = found.get(monomial, 0) + f * g
        return _ordered(found, found.pop((), 0))

    def symbols(self) -> set[Symbol]:
        """Return the symbols that occur."""
        return {symbol for monomial, _ in self.terms for symbol in monomial}

    def loops(self) -> set[Symbol]:
        """Return the symbols that occur and vary while the launch runs."""
        return {symbol for symbol in self.symbols() if symbol.kind == "loop"}

    @property
    def is_linear(self) -> bool:
        """Whether no product holds more than one symbol that varies."""
        return all(sum(s.kind == "loop" for s in monomial) < 2 for monomial, _ in self.terms)

    def split(self, symbol: Symbol) -> tuple[Polynomial, Polynomial]:
        """Return the factor of a symbol, and the terms without it."""
        inside: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for monomial, factor in self.terms:
            if symbol in monomial:
                at = monomial.index(symbol)
                inside[monomial[:at] + monomial[at + 1 :]] = factor
            else:
                rest[monomial] = factor
        return _ordered(inside, inside.pop((), 0)), _ordered(rest, self.constant)

    def replaced(self, values: Mapping[Symbol, Polynomial]) -> Polynomial:
        """Return the polynomial with other polynomials for some symbols."""
        if not any(symbol in values for symbol in self.symbols()):
            return self
        found = constant(self.constant)
        for monomial, factor in self.terms:
            term = constant(factor)
            for symbol in monomial:
                term = term.product(values.get(symbol) or of(symbol))
            found = found.plus(term)
        return found

    def tightened(self) -> Polynomial:
        """Return the smallest polynomial that is not negative for the same integers."""
        divisor = math.gcd(*(factor for _, factor in self.terms))
        if divisor < 2:
            return self
        terms = tuple((monomial, factor // divisor) for monomial, factor in self.terms)
        return Polynomial(terms, self.constant // divisor)

    def least(self) -> float:
        """Return a value that the polynomial is never below, by the signs of its terms."""
        if not self.terms:
            return self.constant
        # Each size is written as one and something that is not negative.
        found: dict[Monomial, int] = {(): self.constant}
        for monomial, factor in self.terms:
            if any(symbol.kind != "size" for symbol in monomial):
                return -math.inf
            for count in range(len(monomial) + 1):
                for part in combinations(monomial, count):
                    found[part] = found.get(part, 0) + factor
        constant_part = found.pop(())
        return constant_part if all(f >= 0 for f in found.values()) else -math.inf

    def greatest(self) -> float:
        """Return a value that the polynomial is never above, by the signs of its terms."""
        return -self.scaled(-1).least()


def _ordered(terms: Mapping[Monomial, int], rest: int) -> Polynomial:
    return Polynomial(tuple(sorted((m, f) for m, f in terms.items() if f)), rest)


def constant(value: int) -> Polynomial:
    """Return a constant polynomial."""
    return Polynomial((), value)


def of(symbol: Symbol) -> Polynomial:
    """Return the polynomial of one symbol."""
    return Polynomial((((symbol,), 1),), 0)


NOTHING, ONE = constant(0), constant(1)

Case: TypeAlias = tuple[Polynomial, ...]
"""Polynomials none of which is negative."""

Cases: TypeAlias = tuple[Case, ...]
"""Cases of which one holds."""

ALWAYS: Cases = ((),)
NEVER: Cases = ()

MOST = 32  # Beyond that some are left out: less is then known for certain.


def case(parts: Iterable[Polynomial]) -> Case | None:
    """Return the case that each of some polynomials is not negative; None if that cannot be."""
    least: dict[_Terms, int] = {}
    for part in parts:
        one = part.tightened()
        if one.least() >= 0:
            continue
        if one.greatest() < 0:
            return None
        least[one.terms] = min(one.constant, least.get(one.terms, one.constant))
    for terms, rest in least.items():
        other = least.get(tuple((monomial, -factor) for monomial, factor in terms))
        if other is not None and rest + other < 0:
            return None
    return tuple(Polynomial(terms, rest) for terms, rest in sorted(least.items()))


def both(a: Cases, b: Cases) -> Cases:
    """Return when two conditions hold."""
    if a == ALWAYS or b == NEVER:
        return b
    if b == ALWAYS or a == NEVER:
        return a
    return either(tuple(one for p in a for q in b if (one := case((*p, *q))) is not None))


def either(*conditions: Cases) -> Cases:
    """Return when one of some conditions holds."""
    found = sorted({one for cases in conditions for one in cases}, key=lambda one: (len(one), one))
    kept: list[tuple[Case, dict[_Terms, int]]] = []
    for one in found[: 4 * MOST]:
        parts = {part.terms: part.constant for part in one}
        if any(_follows(parts, other) for other, _ in kept):
            continue
        kept = [(other, theirs) for other, theirs in kept if not _follows(theirs, one)]
        kept.append((one, parts))
    return tuple(one for one, _ in kept[:MOST])


def _follows(parts: Mapping[_Terms, int], other: Case) -> bool:
    """Tell whether a case holds wherever another one does, as its parts show."""
    return all(parts.get(part.terms, math.inf) <= part.constant for part in other)


def holds(*parts: Polynomial) -> Cases:
    """Return when each of some polynomials is not negative."""
    found = case(parts)
    return NEVER if found is None else (found,)


def opposite(cases: Cases) -> Cases:
    """Return when a condition does not hold; its cases share no symbols of their own."""
    found = ALWAYS
    for one in cases:
        fails = tuple(c for p in one if (c := case((p.scaled(-1).shifted(-1),))) is not None)
        found = both(found, fails)
    return found
