"""Accumulations of neighbouring threads into the same element, in step: one for all of them.

On a GPU most of the warps of 32 threads run iterations that differ in the last axis of a parallel
loop only; which do is seen when they run. Where that axis moves neither the element nor whether
the threads get there, they can add up their values first, which leaves one atomic of 32. Such
accumulations leave branches that single threads take, as sums that are zero where the branch was
not taken.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeGuard

from difftile.ir.dataflow import Dataflow
from difftile.ir.facts import arrays_written, defined_in
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Var,
    While,
)
from difftile.ir.types import F32, scalar_of
from difftile.ir.walk import walk, with_blocks, with_tasks
from difftile.ops.build import OpBuilder
from difftile.passes.hoist_accumulations import Totals, touched_otherwise, with_totals


def warp_aggregate(program: Program) -> Program:
    """Return the program with such accumulations marked."""

    def marked(loop: ParallelFor) -> list[Stmt]:
        if loop.ordered:
            return [loop]
        shared = {
            s.array
            for s in walk(loop.body)
            if isinstance(s, Accumulate) and s.atomic and scalar_of(s.array.type.element) == F32
        }
        shared = {a for a in shared if a.size is None and a not in touched_otherwise(loop.body)}
        if not shared:
            return [loop]
        return [replace(loop, body=_Aggregation(shared, Varying(loop)).block(loop.body))]

    return with_tasks(program, marked)


class Varying(Dataflow[bool]):
    """Finds the variables whose value may differ between the threads of a warp."""

    def __init__(self, loop: ParallelFor) -> None:
        super().__init__(False, control=True)
        self.written = arrays_written(loop.body)
        self.define(loop.indices[-1], True)
        self.block(loop.body, False)

    def transfer(self, stmt: Stmt, control: bool) -> bool | None:
        """Return whether the results may differ."""
        match stmt:
            case Let(args=args):
                return self.of(*args)
            case Load(array=array, index=index):
                return array.size is not None or array in self.written or self.of(*index)
            case While() | Combine():
                for variable in defined_in(Block((stmt,))):
                    self.define(variable, True)
                return True
            case _:
                return None


class _Aggregation:
    """Marks accumulations, and moves them out of branches that single threads of a warp take.

    Args:
        shared: The arrays that the loop only accumulates into.
        varying: The variables that differ between the threads.
    """

    def __init__(self, shared: Collection[Array], varying: Varying) -> None:
        self._shared = shared
        self._varying = varying

    def block(self, block: Block) -> Block:
        """Return a block that the threads of a warp run in step."""
        b = OpBuilder()
        for stmt in block.stmts:
            match stmt:
                case Accumulate() if self._is_common(stmt):
                    b.append(replace(stmt, aggregated=True))
                case If(cond) if self._varying.of(cond):
                    changed, totals = self._hoisted(b, stmt, set())
                    b.append(changed)
                    for (array, index), total in totals.items():
                        b.append(Accumulate(array, index, total, stmt.span, aggregated=True))
                case If():
                    b.append(with_blocks(stmt, self.block))
                case For() if not self._varying.of(stmt.start, stmt.stop):
                    b.append(with_blocks(stmt, self.block))
                case _:
                    b.append(stmt)
        return Block(tuple(b.stmts), block.results)

    def _is_common(self, stmt: Stmt) -> TypeGuard[Accumulate]:
        return (
            isinstance(stmt, Accumulate)
            and stmt.atomic
            and stmt.array in self._shared
            and not self._varying.of(*stmt.index)
        )

    def _hoisted(self, b: OpBuilder, stmt: If, inside: set[Var]) -> tuple[If, Totals]:
        """Return a branch without the accumulations that leave it, and their totals.

        Args:
            b: Where values are built.
            stmt: The branch.
            inside: The variables of the branches around it, which no place may depend on.
        """
        sides = [self._without(b, side, inside) for side in (stmt.then, stmt.orelse)]
        (then, of_then), (orelse, of_else) = sides
        return with_totals(replace(stmt, then=then, orelse=orelse), of_then, of_else)

    def _without(self, b: OpBuilder, block: Block, inside: set[Var]) -> tuple[Block, Totals]:
        inside = inside | defined_in(block)
        totals: Totals = {}
        with b.region() as stmts:
            for stmt in block.stmts:
                if isinstance(stmt, If):
                    changed, inner = self._hoisted(b, stmt, inside)
                    b.append(changed)
                    for place, total in inner.items():
                        b.add_to(totals, place, total)
                elif self._is_common(stmt) and inside.isdisjoint(stmt.index):
                    b.add_to(totals, (stmt.array, stmt.index), stmt.value)
                else:
                    b.append(stmt)
        return Block(tuple(stmts), block.results), totals
