"""Sums of a parallel loop into one element: a local sum for each block, one atomic each.

An atomic for each iteration on the same element costs about 80 times as much on a CPU.
"""

from __future__ import annotations

from difftile.ir.nodes import (
    Block,
    Const,
    For,
    ParallelFor,
    Program,
    Stmt,
    Value,
    Var,
)
from difftile.ir.types import I32
from difftile.ir.walk import Cloner, with_tasks
from difftile.ops.build import Expr, ExprLike, OpBuilder
from difftile.passes.blocked_sum import LENGTH, blocked_sum
from difftile.passes.hoist_accumulations import (
    Totals,
    add_totals,
    added_always,
    invariant_in,
    summed,
)

_ZERO = Const(0, I32)


def reduce(program: Program, blocks: int, *, in_double: bool = True) -> Program:
    """Return the program with such sums blocked.

    Args:
        program: The program.
        blocks: The largest number of blocks that a parallel loop is cut into.
        in_double: Blocks are long, and the device has double precision for the sums of runs.
    """
    cut = _in_parts if in_double else _in_strides

    def blocked(loop: ParallelFor) -> list[Stmt]:
        if loop.ordered:
            return [loop]
        b = OpBuilder()
        b.span = loop.span
        stmts, totals = cut(b, loop, blocks)
        return stmts if totals else [loop]

    return with_tasks(program, blocked)


def _in_parts(b: OpBuilder, loop: ParallelFor, blocks: int) -> tuple[list[Stmt], Totals]:
    """Return a loop over blocks, each a part of every axis, added up in runs.

    Few rows leave blocks for the axis after them.
    """
    block_indices = tuple(Var("block", I32) for _ in loop.indices)
    sizes: list[Expr] = []
    counts: list[Value] = []
    left = b.expr(Const(blocks, I32))
    for start, stop in zip(loop.starts, loop.stops, strict=True):
        if counts:
            left = (left // b.expr(counts[-1]).max(1)).named("left")
        extent = b.expr(stop) - start
        size = extent.ceildiv(left).named("size").max(1).named("size")
        sizes.append(size)
        counts.append(((extent + size - 1) // size).named("blocks").value)
    axes: list[tuple[Var, Value, Value]] = []
    with b.region() as stmts:
        for index, block, start, stop, size in zip(
            loop.indices, block_indices, loop.starts, loop.stops, sizes, strict=True
        ):
            low = (start + b.expr(block) * size).named("low")
            axes.append((index, low.value, (low + size).min(stop).named("high").value))
        runs = _runs(b, axes, loop)
        nest, totals = summed(b, runs, invariant_in(runs), levels=len(loop.indices))
        b.append(nest)
        add_totals(b, totals, added_always(loop.body))
    starts = (_ZERO,) * len(block_indices)
    b.append(ParallelFor(block_indices, starts, tuple(counts), Block(tuple(stmts)), loop.span))
    return b.stmts, totals


def _runs(b: OpBuilder, axes: list[tuple[Var, Value, Value]], loop: ParallelFor) -> For:
    """Return loops over runs of a block, one for each axis, around those over iterations.

    A run has some iterations of a row, or some short rows.
    """
    *outer, (column, left, right) = axes

    def append(first: Value, last: Value, *rows: tuple[Var, Value, Value]) -> None:
        body = loop.body
        for index, start, stop in ((column, first, last), *rows):
            body = Block((For(index, start, stop, (), (), body, (), loop.span),))
        b.extend(body.stmts)

    if not outer:
        return blocked_sum(b, left, right, append)
    *outer, (row, low, high) = outer
    height = (LENGTH // (b.expr(right) - left)).max(1).named("height")

    def along_rows(first: Value, last: Value) -> None:
        def along_columns(left: Value, right: Value) -> None:
            append(left, right, (row, first, last))

        b.append(blocked_sum(b, left, right, along_columns))

    runs = blocked_sum(b, low, high, along_rows, height)
    for index, start, stop in reversed(outer):
        runs = For(index, start, stop, (), (), Block((runs,)), (), loop.span)
    return runs


def _in_strides(b: OpBuilder, loop: ParallelFor, blocks: int) -> tuple[list[Stmt], Totals]:
    """Return a loop over blocks, of which neighbours take neighbouring iterations of all axes.

    Threads of a GPU that run side by side then read memory side by side. They are a literal number,
    for which no task has to compute bounds, and carry their indices along instead of dividing.
    """
    block_index, step = Var("block", I32), Var("step", I32)
    extents = [
        (b.expr(stop) - start).max(0).named("extent")
        for start, stop in zip(loop.starts, loop.stops, strict=True)
    ]
    whole = extents[0]
    for extent in extents[1:]:
        whole = (whole * extent).named("whole")
    count = min(blocks, _literal_count(loop, blocks))
    with b.region() as stmts:
        # The last iteration, and not their number, since that may be the largest integer.
        steps = ((whole - 1 - block_index) // count + 1).named("steps").value
        axes = list(zip(loop.indices, loop.starts, extents, strict=True))
        carries: list[Var] = []
        if len(axes) == 1:
            inits, strides = [], []
        else:
            inits, strides = _divided(b, block_index, count, extents)
            carries = [Var(f"{index.name}_place", I32) for index in loop.indices]
        with b.region() as body:
            places: list[ExprLike] = list(carries)
            if not carries:
                places = [b.expr(block_index) + b.expr(step) * count]
            indices: dict[Var, Value] = {
                index: (b.expr(start) + place).named(index.name).value
                for (index, start, _), place in zip(axes, places, strict=True)
            }
            clone = Cloner(indices).block(loop.body)
        with b.region() as onward:
            moved = _moved(b, carries, strides, extents) if carries else []
        part = For(
            step,
            _ZERO,
            steps,
            tuple(carries),
            tuple(inits),
            Block((*body, *clone.stmts, *onward), tuple(moved)),
            tuple(Var(carry.name, I32) for carry in carries),
            loop.span,
        )
        nest, totals = summed(b, part, invariant_in(part))
        b.append(nest)
        add_totals(b, totals, added_always(loop.body))
    ends = Const(count, I32)
    b.append(ParallelFor((block_index,), (_ZERO,), (ends,), Block(tuple(stmts)), loop.span))
    return b.stmts, totals


def _literal_count(loop: ParallelFor, otherwise: int) -> int:
    """Return the number of iterations, at least 1, if all bounds are literals."""
    count = 1
    for start, stop in zip(loop.starts, loop.stops, strict=True):
        if not (isinstance(start, Const) and isinstance(stop, Const)):
            return otherwise
        count *= max(1, int(stop.value) - int(start.value))
    return count


def _divided(
    b: OpBuilder, first: Var, stride: int, extents: list[Expr]
) -> tuple[list[Value], list[Expr]]:
    """Return the position of an iteration along each axis, and the stride along each.

    Strides along all axes but the first are less a row, and so negative: sums stay in 32 bits.
    """
    left, across = b.expr(first), b.expr(Const(stride, I32))
    places: list[Value] = []
    strides: list[Expr] = []
    for extent in reversed(extents[1:]):
        size = extent.max(1).named("size")  # of an empty loop, too
        places.insert(0, (left % size).named("place").value)
        strides.insert(0, (across % size - size).named("stride"))
        left, across = (left // size).named("left"), (across // size).named("across")
    return [left.value, *places], [across, *strides]


def _moved(
    b: OpBuilder, places: list[Var], strides: list[Expr], extents: list[Expr]
) -> list[Value]:
    """Return positions a stride later."""
    moved: list[Value] = []
    carry = b.expr(_ZERO)
    for place, stride, extent in reversed(
        list(zip(places[1:], strides[1:], extents[1:], strict=True))
    ):
        at = (b.expr(place) + stride + carry).named("place")
        within = at < 0
        moved.insert(0, within.select(at + extent, at).named(place.name).value)
        carry = within.select(_ZERO, Const(1, I32)).named("carry")
    return [(b.expr(places[0]) + strides[0] + carry).named(places[0].name).value, *moved]
