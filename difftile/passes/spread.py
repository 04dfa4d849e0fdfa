"""Parallel loops with few iterations, or few rows, spread over all threads.

`for i: for j: total += ...` keeps no more threads busy than there are iterations `i`. A loop ahead
adds up each piece of a sum, in runs, and stores it; the loop itself adds up the pieces, in order,
so that the sum is the same in every run. In `for i, j`, rows are cut into blocks, which all passes
keep.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from difftile.ir.facts import arrays_written, has_effects, uses
from difftile.ir.nodes import (
    Alloc,
    Array,
    Block,
    Const,
    For,
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
from difftile.ir.types import F32, F64, I32, field_type, scalar_of
from difftile.ir.walk import Cloner, add_carries, array_of, definitions, is_innermost, walk
from difftile.ops.build import Expr, OpBuilder, zero
from difftile.passes.blocked_sum import blocked_sum, wide, wide_type
from difftile.passes.reductions import reductions
from difftile.passes.split_index_sets import in_blocks

_ZERO = Const(0, I32)


def spread(
    program: Program, loops: Collection[int], parts: int
) -> tuple[Program, tuple[Array, ...]]:
    """Return the program with some of its parallel loops spread.

    Args:
        program: A finished program.
        loops: The numbers of the loops, among the parallel ones of the program. Those with sums
            have no more than `parts` iterations.
        parts: How many pieces the sums of a loop have together.

    Returns:
        The program, and the memory of the sums of pieces: temps of at least `parts` elements.
    """
    b = OpBuilder()
    made: list[Array] = []
    number = 0
    for stmt in program.body.stmts:
        b.span = stmt.span if isinstance(stmt, ParallelFor) else None
        if not isinstance(stmt, ParallelFor) or number not in loops:
            b.append(stmt)
        elif has_long_sums(stmt):
            split = _SumSplitter(b, stmt, parts)
            b.append(replace(stmt, body=Block(tuple(split.stmts()))))
            made += split.made
        elif len(stmt.indices) > 1 and is_innermost(stmt):
            b.extend(in_blocks(stmt, lambda row: [row]))
        else:
            b.append(stmt)
        number += isinstance(stmt, ParallelFor)
    body = replace(program.body, stmts=tuple(b.stmts))
    return replace(program, body=body, temps=(*program.temps, *made)), tuple(made)


def may_spread(loop: ParallelFor) -> bool:
    """Tell whether anything can be done for a parallel loop."""
    return has_long_sums(loop) or (len(loop.indices) > 1 and is_innermost(loop))


def has_long_sums(loop: ParallelFor) -> bool:
    """Tell whether a parallel loop has sums that can be split."""
    return any(_split_at(loop, k) is not None for k in range(len(loop.body.stmts)))


def _split_at(loop: ParallelFor, place: int, pure: Sequence[Stmt] = ()) -> list[Stmt] | None:
    """Return the statements ahead of a sum inside a parallel loop that the sum needs.

    Args:
        loop: The parallel loop.
        place: The place of the sum among its statements.
        pure: Loops without effects that may be run again.
    """
    total = loop.body.stmts[place]
    if not isinstance(total, For) or not total.carries or not _only_adds(total):
        return None
    if has_effects(total.body) or any(isinstance(s, (Alloc, While)) for s in walk(total.body)):
        return None
    needed: list[Stmt] = []
    wanted = uses(Block((total,)))
    for stmt in reversed(loop.body.stmts[:place]):
        if wanted.isdisjoint(definitions(stmt)):
            continue
        if not isinstance(stmt, (Let, Size, Load)) and not any(stmt is one for one in pure):
            return None
        needed.append(stmt)
        wanted |= uses(Block((stmt,)))
    written = arrays_written(loop.body)
    for stmt in walk(Block((*needed, total))):
        array = array_of(stmt)
        if array is not None and (array in written or array.size is not None):
            return None
    return needed[::-1]


def _only_adds(loop: For) -> bool:
    """Tell whether a loop only adds to the values that it carries."""
    if any(scalar_of(carry.type) not in (F32, F64) for carry in loop.carries):
        return False
    return set(reductions(loop) or ("",)) == {"add"}


def _in_runs(b: OpBuilder, loop: For, low: Value, high: Value) -> tuple[For, list[Var]]:
    """Return a loop over the runs of a piece of a sum, and the sums."""
    zeros = tuple(zero(carry.type) for carry in loop.carries)

    def append(first: Value, last: Value) -> None:
        b.append(replace(loop, start=first, stop=last, inits=zeros))

    runs = blocked_sum(b, low, high, append)
    carries, outs = ([Var(c.name, wide_type(c.type)) for c in loop.carries] for _ in range(2))
    with b.region() as adds:
        results = [
            b.call("add", carry, wide(b, out))
            for carry, out in zip(carries, loop.outs, strict=True)
        ]
    body = Block((*runs.body.stmts, *adds), tuple(results))
    inits = [zero(carry.type) for carry in carries]
    return add_carries(runs, carries, inits, outs, body), outs


class _SumSplitter:
    """Splits the sums of one loop, first to last: the later ones may need the earlier.

    Args:
        b: Where the loops over pieces are appended.
        loop: The loop.
        parts: How many pieces all its iterations have together.
    """

    def __init__(self, b: OpBuilder, loop: ParallelFor, parts: int) -> None:
        self.b = b
        self.loop = loop
        self.parts = parts
        self.made: list[Array] = []

    def stmts(self) -> list[Stmt]:
        """Append the loops over pieces, and return the statements of the loop itself."""
        b = self.b
        rows = b.expr(Const(1, I32))
        for start, stop in zip(self.loop.starts, self.loop.stops, strict=True):
            rows = rows * (b.expr(stop) - start).max(0)
        pieces = (self.parts // rows.max(1)).max(1).named("pieces")
        totals: list[Stmt] = []
        place = 0
        while place < len(self.loop.body.stmts):
            needed = _split_at(self.loop, place, totals)
            if needed is not None:
                one = self.loop.body.stmts[place]
                assert isinstance(one, For)
                partial = [
                    Array(f"{carry.name}_pieces", field_type(wide_type(carry.type), 1))
                    for carry in one.carries
                ]
                self.made += partial
                self._append_pieces(one, needed, partial, pieces)
                instead = self._total(one, partial, pieces)
                totals += instead
                before, after = self.loop.body.stmts[:place], self.loop.body.stmts[place + 1 :]
                body = Block((*before, *instead, *after))
                self.loop = replace(self.loop, body=body)
                place += len(instead)
            place += 1
        return list(self.loop.body.stmts)

    def _row(self, indices: Sequence[Value], pieces: Expr) -> Expr:
        """Return the place of the first piece of an iteration."""
        b = self.b
        flat = b.expr(_ZERO)
        for index, start, stop in zip(indices, self.loop.starts, self.loop.stops, strict=True):
            flat = flat * (b.expr(stop) - start) + (b.expr(index) - start)
        return flat * pieces

    def _append_pieces(
        self, one: For, needed: list[Stmt], partial: list[Array], pieces: Expr
    ) -> None:
        """Append the loop that adds up the pieces of a sum."""
        b, loop, cloner = self.b, self.loop, Cloner()
        indices = tuple(cloner.fresh(index) for index in loop.indices)
        piece = Var("piece", I32)
        with b.region() as body:
            b.extend([cloner.stmt(stmt) for stmt in needed])
            copy = cloner.stmt(one)
            assert isinstance(copy, For)
            size = (b.expr(copy.stop) - copy.start).ceildiv(pieces).max(1).named("size")
            low = (copy.start + b.expr(piece) * size).named("low")
            high = (low + size).min(copy.stop).named("high")
            runs, totals = _in_runs(b, copy, low.value, high.value)
            b.append(runs)
            place = (self._row(indices, pieces) + piece).value
            for array, total in zip(partial, totals, strict=True):
                b.store(array, (place,), total)
        starts, stops = (*loop.starts, _ZERO), (*loop.stops, pieces.value)
        b.append(ParallelFor((*indices, piece), starts, stops, Block(tuple(body)), loop.span))

    def _total(self, one: For, partial: list[Array], pieces: Expr) -> list[Stmt]:
        """Return the statements that add up the pieces in place of the sum."""
        b = self.b
        piece = Var("piece", I32)
        with b.region() as stmts:
            b.span = one.span
            row = self._row(self.loop.indices, pieces)
            carries = tuple(Var(carry.name, wide_type(carry.type)) for carry in one.carries)
            outs = tuple(
                Var(out.name, type_) if (type_ := wide_type(out.type)) != out.type else out
                for out in one.outs
            )
            inits = tuple(wide(b, init) for init in one.inits)
            with b.region() as body:
                place = (row + piece).value
                results = tuple(
                    b.call("add", carry, b.load(array, (place,)))
                    for carry, array in zip(carries, partial, strict=True)
                )
            block = Block(tuple(body), results)
            b.append(For(piece, _ZERO, pieces.value, carries, inits, block, outs, one.span))
            b.extend(
                Let(out, "cast", (total,), one.span)
                for out, total in zip(one.outs, outs, strict=True)
                if out is not total
            )
        return stmts
