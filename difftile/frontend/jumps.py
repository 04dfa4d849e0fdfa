"""`break`, `continue` and `return` in loops: flags, as the IR has no jumps.

`if c: continue` sets a flag, and the rest of the body runs under `if not flag`. A loop that may be
left early becomes a `while` that also tests its flags. A flag that is known while compiling, as in
loops unrolled by `ti.static`, needs no test: later statements are lowered or left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from difftile.frontend.context import Branch, Context
from difftile.frontend.convert import truth
from difftile.frontend.draws import DRAWS
from difftile.frontend.items import FieldRef, Item, Static, Unbound, leaves, regrown
from difftile.frontend.joins import branch, holds_numbers, join_branches
from difftile.frontend.logic import tested
from difftile.frontend.syntax import nodes_of
from difftile.ir.nodes import Const, Stmt, Value, Var
from difftile.ir.types import BOOL
from difftile.ops.build import zero

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
            if cx.scope.top_level and may_have_returned(cx):
                _run_at_top(cx, rest)
            else:
                unless_left(cx, stmt, partial(run_body, cx, rest))
            return


def may_have_returned(cx: Context) -> bool:
    """Tell whether only a `return` that is taken at run time decides if the code here runs."""
    known = [flag for flag in FLAGS if flag in cx.env and isinstance(cx.env[flag], Const)]
    unknown = [flag for flag in FLAGS if flag in cx.env and flag not in known]
    return unknown == [RETURNED] and not any(cx.env[flag] == _YES for flag in known)


def _run_at_top(cx: Context, stmts: Sequence[ast.stmt]) -> None:
    """Lower statements of a kernel after a `return` that may have been taken.

    Loops stay at the top level, where they are parallel, and test for themselves. The statements
    between them run under one test.
    """
    position = 0
    while position < len(stmts):
        if not may_have_returned(cx):
            run_body(cx, stmts[position:])
            return
        end = position
        while end < len(stmts) and not _needs_top(stmts[end]):
            end += 1
        group, position = stmts[position:end], end
        if group:
            unless_left(cx, group[0], partial(run_body, cx, group), forgotten=True)
        elif _runs_at_top(cx, stmts[position]):
            cx.run([stmts[position]])
            position += 1
        else:
            one, position = stmts[position : position + 1], position + 1
            unless_left(cx, one[0], partial(run_body, cx, one), forgotten=True)


def _needs_top(stmt: ast.stmt) -> bool:
    """Tell whether a statement has a loop, or a `return` after which another test is needed."""
    return bool(nodes_of(stmt, ast.For, ast.Return))


def _runs_at_top(cx: Context, stmt: ast.stmt) -> bool:
    """Tell whether a statement is a loop, or an `if` that is decided while compiling."""
    found: list[Item] = []
    if isinstance(stmt, ast.If):
        cx.branch(lambda: found.append(tested(cx, stmt.test)))  # nothing of it is kept
    return isinstance(stmt, ast.For) or any(isinstance(item, Static) for item in found)


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
        yield from nodes_of(stmt, ast.Return)


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


def unless_left(
    cx: Context, stmt: ast.stmt, lower: Callable[[], None], *, forgotten: bool = False
) -> None:
    """Lower statements that run only if a statement before them took none of its jumps.

    Args:
        cx: The context.
        stmt: The first statement, or the one before.
        lower: Lowers them.
        forgotten: No local is read where they have not run.
    """
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
        # Locals that were not set again need no joining.
        cx.env |= {flag: item for flag, item in before.items() if cx.env[flag] is _NO}

    with cx.nested():
        sides = (cx.branch(then), cx.branch(lambda: None))
    if forgotten:
        _forget(*sides)
    join_branches(cx, runs, sides, cx.source.span(stmt))


def forget_after_jumps(first: Branch, second: Branch) -> None:
    """Give the locals that only one of two branches binds a value in the other, if that jumps."""
    for side, other in ((first, second), (second, first)):
        if any(side.env.get(flag) == _YES for flag in FLAGS):
            new = {name for name in other.env if isinstance(side.env.get(name), Unbound | None)}
            _forget(other, side, new)


def _forget(ran: Branch, skipped: Branch, names: Collection[str] | None = None) -> None:
    """Let locals be anything, such as zero, in a branch after which they are not read."""
    for name, item in ran.env.items():
        same = skipped.env.get(name) is item or isinstance(item, Unbound)
        if same or name in (*FLAGS, DRAWS) or (names is not None and name not in names):
            continue
        parts = leaves(item)
        if holds_numbers(item):
            zeros = (zero(part.type) if isinstance(part, (Var, Const)) else part for part in parts)
            skipped.env[name] = regrown(item, zeros)
        elif all(isinstance(part, Static) or _is_whole(part) for part in parts):
            skipped.env[name] = item


def _is_whole(item: Item) -> bool:
    return isinstance(item, FieldRef) and item.view is None
