"""`break` and `continue`: flags that guard what follows them, since the IR has no jumps.

`if c: continue` sets a flag, and the rest of the body runs under `if not flag`. A loop that
breaks becomes a `while` that also tests its flag.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from difftile.diagnostics import UnsupportedSyntax
from difftile.frontend.context import Context
from difftile.frontend.convert import truth
from difftile.frontend.joins import branch, join_branches
from difftile.ir.nodes import Const, Stmt, Value
from difftile.ir.types import BOOL

BROKE = "broke out"  # no Python name has a space
SKIPPED = "skipped the rest"


def run_body(cx: Context, stmts: Sequence[ast.stmt]) -> None:
    """Lower statements; those behind a possible jump run only if it was not taken."""
    for position, stmt in enumerate(stmts):
        cx.run([stmt])
        rest = stmts[position + 1 :]
        if isinstance(stmt, (ast.Break, ast.Continue)):
            return  # nothing behind it ever runs
        if rest and any(True for _ in jumps([stmt])):
            _guard(cx, stmt, rest)
            return


def jumps(stmts: Sequence[ast.stmt]) -> Iterator[ast.Break | ast.Continue]:
    """Yield the jumps that leave these statements; those of loops inside them stay there."""
    for stmt in stmts:
        if isinstance(stmt, (ast.Break, ast.Continue)):
            yield stmt
        elif isinstance(stmt, ast.If):
            yield from jumps(stmt.body)
            yield from jumps(stmt.orelse)


def breaks(stmts: Sequence[ast.stmt]) -> bool:
    """Tell whether statements of a loop's body may break out of it."""
    return any(isinstance(jump, ast.Break) for jump in jumps(stmts))


def refuse_jumps(cx: Context, stmts: Sequence[ast.stmt], where: str, hint: str) -> None:
    """Refuse jumps where there is no loop at run time that they could leave.

    Raises:
        UnsupportedSyntax: There is one.
    """
    for jump in jumps(stmts):
        word = "break" if isinstance(jump, ast.Break) else "continue"
        raise UnsupportedSyntax(cx.keyword_span(jump), f"'{word}' {where}", hint)


def refuse_breaks(cx: Context, stmts: Sequence[ast.stmt], where: str, hint: str) -> None:
    """Refuse 'break', but not 'continue'.

    Raises:
        UnsupportedSyntax: There is one.
    """
    for jump in jumps(stmts):
        if isinstance(jump, ast.Break):
            raise UnsupportedSyntax(cx.keyword_span(jump), f"'break' {where}", hint)


def break_statement(cx: Context, node: ast.Break) -> None:
    """Lower `break`."""
    cx.env[BROKE] = Const(True, BOOL)


def continue_statement(cx: Context, node: ast.Continue) -> None:
    """Lower `continue`."""
    cx.env[SKIPPED] = Const(True, BOOL)


def iteration(cx: Context, body: Sequence[ast.stmt]) -> None:
    """Lower the body of a loop for one iteration."""
    outer = cx.env.get(SKIPPED)
    cx.env[SKIPPED] = Const(False, BOOL)
    run_body(cx, body)
    del cx.env[SKIPPED]
    if outer is not None:
        cx.env[SKIPPED] = outer


def unless_broken(cx: Context, broke: Value, stmts: list[Stmt], cond: Value) -> Value:
    """Return the condition of a loop that may break: its test runs only if it has not."""
    runs = cx.call("not", broke)
    return branch(cx, runs, (stmts, cond), ([], Const(False, BOOL)))


def _guard(cx: Context, stmt: ast.stmt, rest: Sequence[ast.stmt]) -> None:
    with cx.at(stmt):
        left: Value = Const(False, BOOL)
        for flag in (BROKE, SKIPPED):
            if flag in cx.env:
                left = cx.call("or", left, truth(cx, cx.value(cx.env[flag])))
        runs = cx.call("not", left)
    with cx.nested():
        then = cx.side(partial(run_body, cx, rest))
        orelse = cx.side(lambda: None)
    join_branches(cx, runs, (then, orelse), cx.source.span(stmt))
