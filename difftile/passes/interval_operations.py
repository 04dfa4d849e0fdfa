"""The results of integer operations as sums and intervals; integers are not limited here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from difftile.passes.interval_sums import Sum, Symbols, Truth, Whole, exactly, negated

_Rule: TypeAlias = Callable[..., "Whole | None"]


def _sum(a: Whole, b: Whole, times: int) -> Whole:
    low, high = (b.low, b.high) if times > 0 else (-b.high, -b.low)
    return Whole(a.low + low, a.high + high, a.sum.plus(b.sum, times))


def _product(symbols: Symbols, a: Whole, b: Whole) -> Whole:
    if a.low == a.high:
        a, b = b, a
    (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
    corners = [x * y for x in (low, high) for y in (first, last)]
    if first == last:
        return Whole(min(corners), max(corners), a.sum.scaled(first))
    if a.sum == b.sum and low < 0 < high:
        corners.append(0)
    return symbols.whole(min(corners), max(corners))


def _quotient(symbols: Symbols, a: Whole, b: Whole) -> Whole | None:
    (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
    if first <= 0 <= last:
        return None
    factors = (a.sum.constant, *(factor for _, factor in a.sum.terms))
    corners = [x // y for x in (low, high) for y in (first, last)]
    if first == last and all(factor % first == 0 for factor in factors):
        terms = tuple((symbol, factor // first) for symbol, factor in a.sum.terms)
        return Whole(min(corners), max(corners), Sum(a.sum.constant // first, terms))
    return symbols.whole(min(corners), max(corners))


def _remainder(symbols: Symbols, a: Whole, b: Whole) -> Whole | None:
    (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
    if first > 0:
        if low >= 0 and high < first:
            return a
        return symbols.whole(0, min(last - 1, high) if low >= 0 else last - 1)
    return symbols.whole(first + 1, 0) if last < 0 else None


def _c_quotient(symbols: Symbols, a: Whole, b: Whole) -> Whole | None:
    is_positive = symbols.ends(a)[0] >= 0 and symbols.ends(b)[0] > 0
    return _quotient(symbols, a, b) if is_positive else None


def _c_remainder(symbols: Symbols, a: Whole, b: Whole) -> Whole | None:
    (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
    if first > 0 and low >= 0:
        return _remainder(symbols, a, b)
    most = max(abs(first), abs(last)) - 1
    if first <= 0 <= last:
        return None
    return symbols.whole(max(-most, min(low, 0)), min(most, max(high, 0)))


def _lesser(symbols: Symbols, a: Whole, b: Whole) -> Whole:
    (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
    if high <= first or last <= low:
        return a if high <= first else b
    return symbols.whole(min(low, first), min(high, last), (), (a.sum, b.sum))


def _greater(symbols: Symbols, a: Whole, b: Whole) -> Whole:
    (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
    if low >= last or first >= high:
        return a if low >= last else b
    return symbols.whole(max(low, first), max(high, last), (a.sum, b.sum), ())


def _magnitude(symbols: Symbols, a: Whole) -> Whole:
    low, high = symbols.ends(a)
    if low >= 0:
        return a
    return _sum(exactly(0), a, -1) if high <= 0 else symbols.whole(0, max(-low, high))


def _common_bits(symbols: Symbols, a: Whole, b: Whole) -> Whole | None:
    most = [high for low, high in (symbols.ends(a), symbols.ends(b)) if low >= 0]
    return symbols.whole(0, min(most)) if most else None


def _any_bits(symbols: Symbols, a: Whole, b: Whole) -> Whole | None:
    ends = symbols.ends(a), symbols.ends(b)
    if min(low for low, _ in ends) < 0:
        return None
    return symbols.whole(0, 2 ** max(high for _, high in ends).bit_length() - 1)


def _shifted(by: Callable[[int, int], int]) -> Callable[[Symbols, Whole, Whole], Whole | None]:
    def rule(symbols: Symbols, a: Whole, b: Whole) -> Whole | None:
        (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
        if low < 0 or first < 0 or last > 31:
            return None
        corners = [by(x, y) for x in (low, high) for y in (first, last)]
        return symbols.whole(min(corners), max(corners))

    return rule


def _add(symbols: Symbols, a: Whole, b: Whole) -> Whole:
    return _sum(a, b, 1)


def _subtract(symbols: Symbols, a: Whole, b: Whole) -> Whole:
    return _sum(a, b, -1)


def _negative(symbols: Symbols, a: Whole) -> Whole:
    return _sum(exactly(0), a, -1)


def _inverse(symbols: Symbols, a: Whole) -> Whole:
    return _sum(exactly(-1), a, -1)


def _clamped(symbols: Symbols, a: Whole, low: Whole, high: Whole) -> Whole:
    return _lesser(symbols, _greater(symbols, a, low), high)


def _count_of_bits(symbols: Symbols, a: Whole) -> Whole:
    return symbols.whole(0, 64)


def _itself(symbols: Symbols, a: Whole) -> Whole:
    return a


def _left(a: int, b: int) -> int:
    return a << b


def _right(a: int, b: int) -> int:
    return a >> b


RULES: Mapping[str, _Rule] = {
    "add": _add,
    "sub": _subtract,
    "neg": _negative,
    "invert": _inverse,
    "mul": _product,
    "floordiv": _quotient,
    "mod": _remainder,
    "raw_div": _c_quotient,
    "raw_mod": _c_remainder,
    "min": _lesser,
    "max": _greater,
    "clamp": _clamped,
    "abs": _magnitude,
    "bit_and": _common_bits,
    "bit_or": _any_bits,
    "bit_xor": _any_bits,
    "shl": _shifted(_left),
    "shr": _shifted(_right),
    "shr_logical": _shifted(_right),
    "popcnt": _count_of_bits,
    "clz": _count_of_bits,
    "cast": _itself,
    "unique": _itself,
}
"""None: nothing is known of the result."""
EXACT = frozenset(RULES) - {"add", "sub", "neg", "mul", "cast", "unique"} | {"ipow"}
"""Operations whose results of literals are computed by their meaning."""


def _less(symbols: Symbols, a: Whole, b: Whole) -> Truth:
    return symbols.less(a, b)


def _more(symbols: Symbols, a: Whole, b: Whole) -> Truth:
    return symbols.less(b, a)


def _at_most(symbols: Symbols, a: Whole, b: Whole) -> Truth:
    return negated(symbols.less(b, a))


def _at_least(symbols: Symbols, a: Whole, b: Whole) -> Truth:
    return negated(symbols.less(a, b))


def _unequal(symbols: Symbols, a: Whole, b: Whole) -> Truth:
    return symbols.unequal(a, b)


def _equal(symbols: Symbols, a: Whole, b: Whole) -> Truth:
    return negated(symbols.unequal(a, b))


COMPARISONS: Mapping[str, Callable[[Symbols, Whole, Whole], Truth]] = {
    "lt": _less,
    "gt": _more,
    "le": _at_most,
    "ge": _at_least,
    "ne": _unequal,
    "eq": _equal,
}

BITWISE = frozenset(("bit_and", "bit_or", "bit_xor"))
"""Operations whose results fit their types."""
SPELLED = {
    "mul": "({} * {})",
    "floordiv": "({} // {})",
    "mod": "({} % {})",
    "bit_and": "({} & {})",
    "bit_or": "({} | {})",
    "bit_xor": "({} ^ {})",
    "shr": "({} >> {})",
    "min": "min({}, {})",
    "max": "max({}, {})",
    "abs": "abs({})",
}
"""Operations in Python, which says the same where the result does not wrap around."""
