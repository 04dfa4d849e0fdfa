"""Accumulations that are the only access of a program to their elements.

Where the gradient of a field is known to be zero, such an accumulation can be a store, which
spares reading the memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    For,
    If,
    ParallelFor,
    Program,
    Stmt,
    Var,
)
from difftile.ir.walk import array_of, defined_in, walk, with_blocks, with_tasks
from difftile.passes.affine import definitions_of, owns, place_of, ranges_of


def mark_single_writes(program: Program) -> Program:
    """Return the program with such accumulations marked; exclusive ones must be marked."""
    touched = Counter(array_of(stmt) for stmt in walk(program.body))
    single = {array for array, count in touched.items() if array is not None and count == 1}
    defs = definitions_of(program.body)

    def marked(task: ParallelFor) -> list[Stmt]:
        body = _SingleWrites(task, single, defs).block(task.body, task.indices)
        return [replace(task, body=body)]

    return with_tasks(program, marked)


class _SingleWrites:
    """Marks the accumulations of one parallel loop."""

    def __init__(self, task: ParallelFor, single: set[Array], defs: dict[Var, Stmt]) -> None:
        self.single = single
        self.defs = defs
        self.varying = defined_in(task.body) | set(task.indices)
        self.ranges = ranges_of(task.body)

    def block(self, block: Block, loops: tuple[Var, ...]) -> Block:
        """Return the block marked; `loops` are the indices of the loops around it."""
        return replace(block, stmts=tuple(self.stmt(stmt, loops) for stmt in block.stmts))

    def stmt(self, stmt: Stmt, loops: tuple[Var, ...]) -> Stmt:
        match stmt:
            case Accumulate(array) if array in self.single and self.differs(stmt, loops):
                return replace(stmt, single_write=True)
            case For(index):
                return replace(stmt, body=self.block(stmt.body, (*loops, index)))
            case If():
                return with_blocks(stmt, lambda inner: self.block(inner, loops))
            case _:
                return stmt

    def differs(self, stmt: Accumulate, loops: tuple[Var, ...]) -> bool:
        """Tell whether every iteration of all loops has an element of its own."""
        whole = len(stmt.index) == stmt.array.type.ndim and stmt.array.size is None
        if stmt.atomic or not whole:
            return False
        return owns([place_of(stmt, self.defs)], loops, self.varying, self.ranges)
