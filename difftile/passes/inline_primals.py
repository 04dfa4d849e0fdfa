"""What is emitted of a body with rules: the body alone."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Block, Program, Ruled, Stmt, Value, Var
from difftile.ir.walk import walk, with_blocks, with_operands


def inline_primals(program: Program) -> Program:
    """Return the program with the bodies of `Ruled` statements in their place."""
    if not any(isinstance(stmt, Ruled) for stmt in walk(program.body)):
        return program
    return replace(program, body=_Opener().block(program.body))


class _Opener:
    def __init__(self) -> None:
        self.env: dict[Var, Value] = {}

    def value(self, value: Value) -> Value:
        return self.env.get(value, value) if isinstance(value, Var) else value

    def block(self, block: Block) -> Block:
        stmts = self.stmts(block)
        return Block(tuple(stmts), tuple(self.value(result) for result in block.results))

    def stmts(self, block: Block) -> list[Stmt]:
        opened: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, Ruled):
                opened += self.stmts(stmt.body)
                results = (self.value(result) for result in stmt.body.results)
                self.env |= dict(zip(stmt.outs, results, strict=True))
            else:
                opened.append(with_blocks(with_operands(stmt, self.value), self.block))
        return opened
