"""Accumulations that neighbouring threads make into the same element, in step: one for all of them.

On a GPU most of the warps of 32 threads run iterations that differ in the last axis of a parallel
loop alone; which do is seen when they run. Where that axis moves neither the element nor whether
the threads get there, they can add up what they have first, which leaves one atomic of 32. Such
accumulations leave the branches that threads take by themselves, as sums that are zero where the
branch was not taken.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeGuard

from difftile.ir.nodes import (
    Accumulate,
    Block,
    Combine,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import F32, scalar_of
from difftile.ir.walk import arrays_written, bound, defined_in, definitions, regions, walk
from difftile.ops.build import OpBuilder
from difftile.passes.hoist_accumulations import Place, Totals, touched_otherwise, with_totals


def warp_aggregate(program: Program) -> Program:
    """Return the program with such accumulations marked."""
    stmts = (
        _marked(stmt) if isinstance(stmt, ParallelFor) else stmt for stmt in program.body.stmts
    )
    return replace(program, body=replace(program.body, stmts=tuple(stmts)))


def _marked(loop: ParallelFor) -> ParallelFor:
    shared = {
        s.array
        for s in walk(loop.body)
        if isinstance(s, Accumulate) and s.atomic and scalar_of(s.array.type.element) == F32
    }
    shared = {a for a in shared if a.size is None and not touched_otherwise(a, loop.body)}
    if not shared:
        return loop
    return replace(loop, body=_Lifting(shared, _varying(loop)).block(loop.body))


def _varying(loop: ParallelFor) -> set[Var]:
    """Return the variables whose value may differ between the threads of a warp."""
    written = arrays_written(loop.body)
    varying = {loop.indices[-1]}

    def any_of(values: Collection[Value]) -> bool:
        return any(value in varying for value in values if isinstance(value, Var))

    def visit(block: Block) -> None:
        for stmt in block.stmts:
            outs: tuple[Var, ...] = ()
            match stmt:
                case Let(out, _, args) if any_of(args):
                    outs = (out,)
                case Load(out, array, index):
                    if array.size is not None or array in written or any_of(index):
                        outs = (out,)
                case Size():
                    pass
                case If(cond, then, orelse):
                    visit(then)
                    visit(orelse)
                    results = zip(stmt.outs, then.results, orelse.results, strict=True)
                    outs = tuple([o for o, a, c in results if any_of((cond, a, c))])
                case For():
                    _join(stmt.carries, stmt.inits)
                    while True:
                        before = len(varying)
                        if any_of((stmt.start, stmt.stop)):
                            varying.update((stmt.index, *stmt.carries))
                        visit(stmt.body)
                        _join(stmt.carries, stmt.body.results)
                        if len(varying) == before:
                            break
                    outs = tuple(
                        [o for o, c in zip(stmt.outs, stmt.carries, strict=True) if c in varying]
                    )
                case While() | Combine():
                    inner = (v for region in regions(stmt) for v in defined_in(region))
                    outs = (*definitions(stmt), *bound(stmt), *inner)
                case _:
                    pass
            varying.update(outs)

    def _join(carries: tuple[Var, ...], values: tuple[Value, ...]) -> None:
        varying.update(c for c, v in zip(carries, values, strict=True) if any_of((v,)))

    visit(loop.body)
    return varying


class _Lifting:
    """Moves accumulations out of branches that threads of a warp take by themselves, and marks.

    Args:
        shared: The arrays that the loop does nothing with but accumulate into them.
        varying: The variables that differ between the threads.
    """

    def __init__(self, shared: Collection[object], varying: set[Var]) -> None:
        self._shared = shared
        self._varying = varying

    def block(self, block: Block) -> Block:
        """Return a block that the threads of a warp run in step."""
        b = OpBuilder()
        for stmt in block.stmts:
            match stmt:
                case Accumulate() if self._is_common(stmt):
                    b.append(replace(stmt, aggregated=True))
                case If(cond) if cond in self._varying:
                    changed, totals = self._out_of(b, stmt, set())
                    b.append(changed)
                    for (array, index), total in totals.items():
                        b.append(Accumulate(array, index, total, stmt.span, aggregated=True))
                case If():
                    b.append(
                        replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse))
                    )
                case For() if not self._vary((stmt.start, stmt.stop)):
                    b.append(replace(stmt, body=self.block(stmt.body)))
                case _:
                    b.append(stmt)
        return Block(tuple(b.stmts), block.results)

    def _vary(self, values: Collection[Value]) -> bool:
        return any(value in self._varying for value in values if isinstance(value, Var))

    def _is_common(self, stmt: Stmt) -> TypeGuard[Accumulate]:
        return (
            isinstance(stmt, Accumulate)
            and stmt.atomic
            and stmt.array in self._shared
            and not self._vary(stmt.index)
        )

    def _out_of(self, b: OpBuilder, stmt: If, inside: set[Var]) -> tuple[If, Totals]:
        """Return a branch without the accumulations that leave it, and what they add up to.

        Args:
            b: Where values are built.
            stmt: The branch.
            inside: The variables of the branches around it, which no place may depend on.
        """
        then, of_then = self._without(b, stmt.then, inside)
        orelse, of_else = self._without(b, stmt.orelse, inside)
        return with_totals(replace(stmt, then=then, orelse=orelse), of_then, of_else)

    def _without(self, b: OpBuilder, block: Block, inside: set[Var]) -> tuple[Block, Totals]:
        inside = inside | defined_in(block)
        totals: Totals = {}
        with b.region() as stmts:

            def leave(place: Place, value: Value) -> None:
                known = totals.get(place)
                totals[place] = value if known is None else b.call("add", known, value)

            for stmt in block.stmts:
                if isinstance(stmt, If):
                    changed, inner = self._out_of(b, stmt, inside)
                    b.append(changed)
                    for place, total in inner.items():
                        leave(place, total)
                elif self._is_common(stmt) and not inside.intersection(_index_of(stmt)):
                    leave((stmt.array, stmt.index), stmt.value)
                else:
                    b.append(stmt)
        return Block(tuple(stmts), block.results), totals


def _index_of(stmt: Accumulate) -> list[Var]:
    return [i for i in stmt.index if isinstance(i, Var)]
