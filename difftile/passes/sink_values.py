"""Values computed once before parallel loops are computed inside them, by each iteration.

A device starts a task for statements before its loops. Sizes, numbers computed from them, and
elements of arrays that the program never writes cost less in the loops.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.facts import arrays_written, free_variables
from difftile.ir.nodes import Block, Let, Load, ParallelFor, Program, Size, Stmt, Var
from difftile.ir.walk import Cloner, operands, with_tasks
from difftile.passes.dce import dce


def sink_values(program: Program) -> Program:
    """Return the program with such values in the bodies of the loops that use them."""
    written = arrays_written(program.body)
    movable: dict[Var, Let | Load | Size] = {}
    for stmt in program.body.stmts:
        if isinstance(stmt, (Let, Size)) or (isinstance(stmt, Load) and stmt.array not in written):
            movable[stmt.out] = stmt

    def sunk(loop: ParallelFor) -> list[Stmt]:
        needed: dict[Var, None] = {}
        pending = list(free_variables(loop.body))
        while pending:
            variable = pending.pop()
            if variable in movable and variable not in needed:
                needed[variable] = None
                pending += [v for v in operands(movable[variable]) if isinstance(v, Var)]
        if not needed:
            return [loop]
        cloner = Cloner()
        ahead = [cloner.stmt(stmt) for out, stmt in movable.items() if out in needed]
        body = cloner.block(loop.body)
        return [replace(loop, body=Block((*ahead, *body.stmts), body.results))]

    return dce(with_tasks(program, sunk))
