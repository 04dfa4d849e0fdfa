"""For which sizes and numbers constraints on loop indices have a solution: parametric elimination.

Method: the elimination of Fourier and Motzkin, with the dark shadow of Pugh, The Omega test, 1991,
section 3. Two bounds `a * i >= p` and `b * i <= q` leave an integer between them if
`a * q - b * p >= (a - 1) * (b - 1)`, and only if `a * q - b * p >= 0`. The two agree where `a` or
`b` is one. Factors may be polynomials over sizes and numbers, whose signs are then distinguished.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product

from difftile.passes.polynomials import (
    ALWAYS,
    MOST,
    NEVER,
    NOTHING,
    ONE,
    Case,
    Cases,
    Polynomial,
    Symbol,
    both,
    case,
    constant,
    either,
)

_MOST_PARTS = 64  # of a case: elimination may square their number
_FEW = 8  # values between literal bounds are tried one by one


def certain(whole: Case) -> Cases:
    """Return conditions on sizes and numbers under which loop indices satisfy a case.

    They are sufficient; they are necessary as well unless two factors other than one met.
    """
    if not all(part.is_linear for part in whole):
        return NEVER
    return _satisfied(whole)


def possible(whole: Case, symbol: Symbol) -> Case | None:
    """Return the consequence of a case for all symbols but one: a necessary condition."""
    lower, upper, rest, doubtful = _sorted(whole, symbol, frozenset())
    del doubtful  # it follows nothing from a bound on an unknown side
    pairs = (a.product(q).plus(b.product(p)) for (a, p), (b, q) in product(lower, upper))
    return case((*rest, *pairs))


def _components(whole: Case) -> list[Case]:
    """Return the parts of a case that share no loop index."""
    found: list[tuple[set[Symbol], list[Polynomial]]] = []
    for part in whole:
        symbols, parts = part.loops(), [part]
        apart: list[tuple[set[Symbol], list[Polynomial]]] = []
        for others, theirs in found:
            if symbols & others:
                symbols, parts = symbols | others, [*theirs, *parts]
            else:
                apart.append((others, theirs))
        found = [*apart, (symbols, parts)]
    return [tuple(sorted(parts)) for _, parts in found]


Signs = frozenset[tuple[Polynomial, int]]
Bound = tuple[Polynomial, Polynomial]


@lru_cache(maxsize=4096)
def _certain(whole: Case, signs: Signs) -> Cases:
    """Return when a case can be satisfied; of some factors the sign is known."""
    symbols = {symbol for part in whole for symbol in part.loops()}
    if not symbols:
        return (whole,)
    if len(whole) > _MOST_PARTS:
        return NEVER

    def effort(symbol: Symbol) -> tuple[int, bool, int, Symbol]:
        lower, upper, _, doubtful = _sorted(whole, symbol, signs)
        pairs = len(lower) * len(upper) - len(lower) - len(upper)
        return len(doubtful), _lossy(lower, upper), pairs, symbol

    symbol = min(symbols, key=effort)
    lower, upper, rest, doubtful = _sorted(whole, symbol, signs)
    if doubtful:
        return _by_sign(whole, doubtful[0], symbol, signs)
    if _lossy(lower, upper):
        least = max((-p.constant for a, p in lower if a == ONE and not p.terms), default=None)
        most = min((q.constant for b, q in upper if b == ONE and not q.terms), default=None)
        if least is not None and most is not None and most - least < _FEW:
            values = (constant(k) for k in range(least, most + 1))
            return either(*(_satisfied(p.replaced({symbol: k}) for p in whole) for k in values))
    parts = list(rest)
    for (a, p), (b, q) in product(lower, upper):
        gap = a.shifted(-1).product(b.shifted(-1))
        parts.append(a.product(q).plus(b.product(p)).minus(gap))
    return _satisfied(parts, signs)


def _satisfied(parts: Iterable[Polynomial], signs: Signs = frozenset()) -> Cases:
    """Return when some polynomials can all be not negative."""
    left = case(parts)
    if left is None:
        return NEVER
    found = ALWAYS
    for component in _components(left):
        found = both(found, _certain(component, signs))
        if not found:
            return NEVER
    return found


def _by_sign(whole: Case, doubtful: Polynomial, symbol: Symbol, signs: Signs) -> Cases:
    """Return when a case can be satisfied, for each sign of the factor of a symbol."""
    factor, rest = doubtful.split(symbol)
    found: list[Case] = []
    for sign in (1, -1):
        fits = case((factor.scaled(sign).shifted(-1),))
        if fits is not None:
            inside = _certain(whole, signs | {(factor, sign)})
            found += both((fits,), inside)
    zero = case((factor, factor.scaled(-1)))
    if zero is not None:
        without = case((*(part for part in whole if part != doubtful), rest))
        if without is not None:
            found += both((zero,), _certain(without, signs))
    return either(tuple(found))[:MOST]


def _lossy(lower: Sequence[Bound], upper: Sequence[Bound]) -> bool:
    """Tell whether a condition that is sufficient need not be necessary."""
    return any(a != ONE for a, _ in lower) and any(b != ONE for b, _ in upper)


def _sorted(
    whole: Case, symbol: Symbol, signs: Signs
) -> tuple[list[Bound], list[Bound], list[Polynomial], list[Polynomial]]:
    """Return the bounds of a symbol from below and from above, with positive factors, and the rest.

    The last list has the parts of which it is not known which side they bound.
    """
    lower: list[Bound] = []
    upper: list[Bound] = []
    rest: list[Polynomial] = []
    doubtful: list[Polynomial] = []
    for part in whole:
        factor, others = part.split(symbol)
        opposite = factor.scaled(-1)
        fixed = not factor.loops()
        if factor == NOTHING:
            rest.append(part)
        elif fixed and (factor.least() > 0 or {(factor, 1), (opposite, -1)} & signs):
            lower.append((factor, others))
        elif fixed and (factor.greatest() < 0 or {(factor, -1), (opposite, 1)} & signs):
            upper.append((opposite, others))
        else:
            doubtful.append(part)
    return lower, upper, rest, doubtful
