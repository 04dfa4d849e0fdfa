"""Indices as affine forms of loop variables, and the elements that accesses share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np

from difftile.ir.facts import fact
from difftile.ir.nodes import Block, Const, For, Let, Memory, Stmt, Value, Var
from difftile.ir.walk import walk
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Affine:
    """`sum(factor * variable) + constant`; variables that are not loop indices are opaque."""

    terms: frozenset[tuple[Var, int]]
    constant: int

    def factor(self, variable: Var) -> int:
        """Return the factor of a variable, 0 where it does not occur."""
        return dict(self.terms).get(variable, 0)

    def plus(self, other: Affine, times: int = 1) -> Affine:
        """Return the sum with a multiple of another form."""
        factors = dict(self.terms)
        for v, f in other.terms:
            factors[v] = factors.get(v, 0) + times * f
        kept = frozenset((v, f) for v, f in factors.items() if f)
        return Affine(kept, self.constant + times * other.constant)

    def scaled(self, times: int) -> Affine:
        """Return a multiple."""
        return Affine(frozenset(), 0).plus(self, times)

    def fixed(self, varying: Set[Var]) -> frozenset[tuple[Var, int]]:
        """Return the terms that are the same in all iterations."""
        return frozenset((v, f) for v, f in self.terms if v not in varying)


Place: TypeAlias = tuple[Affine, ...]
"""The element that an access touches: a form for each dimension of its field."""


@fact
def definitions_of(block: Block) -> dict[Var, Stmt]:
    """Return the ops that define values anywhere in the block."""
    return {stmt.out: stmt for stmt in walk(block) if isinstance(stmt, Let)}


def affine(value: Value, defs: Mapping[Var, Stmt]) -> Affine:
    """Return an index value as an affine form."""
    if isinstance(value, Const):
        return Affine(frozenset(), int(value.value))
    match defs.get(value):
        case Let(op="add" | "sub" as op, args=(a, b)):
            return affine(a, defs).plus(affine(b, defs), 1 if op == "add" else -1)
        case Let(op="neg", args=(a,)):
            return affine(a, defs).scaled(-1)
        case Let(op="mul", args=(Const(factor), a) | (a, Const(factor))):
            return affine(a, defs).scaled(int(factor))
        case _:
            return Affine(frozenset({(value, 1)}), 0)


def place_of(stmt: Memory, defs: Mapping[Var, Stmt]) -> Place:
    """Return the element that an access touches."""
    return tuple(affine(i, defs) for i in stmt.index[: stmt.array.type.ndim])


@fact
def unique_in(block: Block) -> frozenset[Var]:
    """Return the values that are promised to differ between iterations of a parallel loop."""
    return frozenset(s.out for s in walk(block) if isinstance(s, Let) and s.op == "unique")


@fact
def ranges_of(block: Block) -> Mapping[Var, tuple[int, int]]:
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
    ranges: Mapping[Var, tuple[int, int]],
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
        changing = [v for v, _ in first.terms if v in varying]
        if same and len(changing) == 1 and changing[0] in unique:
            return True
        if same and not any(v in varying and v not in indices for v, _ in first.terms):
            rows.append([first.factor(index) for index in indices])
        rows += [
            [int(index is one) for index in indices]
            for one in indices
            if _strided(forms, one, varying, ranges)
        ]
    if len(rows) < len(indices):
        return False
    return int(np.linalg.matrix_rank(np.array(rows))) == len(indices)


def _strided(
    forms: Place, index: Var, varying: Set[Var], ranges: Mapping[Var, tuple[int, int]]
) -> bool:
    """Tell whether every form is one multiple of an index plus a rest shorter than the multiple."""
    stride, fixed = forms[0].factor(index), forms[0].fixed(varying)
    lows: list[int] = []
    highs: list[int] = []
    for form in forms:
        if form.factor(index) != stride or form.fixed(varying) != fixed:
            return False
        inner = [(v, f) for v, f in form.terms if v is not index and v in varying]
        if any(v not in ranges for v, _ in inner):
            return False
        ends = [(f * ranges[v][0], f * ranges[v][1]) for v, f in inner]
        lows.append(form.constant + sum(map(min, ends)))
        highs.append(form.constant + sum(map(max, ends)))
    return max(highs) - min(lows) < abs(stride)


def differ(a: Place, b: Place) -> bool:
    """Tell whether two indices of one iteration are certainly different elements."""
    return any(p.terms == q.terms and p.constant != q.constant for p, q in zip(a, b, strict=False))


def disjoint(a: Place, b: Place, varying: Set[Var]) -> bool:
    """Tell whether two indices never meet in any two iterations, by their common divisor."""
    for p, q in zip(a, b, strict=False):
        divisor = math.gcd(*(f for v, f in (*p.terms, *q.terms) if v in varying))
        gap = p.constant - q.constant
        if p.fixed(varying) == q.fixed(varying) and (gap % divisor if divisor else gap):
            return True
    return False
