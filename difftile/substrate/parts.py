"""Statements that a thread runs before its part of a parallel loop, to have values in registers.

A value computed before the loop would come from memory in every iteration, and take a task of its
own to get there.
"""

from __future__ import annotations

from difftile.ir.nodes import Block, Const, Let, Load, ParallelFor, Size, Stmt, Var
from difftile.ir.walk import arrays_written, defined_in, free_variables, operands, uses

_FOR_FREE = ("vec", "mat")


def for_each_part(body: Block, *, for_free: bool = False) -> tuple[Let, ...]:
    """Return the ops on shapes and numbers before parallel loops that only the loops need.

    Args:
        body: The body of a program.
        for_free: Return only those that compute nothing, so that each iteration may run them.
    """
    known = free_variables(body) | {s.out for s in body.stmts if isinstance(s, Size)}
    found: list[Let] = []
    for stmt in body.stmts:
        if not isinstance(stmt, Let) or (for_free and stmt.op not in _FOR_FREE):
            continue
        if all(isinstance(a, Const) or a in known for a in stmt.args):
            known.add(stmt.out)
            found.append(stmt)
    outs = {let.out for let in found}
    elsewhere: set[Var] = set()
    for stmt in reversed(body.stmts):
        if isinstance(stmt, ParallelFor):
            continue
        if not (isinstance(stmt, Let) and stmt.out in outs - elsewhere):
            elsewhere |= uses(Block((stmt,)))
    return tuple(let for let in found if let.out not in elsewhere)


def ahead_of(loop: ParallelFor, lets: tuple[Let, ...]) -> tuple[list[Stmt], list[Stmt]]:
    """Return the statements before a thread's part of a loop, and the statements of each iteration.

    Args:
        loop: The loop.
        lets: Ops on shapes and numbers before it.
    """
    written = arrays_written(loop.body)
    # Elements of fields without dimensions are there to be read even where no iteration runs.
    loads = [
        s for s in loop.body.stmts if isinstance(s, Load) and not s.index and s.array not in written
    ]
    return [*needed_by(loop, lets), *loads], [s for s in loop.body.stmts if s not in loads]


def needed_by(loop: ParallelFor, lets: tuple[Let, ...]) -> list[Stmt]:
    """Return the ops before a loop that its iterations need, in order."""
    wanted = uses(Block((loop,))) - defined_in(loop.body)
    needed: list[Stmt] = []
    for let in reversed(lets):
        if let.out in wanted:
            needed.append(let)
            wanted.update(v for v in operands(let) if isinstance(v, Var))
    return needed[::-1]
