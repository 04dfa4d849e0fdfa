"""The results of integer operations, as forms and intervals; integers are not limited here."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from difftile.passes.affine import Affine
from difftile.passes.intervals import OPERATIONS
from difftile.passes.symbols import Ranged, Symbols, Truth, negated

_Rule: TypeAlias = Callable[..., "Ranged | None"]


def result_of(op: str, symbols: Symbols, args: Sequence[Ranged]) -> Ranged | None:
    """Return the result of an operation; None if nothing is known of it."""
    rule = _RULES.get(op)
    found = None if rule is None else rule(symbols, *args)
    if found is None and op in OPERATIONS:
        ends = OPERATIONS[op](*map(symbols.ends, args))
        return None if ends is None else symbols.whole(*ends)
    return found


def _linear(op: str, of: Callable[..., Affine[int]]) -> _Rule:
    def rule(symbols: Symbols, *args: Ranged) -> Ranged | None:
        ends = OPERATIONS[op](*((arg.low, arg.high) for arg in args))
        return None if ends is None else Ranged(*ends, of(*(arg.form for arg in args)))

    return rule


def _inverse(form: Affine[int]) -> Affine[int]:
    return -form - 1


_negative = _linear("neg", operator.neg)


def _product(symbols: Symbols, a: Ranged, b: Ranged) -> Ranged | None:
    if a.low == a.high:
        a, b = b, a
    first, last = symbols.ends(b)
    ends = None if first < last else OPERATIONS["mul"](symbols.ends(a), (first, last))
    return None if ends is None else Ranged(*ends, a.form * first)


def _quotient(op: str) -> _Rule:
    def rule(symbols: Symbols, a: Ranged, b: Ranged) -> Ranged | None:
        first, last = symbols.ends(b)
        ends = None if first < last else OPERATIONS[op](symbols.ends(a), (first, last))
        if ends is None:
            return None
        divides = all(n % first == 0 for n in (a.form.constant, *a.form.factors.values()))
        return Ranged(*ends, a.form // first) if divides else None

    return rule


def _remainder(symbols: Symbols, a: Ranged, b: Ranged) -> Ranged | None:
    low, high = symbols.ends(a)
    return a if low >= 0 and high < symbols.ends(b)[0] else None


def _lesser(symbols: Symbols, a: Ranged, b: Ranged) -> Ranged:
    (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
    if high <= first or last <= low:
        return a if high <= first else b
    return symbols.whole(min(low, first), min(high, last), (), (a.form, b.form))


def _greater(symbols: Symbols, a: Ranged, b: Ranged) -> Ranged:
    (low, high), (first, last) = symbols.ends(a), symbols.ends(b)
    if low >= last or first >= high:
        return a if low >= last else b
    return symbols.whole(max(low, first), max(high, last), (a.form, b.form), ())


def _clamped(symbols: Symbols, a: Ranged, low: Ranged, high: Ranged) -> Ranged:
    return _lesser(symbols, _greater(symbols, a, low), high)


def _magnitude(symbols: Symbols, a: Ranged) -> Ranged | None:
    low, high = symbols.ends(a)
    if low >= 0:
        return a
    return _negative(symbols, a) if high <= 0 else None


def _itself(symbols: Symbols, a: Ranged) -> Ranged:
    return a


# None: no more is known of the result than an interval.
_RULES: Mapping[str, _Rule] = {
    "add": _linear("add", operator.add),
    "sub": _linear("sub", operator.sub),
    "neg": _negative,
    "invert": _linear("invert", _inverse),
    "mul": _product,
    "floordiv": _quotient("floordiv"),
    "mod": _remainder,
    "raw_div": _quotient("raw_div"),
    "raw_mod": _remainder,
    "min": _lesser,
    "max": _greater,
    "clamp": _clamped,
    "abs": _magnitude,
    "cast": _itself,
    "unique": _itself,
}
FOLLOWED = frozenset((*OPERATIONS, *_RULES))
"""Operations of whose results something is known."""
EXACT = FOLLOWED - {"add", "sub", "neg", "mul", "cast", "unique"} | {"ipow"}
"""Operations whose results of literals are computed by their meaning."""

COMPARISONS: Mapping[str, Callable[[Symbols, Ranged, Ranged], Truth]] = {
    "lt": lambda symbols, a, b: symbols.less(a, b),
    "gt": lambda symbols, a, b: symbols.less(b, a),
    "le": lambda symbols, a, b: negated(symbols.less(b, a)),
    "ge": lambda symbols, a, b: negated(symbols.less(a, b)),
    "ne": lambda symbols, a, b: symbols.unequal(a, b),
    "eq": lambda symbols, a, b: negated(symbols.unequal(a, b)),
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
