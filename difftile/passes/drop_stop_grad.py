"""Marks that cut gradients go: once derivatives are made they say nothing more."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Block, Let, Program, Stmt, Value, Var
from difftile.ir.walk import with_blocks, with_operands


def drop_stop_grad(program: Program) -> Program:
    """Return the program with each `stop_grad` replaced by its argument."""
    arguments: dict[Var, Value] = {}

    def uncut_value(value: Value) -> Value:
        return arguments.get(value, value) if isinstance(value, Var) else value

    def uncut_block(block: Block) -> Block:
        stmts: list[Stmt] = []
        for before in block.stmts:
            stmt = with_blocks(with_operands(before, uncut_value), uncut_block)
            if isinstance(stmt, Let) and stmt.op == "stop_grad":
                arguments[stmt.out] = stmt.args[0]
            else:
                stmts.append(stmt)
        return Block(tuple(stmts), tuple(uncut_value(result) for result in block.results))

    return replace(program, body=uncut_block(program.body))
