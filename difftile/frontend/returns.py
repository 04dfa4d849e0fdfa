"""The body of a func: statements, and a `return` that comes last on every path."""

from __future__ import annotations

import ast

from difftile.diagnostics import KernelError, TypeMismatch, UnsupportedSyntax
from difftile.frontend.context import Context
from difftile.frontend.convert import truth
from difftile.frontend.items import Item, Several, Static
from difftile.frontend.joins import join_branches
from difftile.ir.types import FLOATS, scalar_of

_RESULT = "return value"  # no Python name has a space


def lower_body(cx: Context, body: list[ast.stmt]) -> Item:
    """Lower the body of a func and return what it returns; None where it returns nothing."""
    _body(cx, body)
    return cx.env.get(_RESULT, Static(None))


def _body(cx: Context, body: list[ast.stmt]) -> None:
    for position, stmt in enumerate(body):
        if isinstance(stmt, ast.Return):
            with cx.at(stmt):
                cx.env[_RESULT] = _returned(cx, stmt)
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
    if isinstance(item, Static) and isinstance(item.value, (int, float)):
        return cx.value(item)
    return item


def _returns(stmt: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(stmt))


def _branches(cx: Context, stmt: ast.If, rest: list[ast.stmt]) -> None:
    with cx.at(stmt):
        test = cx.operand(stmt.test)
        if isinstance(test, Static):
            _body(cx, [*(stmt.body if test.value else stmt.orelse), *rest])
            return
        cond = truth(cx, cx.value(test))
        before = dict(cx.env)
        sides: list[tuple[list[object], dict[str, Item]]] = []
        for branch in (stmt.body, stmt.orelse):
            cx.env = dict(before)
            with cx.b.region() as stmts:
                _body(cx, [*branch, *rest] if not _always_returns(branch) else branch)
            sides.append((stmts, cx.env))  # pyright: ignore[reportArgumentType]
        results = [side[1].get(_RESULT) for side in sides]
        if None in results:
            raise KernelError(
                "A func returns a value on some paths only.",
                cx.source.span(stmt),
                hint="end both branches with a 'return'.",
            )
        _same_number_type(cx, sides)
        join_branches(cx, cond, before, sides[0], sides[1], cx.source.span(stmt))  # pyright: ignore[reportArgumentType]


def _same_number_type(cx: Context, sides: list[tuple[list[object], dict[str, Item]]]) -> None:
    """Cast an integer returned beside a float, so that `return 0` goes with `return x`."""
    items = [side[1][_RESULT] for side in sides]
    if any(isinstance(item, (Static, Several)) for item in items):
        return
    values = [cx.value(item) for item in items]
    scalars = [scalar_of(value.type) for value in values]
    if scalars[0] == scalars[1]:
        return
    wanted = next((s for s in scalars if s in FLOATS), None)
    if wanted is None or (scalars[0] in FLOATS and scalars[1] in FLOATS):
        raise TypeMismatch(cx.b.span, f"a func returns {values[0].type} and {values[1].type}.")
    for (stmts, env), value in zip(sides, values, strict=True):
        with cx.b.region() as casts:
            env[_RESULT] = cx.b.cast(value, wanted)
        stmts += casts


def _always_returns(body: list[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return False
