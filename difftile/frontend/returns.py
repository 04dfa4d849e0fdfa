"""The body of a func: statements, and a `return` that comes last on every path."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from difftile.diagnostics import KernelError, Label, TypeMismatch, UnsupportedSyntax
from difftile.frontend.context import Context, Side
from difftile.frontend.convert import condition
from difftile.frontend.items import (
    Item,
    Static,
    describe,
    is_alike,
    is_number,
    is_same,
    leaves,
    regrown,
)
from difftile.frontend.joins import join_branches, starts_as_number
from difftile.frontend.logic import tested
from difftile.frontend.names import depend
from difftile.ir.nodes import Value
from difftile.ir.types import FLOATS, Scalar, scalar_of, shape_of

_RESULT = "return value"  # no Python name has a space


def lower_body(cx: Context, body: Sequence[ast.stmt]) -> Item:
    """Lower the body of a func and return what it returns; None where it returns nothing."""
    _body(cx, body)
    return cx.env.get(_RESULT, Static(None))


def _body(cx: Context, body: Sequence[ast.stmt]) -> None:
    for position, stmt in enumerate(body):
        if isinstance(stmt, ast.Return):
            with cx.at(stmt):
                cx.bind(_RESULT, _returned(cx, stmt), stmt)
            return
        if isinstance(stmt, ast.If) and _returns(stmt):
            # What follows an `if` that returns is the other branch.
            _branches(cx, stmt, body[position + 1 :])
            return
        if _returns(stmt):
            inner = next(n for n in ast.walk(stmt) if isinstance(n, ast.Return))
            raise UnsupportedSyntax(
                cx.keyword_span(inner),
                "'return' inside a loop",
                "set a local in the loop and return it at the end.",
            )
        cx.run([stmt])


def _returned(cx: Context, stmt: ast.Return) -> Item:
    if stmt.value is None:
        return Static(None)
    item = cx.operand(stmt.value)
    return cx.value(item) if is_number(item) else item


def _returns(stmt: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(stmt))


def _branches(cx: Context, stmt: ast.If, rest: Sequence[ast.stmt]) -> None:
    with cx.at(stmt):
        test = tested(cx, stmt.test)
        if isinstance(test, Static):
            depend(cx, test)
            _body(cx, [*(stmt.body if test.value else stmt.orelse), *rest])
            return
        cond = condition(cx, stmt.test, test)
        then, orelse = (
            cx.side(partial(_body, cx, block if _always_returns(block) else [*block, *rest]))
            for block in (stmt.body, stmt.orelse)
        )
        if _RESULT not in then.env or _RESULT not in orelse.env:
            raise KernelError(
                f"Func '{cx.source.name}' returns a value on some paths only.",
                cx.keyword_span(stmt),
                "one way from here ends without 'return'",
                hint="end both branches with a 'return'.",
            )
        _agree(cx, then, orelse)
        join_branches(cx, cond, (then, orelse), cx.source.span(stmt))


def _agree(cx: Context, then: Side, orelse: Side) -> None:
    """Cast an integer returned beside a float, so that `return 0` goes with `return x`.

    Raises:
        KernelError: The two sides return different kinds of things.
    """
    items = (then.env[_RESULT], orelse.env[_RESULT])
    if not is_alike(*items):
        raise _mismatch(cx, then, orelse, describe(items[0]), describe(items[1]))
    parts = zip(leaves(items[0]), leaves(items[1]), strict=True)
    pairs = [_agreed(cx, then, orelse, *pair) for pair in parts]
    for side, k in ((then, 0), (orelse, 1)):
        side.env[_RESULT] = regrown(items[k], iter([pair[k] for pair in pairs]))


def _agreed(cx: Context, then: Side, orelse: Side, first: Item, second: Item) -> tuple[Item, Item]:
    if is_same(first, second):
        return first, second
    if not (starts_as_number(first) and starts_as_number(second)):
        return first, second  # joining the branches tells what is wrong with them
    values = (_in(cx, then, first), _in(cx, orelse, second))
    scalars = [scalar_of(value.type) for value in values]
    if shape_of(values[0].type) != shape_of(values[1].type):
        raise _mismatch(cx, then, orelse, str(values[0].type), str(values[1].type))
    if scalars[0] == scalars[1]:
        return values
    wanted = next((s for s in scalars if s in FLOATS), None)
    if wanted is None or (scalars[0] in FLOATS and scalars[1] in FLOATS):
        raise _mismatch(cx, then, orelse, str(values[0].type), str(values[1].type))
    return _in(cx, then, values[0], wanted), _in(cx, orelse, values[1], wanted)


def _in(cx: Context, side: Side, item: Item, scalar: Scalar | None = None) -> Value:
    """Return an item as a value, perhaps cast, at the end of a branch."""
    with cx.b.region() as made:
        value = cx.value(item)
        value = value if scalar is None else cx.b.cast(value, scalar)
    side.stmts.extend(made)
    return value


def _mismatch(cx: Context, then: Side, orelse: Side, first: str, second: str) -> TypeMismatch:
    return TypeMismatch(
        then.bound_at[_RESULT],
        f"func '{cx.source.name}' returns one type here and another there.",
        first,
        related=(Label(orelse.bound_at[_RESULT], second),),
        hint="return the same type on every path.",
    )


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return False
