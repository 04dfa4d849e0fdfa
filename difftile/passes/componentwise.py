"""Vectors and matrices taken apart: every op on them becomes ops on numbers.

Tangents along an axis are vectors of which most components do not exist. Taken apart together
with their factors, they lose structural zeros, where an op on vectors computes all of its
components. Vectors are put together again only for statements that need them whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import numpy as np

from difftile.ir.nodes import Block, Const, Let, Program, Stmt, Value, Var
from difftile.ir.types import I32, scalar_of, shape_of
from difftile.ir.walk import with_blocks, with_operands
from difftile.ops.build import OpBuilder
from difftile.ops.table import ELEMENTWISE

Parts: TypeAlias = tuple[Value, ...]
"""The components of a value, row after row."""

Rule: TypeAlias = Callable[[OpBuilder, Let, Sequence[Parts]], "Parts | None"]


def componentwise(program: Program) -> Program:
    """Return the program with ops on numbers in place of those on vectors and matrices."""
    return replace(program, body=_Splitter().block(program.body))


class _Splitter:
    def __init__(self) -> None:
        self.b = OpBuilder()
        self.parts: dict[Var, Parts] = {}
        self.whole: dict[Var, Value] = {}  # in place of values whose definition is gone

    def block(self, block: Block) -> Block:
        """Return a block taken apart."""
        outer = self.parts, self.whole
        self.parts, self.whole = dict(self.parts), dict(self.whole)
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.stmt(stmt)
            results = tuple(self.assembled(result) for result in block.results)
        self.parts, self.whole = outer
        return Block(tuple(stmts), results)

    def stmt(self, stmt: Stmt) -> None:
        """Append a statement taken apart."""
        self.b.span = stmt.span
        if isinstance(stmt, Let) and any(shape_of(v.type) for v in (stmt.out, *stmt.args)):
            rule = _elementwise if stmt.op in ELEMENTWISE else _RULES.get(stmt.op)
            if rule is not None:
                found = rule(self.b, stmt, [self.apart(arg) for arg in stmt.args])
                if found is not None:
                    self.parts[stmt.out] = found
                    if not shape_of(stmt.out.type):
                        self.whole[stmt.out] = found[0]
                    return
        self.b.append(with_blocks(with_operands(stmt, self.assembled), self.block))

    def apart(self, value: Value) -> Parts:
        """Return the components of a value."""
        shape = shape_of(value.type)
        if isinstance(value, Const):
            return (replace(value, type=scalar_of(value.type)),) * prod(shape)
        if value in self.parts:
            return self.parts[value]
        if not shape:
            return (self.whole.get(value, value),)
        places = [tuple(Const(i, I32) for i in at) for at in np.ndindex(*shape)]
        found = tuple(self.b.call("extract", value, *place) for place in places)
        self.parts[value] = found
        return found

    def assembled(self, value: Value) -> Value:
        """Return a value as a whole."""
        if isinstance(value, Const):
            return value
        if value in self.parts and value not in self.whole and self._is_gone(value):
            shape = shape_of(value.type)
            self.whole[value] = self.b.assembled(shape, self.parts[value], value.name)
        return self.whole.get(value, value)

    def _is_gone(self, value: Var) -> bool:
        """Tell whether components stand for a value, and were not extracted from it."""
        first = self.b.definition(self.parts[value][0])
        return first is None or first.op != "extract" or first.args[0] is not value


def _elementwise(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    size = prod(shape_of(let.out.type))
    spread = [arg if len(arg) == size else arg * size for arg in args]
    type_ = scalar_of(let.out.type) if let.op == "cast" else None
    return tuple(b.call(let.op, *each, type_=type_) for each in zip(*spread, strict=True))


def _sum_of(b: OpBuilder, values: Sequence[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = b.call("add", total, value)
    return total


def _products(b: OpBuilder, x: Sequence[Value], y: Sequence[Value]) -> Value:
    return _sum_of(b, [b.call("mul", *pair) for pair in zip(x, y, strict=True)])


def _built(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    return tuple(part for arg in args for part in arg)


def _extract(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts | None:
    place = _place(let.args[0], let.args[1:])
    return None if place is None else (args[0][place],)


def _insert(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts | None:
    place = _place(let.args[0], let.args[1:-1])
    if place is None:
        return None
    return (*args[0][:place], *args[-1], *args[0][place + 1 :])


def _place(of: Value, index: Sequence[Value]) -> int | None:
    if any(not isinstance(i, Const) for i in index):
        return None
    at = tuple(int(i.value) for i in index if isinstance(i, Const))
    shape = shape_of(of.type)
    inside = all(0 <= i < n for i, n in zip(at, shape, strict=True))
    return int(np.ravel_multi_index(at, shape)) if inside else None


def _dot(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    return (_products(b, *args),)


def _norm(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    return (b.call("sqrt", _products(b, args[0], args[0])),)


def _sum(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    return (_sum_of(b, args[0]),)


def _cross(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    x, y = args

    def minor(i: int, j: int) -> Value:
        return b.call("sub", b.call("mul", x[i], y[j]), b.call("mul", x[j], y[i]))

    return (minor(0, 1),) if len(x) == 2 else (minor(1, 2), minor(2, 0), minor(0, 1))


def _outer(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    return tuple(b.call("mul", x, y) for x in args[0] for y in args[1])


def _transpose(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    n, m = shape_of(let.args[0].type)
    return tuple(args[0][i * m + j] for j in range(m) for i in range(n))


def _trace(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts:
    n, _ = shape_of(let.args[0].type)
    return (_sum_of(b, args[0][:: n + 1]),)


def _matmul(b: OpBuilder, let: Let, args: Sequence[Parts]) -> Parts | None:
    shapes = [shape_of(arg.type) for arg in let.args]
    if len(shapes[0]) != 2:
        return None
    (n, m), p = shapes[0], shapes[1][1] if len(shapes[1]) == 2 else 1
    x, y = args
    return tuple(_products(b, x[i * m : (i + 1) * m], y[j::p]) for i in range(n) for j in range(p))


_RULES: dict[str, Rule] = {
    "vec": _built,
    "mat": _built,
    "extract": _extract,
    "insert": _insert,
    "dot": _dot,
    "norm": _norm,
    "sum": _sum,
    "cross": _cross,
    "outer": _outer,
    "transpose": _transpose,
    "trace": _trace,
    "matmul": _matmul,
}
