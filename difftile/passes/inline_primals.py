"""Bodies with rules as plain code: rules are for derivatives, which exist by then."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Block, Program, Ruled, Stmt
from difftile.ir.walk import Substitution, walk, with_blocks, with_operands


def inline_primals(program: Program) -> Program:
    """Return the program with the bodies of `Ruled` statements in their place."""
    if not any(isinstance(stmt, Ruled) for stmt in walk(program.body)):
        return program
    env = Substitution()

    def stmts(block: Block) -> list[Stmt]:
        inlined: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, Ruled):
                inlined += stmts(stmt.body)
                env.update(zip(stmt.outs, env.all(stmt.body.results), strict=True))
            else:
                inlined.append(with_blocks(with_operands(stmt, env), inner))
        return inlined

    def inner(block: Block) -> Block:
        return Block(tuple(stmts(block)), env.all(block.results))

    return replace(program, body=inner(program.body))
