"""`break`, `continue` and `return` in loops: flags, as the IR has no jumps.

`if c: continue` sets a flag, and the rest of the body runs under `if not flag`. A loop that may be
left early becomes a `while` that also tests its flags. A flag that is known while compiling, as in
loops unrolled by `ti.static`, needs no test: later statements are lowered or left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from difftile.frontend.context import Context
from difftile.frontend.convert import truth
from difftile.frontend.joins import branch, join_branches
from difftile.ir.nodes import Const, Stmt, Value
from difftile.ir.types import BOOL

# No Python name has a space.
BROKE = "broke out"
SKIPPED = "skipped the rest"
RETURNED = "has returned"
FLAGS = (BROKE, SKIPPED, RETURNED)

_YES, _NO = Const(True, BOOL), Const(False, BOOL)


def run_body(cx: Context, stmts: Sequence[ast.stmt]) -> None:
    """Lower statements; after a possible jump they run only if it was not taken."""
    for position, stmt in enumerate(stmts):
        cx.run([stmt])
        rest = stmts[position + 1 :]
        if isinstance(stmt, (ast.Break, ast.Continue, ast.Return)):
            return  # nothing after it ever runs
        if rest and any(True for _ in jumps([stmt])):
            unless_left(cx, stmt, partial(run_body, cx, rest))
            return


def jumps(stmts: Sequence[ast.stmt]) -> Iterator[ast.Break | ast.Continue | ast.Return]:
    """Yield the jumps that leave these statements, not only loops inside them."""
    for stmt in stmts:
        if isinstance(stmt, (ast.Break, ast.Continue, ast.Return)):
            yield stmt
        elif isinstance(stmt, ast.If):
            yield from jumps(stmt.body)
            yield from jumps(stmt.orelse)
        elif isinstance(stmt, (ast.For, ast.While)):
            yield from returns([stmt])


def returns(stmts: Sequence[ast.stmt]) -> Iterator[ast.Return]:
    """Yield every `return` in these statements."""
    for stmt in stmts:
        for node in ast.walk(stmt):
            if isinstance(node, ast.Return):
                yield node


def breaks(stmts: Sequence[ast.stmt]) -> bool:
    """Tell whether statements of a loop's body may break out of it."""
    return any(isinstance(jump, ast.Break) for jump in jumps(stmts))


def jump_statement(cx: Context, node: ast.Break | ast.Continue) -> None:
    """Lower `break` or `continue`."""
    cx.env[BROKE if isinstance(node, ast.Break) else SKIPPED] = _YES


def loop(cx: Context, body: Sequence[ast.stmt], lower: Callable[[], None]) -> None:
    """Lower a loop with a flag of its own, if its body breaks out of it."""
    outer = cx.env.pop(BROKE, None)
    if breaks(body):
        cx.env[BROKE] = _NO
    lower()
    cx.env.pop(BROKE, None)
    if outer is not None:
        cx.env[BROKE] = outer


def iteration(cx: Context, body: Sequence[ast.stmt]) -> None:
    """Lower the body of a loop for one iteration."""
    outer = cx.env.get(SKIPPED)
    cx.env[SKIPPED] = _NO
    run_body(cx, body)
    del cx.env[SKIPPED]
    if outer is not None:
        cx.env[SKIPPED] = outer


def leaving(cx: Context, body: Sequence[ast.stmt]) -> list[str]:
    """Return the flags that end the loop around a body."""
    flags = [BROKE] if breaks(body) else []
    may_return = RETURNED in cx.env and any(True for _ in returns(body))
    return [*flags, RETURNED] if may_return else flags


def stays(cx: Context, flags: Sequence[str]) -> Value:
    """Return whether none of some flags is set."""
    left: Value = _NO
    for flag in flags:
        left = cx.call("or", left, truth(cx, cx.value(cx.env[flag])))
    return cx.call("not", left)


def unless_set(cx: Context, flags: Sequence[str], stmts: list[Stmt], cond: Value) -> Value:
    """Return the condition of a loop that may be left: its test runs only if it was not."""
    runs = stays(cx, flags)
    always = not stmts and isinstance(cond, Const) and cond.value
    return runs if always else branch(cx, runs, (stmts, cond), ([], _NO))


def unless_left(cx: Context, stmt: ast.stmt, lower: Callable[[], None]) -> None:
    """Lower statements that run only if a statement before them took none of its jumps."""
    flags = [flag for flag in FLAGS if flag in cx.env]
    known = [cx.env[flag] for flag in flags if isinstance(cx.env[flag], Const)]
    if any(flag.value for flag in known if isinstance(flag, Const)):
        return
    if len(known) == len(flags):
        lower()
        return
    with cx.at(stmt):
        runs = stays(cx, flags)

    def then() -> None:
        before = {flag: cx.env[flag] for flag in flags}
        cx.env |= dict.fromkeys(flags, _NO)
        lower()
        # What was not set again needs no joining.
        cx.env |= {flag: item for flag, item in before.items() if cx.env[flag] is _NO}

    with cx.nested():
        sides = (cx.branch(then), cx.branch(lambda: None))
    join_branches(cx, runs, sides, cx.source.span(stmt))
