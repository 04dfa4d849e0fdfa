"""Sums of a parallel loop into one element: a local sum for each block, one atomic each.

An atomic for each iteration on the same element costs about 80 times as much on a CPU.
"""

from __future__ import annotations

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
from difftile.ir.walk import defined_in
from difftile.ops.build import OpBuilder
from difftile.passes.runs import in_runs
from difftile.passes.separate import serial
from difftile.passes.sink import Place, summed, touched_otherwise


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
    inside = defined_in(loop.body) | set(loop.indices)

    def leaves(place: Place) -> bool:
        array, index = place
        varies = any(i in inside for i in index if isinstance(i, Var))
        return array.size is None and not varies and not touched_otherwise(array, loop.body)

    b = OpBuilder()
    b.span = loop.span
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
        if in_double:
            nest, totals = summed(b, _in_runs(b, part), leaves, levels=len(loop.indices))
        else:
            nest, totals = summed(b, serial(part), leaves)
        b.append(nest)
        for (array, index), total in totals.items():
            b.accumulate(array, index, b.cast(total, scalar_of(array.type.element)))
    if not totals:
        return [loop]
    body = Block(tuple(stmts))
    b.append(ParallelFor((block_index,), (Const(0, I32),), (count,), body, loop.span))
    return b.stmts


def _in_runs(b: OpBuilder, loop: ParallelFor) -> For:
    """Return the loop as serial ones, the innermost in runs."""
    *outer, (index, start, stop) = zip(loop.indices, loop.starts, loop.stops, strict=True)

    def run(first: Value, last: Value) -> None:
        b.append(For(index, first, last, (), (), loop.body, (), loop.span))

    nest = in_runs(b, start, stop, run)
    for index_, low, high in reversed(outer):
        nest = For(index_, low, high, (), (), Block((nest,)), (), loop.span)
    return nest
