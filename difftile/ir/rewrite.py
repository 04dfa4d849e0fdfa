"""One rewriter of blocks: a pass says what becomes of a statement, and the rewriter descends.

What a pass leaves as it is stays the same object, blocks and their facts included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from difftile.ir.build import Builder
from difftile.ir.nodes import Block, Program, Stmt, Var
from difftile.ir.walk import Substitution, rebuilt, with_blocks, with_operands

B = TypeVar("B", bound=Builder)


class Rewriter(Generic[B]):
    """Rewrites statements in the order of the text; a pass overrides `rule`.

    Args:
        b: Where statements are appended.

    Attributes:
        env: The values that stand for others from here on.
    """

    def __init__(self, b: B) -> None:
        self.b = b
        self.env = Substitution()

    def program(self, program: Program) -> Program:
        """Return a program rewritten."""
        return replace(program, body=self.block(program.body))

    def replaced(self, stmt: Stmt) -> list[Stmt]:
        """Return what one statement becomes."""
        with self.b.region() as stmts:
            self.stmt(stmt)
        return stmts

    def block(self, block: Block) -> Block:
        """Return a block rewritten."""
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.stmt(stmt)
        return rebuilt(block, stmts, self.env.all(block.results))

    def stmt(self, stmt: Stmt) -> None:
        """Append what a statement becomes."""
        self.rule(with_operands(stmt, self.env))

    def rule(self, stmt: Stmt) -> None:
        """Append what a statement becomes, whose operands are replaced."""
        self.keep(stmt)

    def keep(self, stmt: Stmt) -> None:
        """Append a statement with its regions rewritten."""
        self.b.append(with_blocks(stmt, self.block))

    def inline(self, block: Block, outs: Sequence[Var]) -> None:
        """Append what the statements of a block become, and let its results stand for `outs`."""
        for stmt in block.stmts:
            self.stmt(stmt)
        self.env.update(zip(outs, self.env.all(block.results), strict=True))
