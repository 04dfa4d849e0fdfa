"""Comparisons, 'and', 'or', 'not', and the conditional expression."""

from __future__ import annotations

import ast
from typing import NamedTuple

from difftile.diagnostics import TypeMismatch, UnsupportedSyntax
from difftile.frontend.context import Context
from difftile.frontend.convert import common, condition, filled, truth
from difftile.frontend.items import Item, Static, is_number
from difftile.frontend.joins import branch, picks_at_run_time
from difftile.frontend.name_lookup import depend
from difftile.frontend.operators import folded
from difftile.frontend.random_calls import only_on_one_side
from difftile.ir.nodes import Const, Let, Size, Stmt, Value, Var
from difftile.ir.types import BOOL, scalar_of, shape_of, shaped

# The ops of comparisons are named as in `operator`.
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_COMPARE_OBJECTS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Is: ("is", "is_"),
    ast.IsNot: ("is not", "is_not"),
}


def tested(cx: Context, node: ast.expr) -> Item:
    """Lower an expression of which only the truth matters, as after 'if'."""
    if isinstance(node, ast.BoolOp):
        return _chain(cx, node, tested=True)
    return cx.operand(node)


def negation(cx: Context, node: ast.expr, name: str) -> Item:
    """Lower `not node`."""
    item = tested(cx, node)
    if isinstance(item, Static):
        depend(cx, item)
        return Static(not item.value)
    return cx.call("not", condition(cx, node, item), name=name)


# Comparisons


def compare(cx: Context, node: ast.Compare, name: str) -> Item:
    """Lower `a < b`, `a < b < c`, `a is None`."""
    for kind in node.ops:
        if isinstance(kind, (ast.In, ast.NotIn)):
            raise UnsupportedSyntax(
                cx.span(node),
                "'in'" if isinstance(kind, ast.In) else "'not in'",
                "compare with each value: 'i == 1 or i == 2'.",
            )
    left = (node.left, cx.operand(node.left))
    result: Item | None = None
    for kind, comparator in zip(node.ops, node.comparators, strict=True):
        right = (comparator, cx.operand(comparator))
        one = _comparison(cx, node, kind, left, right)
        left = right
        if result is None:
            result = one
        elif isinstance(result, Static) and isinstance(one, Static):
            result = Static(result.value and one.value)
        else:
            result = cx.call("and", truth(cx, cx.value(result)), truth(cx, cx.value(one)))
    assert result is not None
    return result


def _comparison(
    cx: Context, node: ast.Compare, kind: ast.cmpop, *sides: tuple[ast.expr, Item]
) -> Item:
    left, right = items = [item for _, item in sides]
    op = _COMPARE.get(type(kind))
    if isinstance(left, Static) and isinstance(right, Static):
        depend(cx, left)
        depend(cx, right)
        python = op or _COMPARE_OBJECTS[type(kind)][1]
        ordered = isinstance(kind, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        if not ordered or (is_number(left) and is_number(right)):
            return folded(cx, python, left, right)
    if op is None:
        if any(isinstance(item, Static) and item.value is None for item in items):
            return Static(isinstance(kind, ast.IsNot))  # a number or a field is never None
        word, _ = _COMPARE_OBJECTS[type(kind)]
        raise UnsupportedSyntax(cx.span(node), f"'{word}'", "compare with '==' or '!='.")
    for where, item in sides:
        if not is_number(item):
            with cx.at(where):
                cx.value(item)
    return cx.call(op, *common(cx, items))


# 'and' and 'or'


def logic(cx: Context, node: ast.BoolOp, name: str) -> Item:
    """Lower 'and' and 'or' as values: like Python, one of the two sides."""
    return _chain(cx, node, tested=False)


def _chain(cx: Context, node: ast.BoolOp, *, tested: bool) -> Item:
    is_and = isinstance(node.op, ast.And)
    before, *others = node.values
    left = _operand(cx, before, tested=tested)
    for right in others:
        left = _pair(cx, is_and, (before, right), left, tested=tested)
        before = right
    return left


def _operand(cx: Context, node: ast.expr, *, tested: bool) -> Item:
    if tested and isinstance(node, ast.BoolOp):
        return _chain(cx, node, tested=True)
    return cx.operand(node)


def _pair(
    cx: Context, is_and: bool, nodes: tuple[ast.expr, ast.expr], left: Item, *, tested: bool
) -> Item:
    """Lower one 'and' or 'or'; the right side runs only if the left does not decide."""
    before, right = nodes
    if isinstance(left, Static):
        depend(cx, left)
        decided = bool(left.value) != is_and
        return left if decided else _operand(cx, right, tested=tested)
    first = condition(cx, before, left)
    with cx.b.region() as stmts, only_on_one_side(cx):
        item = _operand(cx, right, tested=tested)
        bools = all(isinstance(i, (Var, Const)) and i.type == BOOL for i in (left, item))
        second = condition(cx, right, item) if tested or bools else None
    if second is None:
        here, there = _LogicSide(before, [], left), _LogicSide(right, stmts, item)
        return _choose(cx, first, there, here) if is_and else _choose(cx, first, here, there)
    if all(isinstance(stmt, (Let, Size)) and not picks_at_run_time(stmt) for stmt in stmts):
        for stmt in stmts:
            cx.b.append(stmt)
        return cx.call("and" if is_and else "or", first, second)
    known: tuple[list[Stmt], Value] = ([], Const(not is_and, BOOL))
    pair = ((stmts, second), known) if is_and else (known, (stmts, second))
    return branch(cx, first, *pair)


# Conditional expressions


class _LogicSide(NamedTuple):
    """One side of a conditional expression: its node, statements and item."""

    node: ast.expr
    stmts: list[Stmt]
    item: Item


def conditional(cx: Context, node: ast.IfExp, name: str) -> Item:
    """Lower `a if test else b`; only the side taken runs."""
    test = tested(cx, node.test)
    if isinstance(test, Static):
        depend(cx, test)
        return cx.operand(node.body if test.value else node.orelse, name)
    cond = condition(cx, node.test, test)
    sides: list[_LogicSide] = []
    for side in (node.body, node.orelse):
        with cx.b.region() as stmts, only_on_one_side(cx):
            sides.append(_LogicSide(side, stmts, cx.numeric(side)))
    return _choose(cx, cond, *sides, name=name)


def _choose(
    cx: Context, cond: Value, then: _LogicSide, orelse: _LogicSide, name: str = ""
) -> Value:
    """Return one of two values, brought to one type inside their branches."""
    # A literal on one side takes the type of the other.
    items = (then.item, orelse.item)
    like = next((item.type for item in items if isinstance(item, (Var, Const))), None)
    values: list[Value] = []
    for side in (then, orelse):
        with cx.at(side.node):
            values.append(cx.value(side.item, like))
    target, other = (scalar_of(value.type) for value in values)
    if target != other:
        with cx.b.region():
            target = scalar_of(common(cx, values)[0].type)
    widest = max(shape_of(value.type) for value in values)
    chosen: list[tuple[list[Stmt], Value]] = []
    for side, value in zip((then, orelse), values, strict=True):
        with cx.b.region() as casts:
            wide = cx.b.cast(value, target)
            if widest and not shape_of(wide.type):  # a number goes in every component
                wide = filled(cx, wide, shaped(widest, target))
        chosen.append(([*side.stmts, *casts], wide))
    if chosen[0][1].type != chosen[1][1].type:
        raise TypeMismatch(
            cx.b.span, f"the two sides have the types {values[0].type} and {values[1].type}."
        )
    return branch(cx, cond, *chosen, name=name)
