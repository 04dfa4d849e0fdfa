"""Removal of `stop_grad`, which has no effect once derivatives are made."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Block, Let, Program, Stmt
from difftile.ir.walk import Substitution, with_blocks, with_operands


def drop_stop_grad(program: Program) -> Program:
    """Return the program with each `stop_grad` replaced by its argument."""
    arguments = Substitution()

    def without(block: Block) -> Block:
        stmts: list[Stmt] = []
        for before in block.stmts:
            stmt = with_blocks(with_operands(before, arguments), without)
            if isinstance(stmt, Let) and stmt.op == "stop_grad":
                arguments[stmt.out] = stmt.args[0]
            else:
                stmts.append(stmt)
        return Block(tuple(stmts), arguments.all(block.results))

    return replace(program, body=without(program.body))
