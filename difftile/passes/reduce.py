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
from difftile.ops.build import Expr, OpBuilder
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

    Threads of a GPU that run side by side then read memory side by side.
    """
    block_index, step = Var("block", I32), Var("step", I32)
    extents = [
        (b.expr(stop) - start).max(0).named("extent")
        for start, stop in zip(loop.starts, loop.stops, strict=True)
    ]
    whole = extents[0]
    for extent in extents[1:]:
        whole = (whole * extent).named("whole")
    count = whole.min(blocks).named("blocks")
    with b.region() as stmts:
        left = whole + count - (b.expr(block_index) + 1)
        steps = (left // count).named("steps").value
        with b.region() as body:
            flat = (block_index + b.expr(step) * count).named("flat")
            indices: dict[Var, Value] = {}
            axes = list(zip(loop.indices, loop.starts, extents, strict=True))
            for k, (index, start, extent) in reversed(list(enumerate(axes))):
                along = flat % extent if k else flat
                indices[index] = (start + along).named(index.name).value
                flat = flat // extent if k else flat
            clone = Cloner(indices).block(loop.body)
        part = For(step, _ZERO, steps, (), (), Block((*body, *clone.stmts)), (), loop.span)
        nest, totals = summed(b, part, invariant_in(part))
        b.append(nest)
        add_totals(b, totals, added_always(loop.body))
    b.append(ParallelFor((block_index,), (_ZERO,), (count.value,), Block(tuple(stmts)), loop.span))
    return b.stmts, totals
