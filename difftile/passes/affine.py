"""Indices as affine forms of loop variables, and what follows about two accesses."""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from difftile.ir.nodes import Block, Const, For, Let, Stmt, Value, Var
from difftile.ir.walk import walk


@dataclass(frozen=True, slots=True)
class Affine:
    """`sum(factor * variable) + constant`; variables that are no loop index are opaque."""

    terms: frozenset[tuple[Var, int]]
    constant: int

    def factor(self, variable: Var) -> int:
        """Return the factor of a variable, 0 where it does not occur."""
        return dict(self.terms).get(variable, 0)


def definitions_of(block: Block) -> dict[Var, Stmt]:
    """Return the ops that define values anywhere in the block."""
    return {stmt.out: stmt for stmt in walk(block) if isinstance(stmt, Let)}


def affine(value: Value, defs: dict[Var, Stmt]) -> Affine:
    """Return an index value as an affine form."""
    terms, constant = _affine(value, defs)
    return Affine(frozenset((v, f) for v, f in terms.items() if f), constant)


def _affine(value: Value, defs: dict[Var, Stmt]) -> tuple[dict[Var, int], int]:
    if isinstance(value, Const):
        return {}, int(value.value)
    definition = defs.get(value)
    if isinstance(definition, Let):
        found = _of_op(definition, defs)
        if found is not None:
            return found
    return {value: 1}, 0


def _of_op(let: Let, defs: dict[Var, Stmt]) -> tuple[dict[Var, int], int] | None:
    if let.op in ("add", "sub"):
        (a, c), (b, d) = (_affine(arg, defs) for arg in let.args)
        sign = 1 if let.op == "add" else -1
        terms = {v: a.get(v, 0) + sign * b.get(v, 0) for v in {**a, **b}}
        return terms, c + sign * d
    if let.op == "neg":
        a, c = _affine(let.args[0], defs)
        return {v: -f for v, f in a.items()}, -c
    if let.op == "mul":
        for factor, other in (let.args, let.args[::-1]):
            if isinstance(factor, Const):
                a, c = _affine(other, defs)
                k = int(factor.value)
                return {v: k * f for v, f in a.items()}, k * c
    return None


def unique_in(block: Block) -> set[Var]:
    """Return the values that are promised to differ between iterations of a parallel loop."""
    return {s.out for s in walk(block) if isinstance(s, Let) and s.op == "unique"}


def ranges_of(block: Block) -> dict[Var, tuple[int, int]]:
    """Return the first and last value of the indices of loops with literal bounds."""
    return {
        stmt.index: (int(stmt.start.value), int(stmt.stop.value) - 1)
        for stmt in walk(block)
        if isinstance(stmt, For) and isinstance(stmt.start, Const) and isinstance(stmt.stop, Const)
    }


def owns(
    accesses: list[tuple[Affine, ...]],
    indices: tuple[Var, ...],
    varying: set[Var],
    ranges: dict[Var, tuple[int, int]],
    unique: Set[Var] = frozenset(),
) -> bool:
    """Tell whether different values of the loop indices always touch different elements.

    Args:
        accesses: The index of every access, one affine form a dimension.
        indices: The loop indices.
        varying: All variables whose value can differ between iterations, the indices included.
        ranges: First and last value of inner loop indices, where known.
        unique: Values that are promised to differ between iterations.

    A dimension counts in two cases. Every access has the same form in it, with no varying part
    but the loop indices; all such dimensions together must have full rank. Or every access is a
    multiple of one loop index plus something that stays within less than that multiple, as in `2
    * i + k` with k in 0..1.
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
        else:
            rows += [
                [int(index is one) for index in indices]
                for one in indices
                if _strided(forms, one, varying, ranges)
            ]
    if len(rows) < len(indices):
        return False
    return int(np.linalg.matrix_rank(np.array(rows))) == len(indices)


def _strided(
    forms: tuple[Affine, ...], index: Var, varying: set[Var], ranges: dict[Var, tuple[int, int]]
) -> bool:
    """Tell whether every form is one multiple of an index plus a rest shorter than the multiple."""
    stride = forms[0].factor(index)
    fixed = {(v, f) for v, f in forms[0].terms if v not in varying}
    lowest, highest = forms[0].constant, forms[0].constant
    for form in forms:
        if (
            form.factor(index) != stride
            or {(v, f) for v, f in form.terms if v not in varying} != fixed
        ):
            return False
        low = high = form.constant
        for v, f in form.terms:
            if v is index or v not in varying:
                continue
            if v not in ranges:
                return False
            ends = (f * ranges[v][0], f * ranges[v][1])
            low, high = low + min(ends), high + max(ends)
        lowest, highest = min(lowest, low), max(highest, high)
    return highest - lowest < abs(stride)


def differ(a: tuple[Affine, ...], b: tuple[Affine, ...]) -> bool:
    """Tell whether two indices of one iteration are certainly different elements."""
    return any(p.terms == q.terms and p.constant != q.constant for p, q in zip(a, b, strict=False))


def disjoint(a: tuple[Affine, ...], b: tuple[Affine, ...], varying: set[Var]) -> bool:
    """Tell whether two indices never meet in any two iterations, by their common divisor."""
    for p, q in zip(a, b, strict=False):
        factors = [f for v, f in (*p.terms, *q.terms) if v in varying]
        fixed = [{(v, f) for v, f in form.terms if v not in varying} for form in (p, q)]
        divisor = math.gcd(*factors)
        if fixed[0] == fixed[1]:
            gap = p.constant - q.constant
            if (divisor and gap % divisor) or (not divisor and gap):
                return True
    return False
