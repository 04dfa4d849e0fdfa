"""Indices as affine forms of loop variables, and the elements that accesses share."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence, Set
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from difftile.ir.facts import fact
from difftile.ir.nodes import Block, Const, For, Let, Memory, Stmt, Value, Var
from difftile.ir.walk import walk
from difftile.passes.intervals import Ends, Interval
from difftile.records import dataclass

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Affine(Generic[S]):
    """`sum(factors[s] * s) + constant`; no factor is zero."""

    factors: Mapping[S, int]
    constant: int = 0

    def __hash__(self) -> int:
        """Return a hash that does not depend on the order of symbols."""
        return hash((frozenset(self.factors.items()), self.constant))

    def factor(self, symbol: S) -> int:
        """Return the factor of a symbol, 0 where it does not occur."""
        return self.factors.get(symbol, 0)

    def plus(self, other: Affine[S], times: int) -> Affine[S]:
        """Return the sum with a multiple of another form."""
        constant = self.constant + times * other.constant
        if not other.factors:
            return Affine(self.factors, constant)
        factors = dict(self.factors)
        for s, f in other.factors.items():
            factors[s] = factors.get(s, 0) + times * f
            if not factors[s]:
                del factors[s]
        return Affine(factors, constant)

    def __add__(self, other: Affine[S] | int) -> Affine[S]:
        """Return the sum with a form or a number."""
        if isinstance(other, int):
            return Affine(self.factors, self.constant + other)
        return self.plus(other, 1)

    def __sub__(self, other: Affine[S] | int) -> Affine[S]:
        """Return the difference from a form or a number."""
        return self + -other if isinstance(other, int) else self.plus(other, -1)

    def __neg__(self) -> Affine[S]:
        """Return the negative."""
        return self * -1

    def __mul__(self, times: int) -> Affine[S]:
        """Return a multiple."""
        factors = {s: f * times for s, f in self.factors.items()} if times else {}
        return Affine(factors, self.constant * times)

    def __floordiv__(self, by: int) -> Affine[S]:
        """Return the form divided by a number that divides all of it."""
        return Affine({s: f // by for s, f in self.factors.items()}, self.constant // by)

    def split(self, symbol: S) -> tuple[int, Affine[S]]:
        """Return the factor of a symbol, and the form without its term."""
        rest = dict(self.factors)
        return rest.pop(symbol, 0), Affine(rest, self.constant)

    def without(self, symbols: Container[object]) -> Affine[S]:
        """Return the form without the terms of some symbols."""
        return Affine({s: f for s, f in self.factors.items() if s not in symbols}, self.constant)

    def substituted(self, symbol: S, by: Affine[S]) -> Affine[S]:
        """Return the form with another one in place of a symbol."""
        factor, rest = self.split(symbol)
        return rest.plus(by, factor)

    def renamed(self, name: Callable[[S], T]) -> Affine[T]:
        """Return the form with another symbol for each."""
        renamed: Affine[T] = Affine({}, self.constant)
        return sum((Affine({name(s): f}) for s, f in self.factors.items()), renamed)

    def value(self, of: Callable[[S], int]) -> int:
        """Return the value of the form, from the values of its symbols."""
        return self.constant + sum(f * of(s) for s, f in self.factors.items())

    def ends(self, of: Callable[[S], Ends]) -> Ends:
        """Return the least and greatest values, from independent bounds of its symbols."""
        low: int | None = self.constant
        high: int | None = self.constant
        for s, f in self.factors.items():
            least, most = of(s) if f > 0 else of(s)[::-1]
            low = None if low is None or least is None else low + f * least
            high = None if high is None or most is None else high + f * most
        return low, high


Place: TypeAlias = tuple[Affine[Var], ...]
"""The element that an access touches: a form for each dimension of its field."""


@fact
def definitions_of(block: Block) -> dict[Var, Stmt]:
    """Return the ops that define values anywhere in the block."""
    return {stmt.out: stmt for stmt in walk(block) if isinstance(stmt, Let)}


def affine(value: Value, defs: Mapping[Var, Stmt]) -> Affine[Var]:
    """Return an index value as an affine form."""
    if isinstance(value, Const):
        return Affine({}, int(value.value))
    match defs.get(value):
        case Let(op="add" | "sub" as op, args=(a, b)):
            return affine(a, defs).plus(affine(b, defs), 1 if op == "add" else -1)
        case Let(op="neg", args=(a,)):
            return -affine(a, defs)
        case Let(op="mul", args=(Const(factor), a) | (a, Const(factor))):
            return affine(a, defs) * int(factor)
        case _:
            return Affine({value: 1})


def place_of(stmt: Memory, defs: Mapping[Var, Stmt]) -> Place:
    """Return the element that an access touches."""
    return tuple(affine(i, defs) for i in stmt.index[: stmt.array.type.ndim])


@fact
def unique_in(block: Block) -> frozenset[Var]:
    """Return the values that are promised to differ between iterations of a parallel loop."""
    return frozenset(s.out for s in walk(block) if isinstance(s, Let) and s.op == "unique")


@fact
def ranges_of(block: Block) -> Mapping[Var, Interval]:
    """Return the first and last value of the indices of loops with literal bounds."""
    return {
        stmt.index: (int(stmt.start.value), int(stmt.stop.value) - 1)
        for stmt in walk(block)
        if isinstance(stmt, For) and isinstance(stmt.start, Const) and isinstance(stmt.stop, Const)
    }


def owns(
    accesses: Sequence[Place],
    indices: tuple[Var, ...],
    varying: Set[Var],
    ranges: Mapping[Var, Interval],
    unique: Set[Var] = frozenset(),
) -> bool:
    """Tell whether different values of the loop indices always touch different elements.

    Args:
        accesses: The element of every access.
        indices: The loop indices.
        varying: All variables whose value can differ between iterations, the indices included.
        ranges: First and last value of inner loop indices, where known.
        unique: Values that are promised to differ between iterations.

    A dimension counts in two cases, or in both. Every access has the same form in it, with no
    varying part but the loop indices; all such dimensions together must have full rank. Or every
    access is a multiple of one loop index plus something that stays within less than that multiple,
    as in `2 * i + k` with k in 0..1.
    """
    if not accesses or not indices:
        return not indices
    rows: list[list[int]] = []
    for forms in zip(*accesses, strict=False):
        first = forms[0]
        same = all(form == first for form in forms)
        changing = [v for v in first.factors if v in varying]
        if same and len(changing) == 1 and changing[0] in unique:
            return True
        if same and all(v in indices for v in changing):
            rows.append([first.factor(index) for index in indices])
        rows += [
            [int(index is one) for index in indices]
            for one in indices
            if _strided(forms, one, varying, ranges)
        ]
    if len(rows) < len(indices):
        return False
    return int(np.linalg.matrix_rank(np.array(rows))) == len(indices)


def _strided(forms: Place, index: Var, varying: Set[Var], ranges: Mapping[Var, Interval]) -> bool:
    """Tell whether every form is one multiple of an index plus a rest shorter than the multiple."""
    stride, fixed = forms[0].factor(index), forms[0].without(varying).factors

    def reach(v: Var) -> Ends:
        return ranges.get(v, (None, None)) if v in varying and v is not index else (0, 0)

    lows: list[int] = []
    highs: list[int] = []
    for form in forms:
        low, high = form.ends(reach)
        if form.factor(index) != stride or form.without(varying).factors != fixed:
            return False
        if low is None or high is None:
            return False
        lows.append(low)
        highs.append(high)
    return max(highs) - min(lows) < abs(stride)


def differ(a: Place, b: Place) -> bool:
    """Tell whether two indices of one iteration are certainly different elements."""
    gaps = [p - q for p, q in zip(a, b, strict=False)]
    return any(not gap.factors and gap.constant for gap in gaps)


def disjoint(a: Place, b: Place, varying: Set[Var]) -> bool:
    """Tell whether two indices never meet in any two iterations, by their common divisor."""
    for p, q in zip(a, b, strict=False):
        factors = (*p.factors.items(), *q.factors.items())
        divisor = math.gcd(*(f for v, f in factors if v in varying))
        gap = (p - q).without(varying)
        if not gap.factors and (gap.constant % divisor if divisor else gap.constant):
            return True
    return False
