"""Sums of a parallel loop into one element: a local sum for each block, one atomic each.

An atomic for each iteration on the same element costs about 80 times as much on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

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
from difftile.ir.types import I32, scalar_of
from difftile.ir.walk import Cloner, defined_in
from difftile.ops.build import OpBuilder
from difftile.passes.blocked_sum import blocked_sum
from difftile.passes.hoist_accumulations import Place, Totals, summed, touched_otherwise

_ZERO, _ONE = Const(0, I32), Const(1, I32)


def reduce(program: Program, blocks: int, *, in_double: bool = True) -> Program:
    """Return the program with such sums blocked.

    Args:
        program: The program.
        blocks: The largest number of blocks that a parallel loop is cut into.
        in_double: Blocks are long, and the device has double precision for the sums of runs.
    """
    stmts: list[Stmt] = []
    for stmt in program.body.stmts:
        stmts += (
            _blocked(stmt, blocks, in_double=in_double) if isinstance(stmt, ParallelFor) else [stmt]
        )
    return replace(program, body=replace(program.body, stmts=tuple(stmts)))


def _blocked(loop: ParallelFor, blocks: int, *, in_double: bool) -> list[Stmt]:
    b = OpBuilder()
    b.span = loop.span
    cut = _in_parts if in_double else _in_strides
    stmts, totals = cut(b, loop, blocks)
    return stmts if totals else [loop]


def _leaves(loop: For) -> Callable[[Place], bool]:
    """Return which places are the same in all iterations of a loop, and only added to."""
    inside = defined_in(Block((loop,)))

    def leaves(place: Place) -> bool:
        array, index = place
        varies = any(i in inside for i in index if isinstance(i, Var))
        return array.size is None and not varies and not touched_otherwise(array, loop.body)

    return leaves


def _in_parts(b: OpBuilder, loop: ParallelFor, blocks: int) -> tuple[list[Stmt], Totals]:
    """Return a loop over blocks, each a part of the first axis, added up in runs."""
    block_index = Var("block", I32)
    start, stop = loop.starts[0], loop.stops[0]
    extent = b.call("sub", stop, start)
    size = b.call(
        "floordiv", b.call("add", extent, Const(blocks - 1, I32)), Const(blocks, I32), name="size"
    )
    size = b.call("max", size, Const(1, I32), name="size")
    count = b.call(
        "floordiv", b.call("sub", b.call("add", extent, size), Const(1, I32)), size, name="blocks"
    )
    with b.region() as stmts:
        low = b.call("add", start, b.call("mul", block_index, size), name="low")
        high = b.call("min", b.call("add", low, size), stop, name="high")
        part = replace(loop, starts=(low, *loop.starts[1:]), stops=(high, *loop.stops[1:]))
        runs = _in_runs(b, part)
        nest, totals = summed(b, runs, _leaves(runs), levels=len(loop.indices))
        b.append(nest)
        _add(b, totals)
    b.append(ParallelFor((block_index,), (_ZERO,), (count,), Block(tuple(stmts)), loop.span))
    return b.stmts, totals


def _in_strides(b: OpBuilder, loop: ParallelFor, blocks: int) -> tuple[list[Stmt], Totals]:
    """Return a loop over blocks, of which neighbours take neighbouring iterations of all axes.

    Threads of a GPU that run side by side then read memory side by side.
    """
    block_index, step = Var("block", I32), Var("step", I32)
    extents: list[Value] = []
    for start, stop in zip(loop.starts, loop.stops, strict=True):
        extents.append(b.call("max", b.call("sub", stop, start), _ZERO, name="extent"))
    whole = extents[0]
    for extent in extents[1:]:
        whole = b.call("mul", whole, extent, name="whole")
    count = b.call("min", whole, Const(blocks, I32), name="blocks")
    with b.region() as stmts:
        left = b.call("sub", b.call("add", whole, count), b.call("add", block_index, _ONE))
        steps = b.call("floordiv", left, count, name="steps")
        with b.region() as body:
            flat = b.call("add", block_index, b.call("mul", step, count), name="flat")
            indices: dict[Var, Value] = {}
            axes = list(zip(loop.indices, loop.starts, extents, strict=True))
            for k, (index, start, extent) in reversed(list(enumerate(axes))):
                along = b.call("mod", flat, extent) if k else flat
                indices[index] = b.call("add", start, along, name=index.name)
                flat = b.call("floordiv", flat, extent) if k else flat
            clone = Cloner(indices).block(loop.body)
        part = For(step, _ZERO, steps, (), (), Block((*body, *clone.stmts)), (), loop.span)
        nest, totals = summed(b, part, _leaves(part))
        b.append(nest)
        _add(b, totals)
    b.append(ParallelFor((block_index,), (_ZERO,), (count,), Block(tuple(stmts)), loop.span))
    return b.stmts, totals


def _add(b: OpBuilder, totals: Totals) -> None:
    for (array, index), total in totals.items():
        b.accumulate(array, index, b.cast(total, scalar_of(array.type.element)))


def _in_runs(b: OpBuilder, loop: ParallelFor) -> For:
    """Return the loop as serial ones, the innermost in runs."""
    *outer, (index, start, stop) = zip(loop.indices, loop.starts, loop.stops, strict=True)

    def run(first: Value, last: Value) -> None:
        b.append(For(index, first, last, (), (), loop.body, (), loop.span))

    nest = blocked_sum(b, start, stop, run)
    for index_, low, high in reversed(outer):
        nest = For(index_, low, high, (), (), Block((nest,)), (), loop.span)
    return nest
