"""Carries that a reverse loop knows without having kept them: counters, and flags that ended it.

`k += 1` is worth its start plus the number of the iteration. A flag that the test of a `while`
asks for is unset in every iteration that runs.
"""

from __future__ import annotations

from difftile.ir.nodes import Block, Const, For, If, Let, Stmt, Value, Var, While
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import Substitution, definitions, keep_carries, substitute
from difftile.ops.build import OpBuilder


def without_induction(loop: For, unset: frozenset[Var]) -> tuple[For, tuple[int, ...]]:
    """Return the loop without such carries, and the positions of the others.

    Args:
        loop: A loop of the primal.
        unset: Carries that are false at the start of each iteration.
    """
    defs = {v: stmt for stmt in loop.body.stmts for v in definitions(stmt)}
    b = OpBuilder()
    done = b.expr(loop.index) - loop.start
    known = Substitution()
    left: list[int] = []
    for k, (carry, init, result) in enumerate(
        zip(loop.carries, loop.inits, loop.body.results, strict=True)
    ):
        step = 0 if result is carry else _step(carry, result, defs)
        if carry in unset:
            known[carry] = Const(False, BOOL)
        elif step is not None:
            known[carry] = (init + done * step).named(carry.name).value if step else init
        else:
            left.append(k)
    if not known:
        return loop, tuple(left)

    stmts = (*b.stmts, *(substitute(stmt, known) for stmt in loop.body.stmts))
    results = known.all(loop.body.results[k] for k in left)
    return keep_carries(loop, left, Block(stmts, results)), tuple(left)


def _step(carry: Var, result: Value, defs: dict[Var, Stmt]) -> int | None:
    """Return by how much a carry grows each iteration, if that is a literal integer."""
    stmt = defs.get(result) if isinstance(result, Var) else None
    if carry.type != I32 or not isinstance(stmt, Let) or stmt.op not in ("add", "sub"):
        return None
    first, second = stmt.args
    if first is carry and isinstance(second, Const):
        return int(second.value) if stmt.op == "add" else -int(second.value)
    if second is carry and isinstance(first, Const) and stmt.op == "add":
        return int(first.value)
    return None


def unset_while(loop: While) -> frozenset[Var]:
    """Return the carries that are false whenever the body of a `while` runs."""
    found: set[Var] = set()
    _assume(loop.cond.results[0], True, loop.cond, found)
    return frozenset(found & set(loop.carries))


def _assume(value: Value, holds: bool, block: Block, found: set[Var]) -> None:
    """Collect the variables that are false if a value computed in a block is as assumed."""
    if not isinstance(value, Var):
        return
    if not holds:
        found.add(value)
    for stmt in block.stmts:
        match stmt:
            case Let(out, "not", (arg,)) if out is value:
                _assume(arg, not holds, block, found)
            case Let(out, "and" | "or" as op, args) if out is value and holds == (op == "and"):
                for arg in args:
                    _assume(arg, holds, block, found)
            case Let(out, "select", (cond, one, Const(False))) if out is value and holds:
                _assume(cond, True, block, found)
                _assume(one, True, block, found)
            case If(cond, then, orelse, outs) if value in outs and holds:
                k = outs.index(value)
                if orelse.results[k] == Const(False, BOOL):
                    _assume(cond, True, block, found)
                    _assume(then.results[k], True, then, found)
            case _:
                pass
