"""Integers and conditions of a running program, as far as they are known: cases of polynomials.

Every statement here holds for certain, and less may be stated than is true: a value that depends on
memory or on floats has no cases, and where there would be too many some are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from difftile.ir.types import I32, I64, Scalar
from difftile.passes.polynomials import (
    ALWAYS,
    MOST,
    NEVER,
    Case,
    Cases,
    Polynomial,
    Symbol,
    both,
    case,
    constant,
    either,
    holds,
    of,
)

Whole: TypeAlias = tuple[tuple[Case, Polynomial], ...]
"""An integer: cases, and its value in each of them."""


class Truth(NamedTuple):
    """When a condition certainly holds, and when it certainly does not."""

    yes: Cases
    no: Cases


Known: TypeAlias = Whole | Truth

UNKNOWN: Whole = ()
UNDECIDED = Truth(NEVER, NEVER)

_LIMIT = 2**31
_SMALL = 2**16


def number(value: int) -> Whole:
    """Return a literal."""
    return (((), constant(value)),)


def truth(value: bool) -> Truth:
    """Return a literal condition."""
    return Truth(ALWAYS, NEVER) if value else Truth(NEVER, ALWAYS)


def symbolic(symbol: Symbol) -> Whole:
    """Return an integer that is a symbol."""
    return (((), of(symbol)),)


def chosen(cond: Truth, then: Known, orelse: Known) -> Known:
    """Return the one of two values that a condition picks."""
    if isinstance(then, Truth) and isinstance(orelse, Truth):
        return Truth(
            either(both(cond.yes, then.yes), both(cond.no, orelse.yes)),
            either(both(cond.yes, then.no), both(cond.no, orelse.no)),
        )
    if isinstance(then, Truth) or isinstance(orelse, Truth):
        return UNKNOWN
    return _picked(cond, then, orelse)


def _picked(cond: Truth, then: Whole, orelse: Whole) -> Whole:
    sides = ((cond.yes, then), (cond.no, orelse))
    return _cases(
        (one, p) for under, side in sides for where, p in side for one in both(under, (where,))
    )


def _cases(found: Iterable[tuple[Case, Polynomial]]) -> Whole:
    return tuple(dict.fromkeys(found))[:MOST]


def _each(a: Whole, b: Whole, rule: Callable[[Polynomial, Polynomial], Polynomial]) -> Whole:
    return _cases(
        (where, rule(p, q)) for x, p in a for y, q in b if (where := case((*x, *y))) is not None
    )


def fits(value: Polynomial) -> tuple[Polynomial, ...]:
    """Return the condition that a value with large literals, as in a hash, fits into 32 bits."""
    if sum(abs(f) for _, f in value.terms) + abs(value.constant) < _SMALL:
        return ()
    return value.shifted(_LIMIT), value.scaled(-1).shifted(_LIMIT - 1)


def _when(a: Whole, b: Whole, rule: Callable[[Polynomial, Polynomial], Cases]) -> Cases:
    found: list[Cases] = []
    for x, p in a:
        for y, q in b:
            where = holds(*x, *y, *fits(p), *fits(q))
            found.append(both(where, rule(p, q)))
    return either(*found)


def _below(p: Polynomial, q: Polynomial) -> Cases:
    return holds(q.minus(p).shifted(-1))


def less(a: Whole, b: Whole) -> Truth:
    """Return whether one integer is below another."""
    return Truth(_when(a, b, _below), _when(a, b, lambda p, q: holds(p.minus(q))))


def equal(a: Whole, b: Whole) -> Truth:
    """Return whether two integers are the same."""
    return Truth(
        _when(a, b, lambda p, q: holds(p.minus(q), q.minus(p))),
        _when(a, b, lambda p, q: either(_below(p, q), _below(q, p))),
    )


def negated(cond: Truth) -> Truth:
    """Return the opposite of a condition."""
    return Truth(cond.no, cond.yes)


def all_of(a: Truth, b: Truth) -> Truth:
    """Return whether both of two conditions hold."""
    return Truth(both(a.yes, b.yes), either(a.no, b.no))


def any_of(a: Truth, b: Truth) -> Truth:
    """Return whether one of two conditions holds."""
    return negated(all_of(negated(a), negated(b)))


def plus(a: Whole, b: Whole) -> Whole:
    """Return a sum."""
    return _each(a, b, Polynomial.plus)


def minus(a: Whole, b: Whole) -> Whole:
    """Return a difference."""
    return _each(a, b, Polynomial.minus)


def times(a: Whole, b: Whole) -> Whole:
    """Return a product."""
    return _each(a, b, Polynomial.product)


def least(a: Whole, b: Whole) -> Whole:
    """Return the lesser one of two integers."""
    return _picked(less(a, b), a, b)


def greatest(a: Whole, b: Whole) -> Whole:
    """Return the greater one of two integers."""
    return _picked(less(a, b), b, a)


def negative(a: Whole) -> Whole:
    """Return the negative of an integer."""
    return minus(number(0), a)


def clamped(a: Whole, low: Whole, high: Whole) -> Whole:
    """Return the integer between two bounds that is nearest to one."""
    return least(greatest(a, low), high)


def magnitude(a: Whole) -> Whole:
    """Return the absolute value of an integer."""
    return greatest(a, negative(a))


_COMPARISONS: Mapping[str, Callable[[Whole, Whole], Truth]] = {
    "lt": less,
    "gt": lambda a, b: less(b, a),
    "le": lambda a, b: negated(less(b, a)),
    "ge": lambda a, b: negated(less(a, b)),
    "eq": equal,
    "ne": lambda a, b: negated(equal(a, b)),
}


class Division:
    """Quotients rounded down, and remainders, as in Python; divisors are positive.

    Args:
        new: Returns a symbol that nothing else uses.
    """

    def __init__(self, new: Callable[[], Symbol]) -> None:
        self._new = new
        self._quotients: dict[tuple[Polynomial, int], Symbol] = {}

    def quotient(self, a: Whole, b: Whole) -> Whole:
        """Return `a // b`."""
        return self._divided(a, b, lambda p, q, k: k)

    def remainder(self, a: Whole, b: Whole) -> Whole:
        """Return `a % b`."""
        return self._divided(a, b, lambda p, q, k: p.minus(q.product(k)))

    def _divided(
        self,
        a: Whole,
        b: Whole,
        result: Callable[[Polynomial, Polynomial, Polynomial], Polynomial],
    ) -> Whole:
        found: list[tuple[Case, Polynomial]] = []
        for x, p in a:
            for y, q in b:
                for k in self._guesses(p, q):
                    rest = p.minus(q.product(k))
                    where = case((*x, *y, *fits(p), q.shifted(-1), rest, q.minus(rest).shifted(-1)))
                    if where is not None:
                        found.append((where, result(p, q, k)))
        return _cases(found)

    def _guesses(self, p: Polynomial, q: Polynomial) -> list[Polynomial]:
        """Return candidates for a quotient; for a divisor known only at run time those around 0."""
        if q.terms:
            return [constant(k) for k in (0, 1, -1)]
        if q.constant < 1:
            return []
        if not p.terms:
            return [constant(p.constant // q.constant)]
        if all(factor % q.constant == 0 for _, factor in p.terms):
            terms = tuple((monomial, factor // q.constant) for monomial, factor in p.terms)
            return [Polynomial(terms, p.constant // q.constant)]
        key = (p, q.constant)
        if key not in self._quotients:
            self._quotients[key] = self._new()
        return [of(self._quotients[key])]


def operations(division: Division) -> Mapping[str, Callable[..., Known]]:
    """Return the rules for the results of ops on integers and conditions."""
    return {
        "add": plus,
        "sub": minus,
        "mul": times,
        "neg": negative,
        "min": least,
        "max": greatest,
        "clamp": clamped,
        "abs": magnitude,
        "floordiv": division.quotient,
        "mod": division.remainder,
        **_COMPARISONS,
        "and": all_of,
        "or": any_of,
        "not": negated,
        "select": chosen,
    }


def is_whole(scalar: Scalar) -> bool:
    """Tell whether numbers of a type are followed; unsigned and short ones wrap around."""
    return scalar in (I32, I64)
