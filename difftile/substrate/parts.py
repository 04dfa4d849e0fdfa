"""Statements that a thread runs before its iterations of a parallel loop.

A value computed before the loop would come from memory in every iteration, and take a task of its
own to get there; here it is in a register.
"""

from __future__ import annotations

from difftile.ir.facts import arrays_written, defined_in, free_variables, uses
from difftile.ir.nodes import Block, Const, Let, Load, ParallelFor, Size, Stmt, Var
from difftile.ir.walk import operands


def for_each_part(body: Block, *, loads: bool = False) -> tuple[Let | Load, ...]:
    """Return the ops on shapes and numbers before parallel loops that only the loops need.

    Args:
        body: The body of a program.
        loads: Return also loads of arrays that are never written (devices).
    """
    known = {*free_variables(body), *(s.out for s in body.stmts if isinstance(s, Size))}
    written = arrays_written(body)
    found: list[Let | Load] = []
    for stmt in body.stmts:
        if not isinstance(stmt, (Let, Load)):
            continue
        if isinstance(stmt, Load) and (not loads or stmt.array in written):
            continue
        if all(isinstance(a, Const) or a in known for a in operands(stmt)):
            known.add(stmt.out)
            found.append(stmt)
    outs = {stmt.out for stmt in found}
    elsewhere: set[Var] = set()
    for stmt in reversed(body.stmts):
        if isinstance(stmt, ParallelFor):
            continue
        if not (isinstance(stmt, (Let, Load)) and stmt.out in outs - elsewhere):
            elsewhere |= uses(Block((stmt,)))
    return tuple(stmt for stmt in found if stmt.out not in elsewhere)


def ahead_of(loop: ParallelFor, lets: tuple[Let | Load, ...]) -> tuple[list[Stmt], list[Stmt]]:
    """Return the statements before a thread's part of a loop, and the statements of each iteration.

    Args:
        loop: The loop.
        lets: The result of `for_each_part`.
    """
    written = arrays_written(loop.body)
    # Elements of fields without dimensions are there to be read even where no iteration runs.
    loads = [
        s for s in loop.body.stmts if isinstance(s, Load) and not s.index and s.array not in written
    ]
    return [*needed_by(loop, lets), *loads], [s for s in loop.body.stmts if s not in loads]


def needed_by(loop: ParallelFor, lets: tuple[Let | Load, ...]) -> list[Stmt]:
    """Return the ops before a loop that its iterations need, in order."""
    wanted = set(uses(Block((loop,))) - defined_in(loop.body))
    needed: list[Stmt] = []
    for let in reversed(lets):
        if let.out in wanted:
            needed.append(let)
            wanted.update(v for v in operands(let) if isinstance(v, Var))
    return needed[::-1]
