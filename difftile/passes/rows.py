"""Sums that iterations share, in one order on devices: each iteration adds into a row of its own.

A device runs too many threads for a copy of the target each. Of an ordered loop each iteration
clears a row, one number for each element that it may add to, and adds into it without atomics;
rows of neighbouring iterations are beside each other, so that threads write memory side by side.
Two more loops add up the rows: each element's in `STRIPES` sums, and then these, in fixed order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Array,
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
from difftile.ir.walk import with_blocks
from difftile.ops.build import Expr, OpBuilder
from difftile.passes.privatise import Scatter
from difftile.records import dataclass

STRIPES = 256  # sums of an element's rows

_ZERO, _ONE = Const(0, I32), Const(1, I32)


@dataclass(frozen=True, slots=True)
class RowMemory:
    """The memory for the rows of a target.

    Args:
        array: The rows: of the first element for all iterations, then of the second, and so on.
        stripes: The sums of each element, in the same order.
        scatter: The sums.
    """

    array: Array
    stripes: Array
    scatter: Scatter


def in_rows(
    program: Program, scatters: Collection[Scatter]
) -> tuple[Program, tuple[RowMemory, ...]]:
    """Return the program with rows for some sums of ordered loops, and the memory they need.

    Args:
        program: A program in its last form. Its ordered loops are in their order.
        scatters: The sums, all "add", by targets of ordered loops.
    """
    b = OpBuilder()
    made: list[RowMemory] = []
    wanted = {(scatter.loop, scatter.target): scatter for scatter in scatters}
    number = 0
    for stmt in program.body.stmts:
        b.span = stmt.span
        if not isinstance(stmt, ParallelFor):
            b.append(stmt)
            continue
        here = [scatter for (loop, _), scatter in wanted.items() if loop == number]
        number += 1
        if not here or stmt.by_warps:
            b.append(stmt)
            continue
        rows = [_Summed.of(b, scatter) for scatter in here]
        _append_loop(b, stmt, rows)
        made += [one.rows for one in rows]
    temps = (*program.temps, *(array for one in made for array in (one.array, one.stripes)))
    return replace(program, body=replace(program.body, stmts=tuple(b.stmts)), temps=temps), tuple(
        made
    )


@dataclass(frozen=True, slots=True)
class _Summed:
    """A target with its rows, in the program.

    Args:
        rows: The memory.
        sizes: The extents of the target.
        count: The number of its elements.
    """

    rows: RowMemory
    sizes: tuple[Value, ...]
    count: Value

    @staticmethod
    def of(b: OpBuilder, scatter: Scatter) -> _Summed:
        """Append the number of elements of a target."""
        target = scatter.target
        flat = replace(target.type, ndim=1)
        rows = RowMemory(
            Array(f"{target.name}_rows", flat), Array(f"{target.name}_sums", flat), scatter
        )
        sizes = tuple(b.size(target, axis) for axis in range(target.type.ndim))
        count: Value = _ONE
        for size in sizes:
            count = (b.expr(count) * size).named("count").value
        return _Summed(rows, sizes, count)

    def place(
        self, b: OpBuilder, index: Sequence[Value], row: Value, length: Value
    ) -> tuple[Value, ...]:
        """Return the index of an element, or of a component of one, in a row."""
        flat: Value = _ZERO
        for size, at in zip(self.sizes, index, strict=False):
            flat = (b.expr(flat) * size + at).value
        return ((b.expr(flat) * length + row).value, *index[len(self.sizes) :])


def _append_loop(b: OpBuilder, loop: ParallelFor, every: Sequence[_Summed]) -> None:
    """Append the loop, with rows, and the loops that add them up."""
    extents = [
        (b.expr(stop) - start).max(0).named("extent")
        for start, stop in zip(loop.starts, loop.stops, strict=True)
    ]
    length = extents[0]
    for extent in extents[1:]:
        length = (length * extent).named("length")
    with b.region() as stmts:
        row: Expr = b.expr(_ZERO)
        for index, start, extent in zip(loop.indices, loop.starts, extents, strict=True):
            row = (row * extent + (b.expr(index) - start)).named("row")
        for one in every:
            _append_zeros(b, one, row.value, length.value)
        found = {one.rows.scatter.target: one for one in every}
        b.extend(_plain(loop.body, found, row.value, length.value).stmts)
    b.append(replace(loop, body=Block(tuple(stmts))))
    for one in every:
        _append_stripes(b, one, length.value, loop)
    for one in every:
        _append_sums(b, one, loop)


def _append_zeros(b: OpBuilder, one: _Summed, row: Value, length: Value) -> None:
    at = Var("at", I32)
    with b.region() as stmts:
        place = (b.expr(at) * length + row).value
        b.store(one.rows.array, (place,), Const(0.0, one.rows.array.type.element))
    b.append(For(at, _ZERO, one.count, (), (), Block(tuple(stmts)), ()))


def _plain(block: Block, found: Mapping[Array, _Summed], row: Value, length: Value) -> Block:
    """Return a block that adds into rows."""
    b = OpBuilder()
    for stmt in block.stmts:
        b.span = stmt.span
        if not (isinstance(stmt, Accumulate) and stmt.array in found):
            b.append(_inside(stmt, found, row, length))
            continue
        one = found[stmt.array]
        index = one.place(b, stmt.index, row, length)
        b.append(replace(stmt, array=one.rows.array, index=index, atomic=False))
    return Block(tuple(b.stmts), block.results)


def _inside(stmt: Stmt, found: Mapping[Array, _Summed], row: Value, length: Value) -> Stmt:
    return with_blocks(stmt, lambda inner: _plain(inner, found, row, length))


def _append_stripes(b: OpBuilder, one: _Summed, length: Value, loop: ParallelFor) -> None:
    """Append the loop over the elements and their stripes, which neighbouring threads take."""
    at, stripe, turn = Var("at", I32), Var("stripe", I32), Var("turn", I32)
    with b.region() as stmts:
        turns = (b.expr(length) - stripe).ceildiv(STRIPES).named("turns").value
        with b.region() as body:
            row = b.expr(turn) * STRIPES + stripe
            term = b.load(one.rows.array, ((b.expr(at) * length + row).value,), "term")
            total = Var("total", term.type)
            more = b.call("add", total, term)
        out = Var("total", term.type)
        first = Const(0.0, one.rows.array.type.element)
        inner = Block(tuple(body), (more,))
        b.append(For(turn, _ZERO, turns, (total,), (first,), inner, (out,), loop.span))
        b.store(one.rows.stripes, ((b.expr(at) * STRIPES + stripe).value,), out)
    stops = (one.count, Const(STRIPES, I32))
    b.append(ParallelFor((at, stripe), (_ZERO,) * 2, stops, Block(tuple(stmts)), loop.span))


def _append_sums(b: OpBuilder, one: _Summed, loop: ParallelFor) -> None:
    """Append the loop over the elements that adds the stripes to the target."""
    indices, stripe = tuple(Var("at", I32) for _ in one.sizes), Var("stripe", I32)
    with b.region() as stmts:
        flat: Value = _ZERO
        for size, at in zip(one.sizes, indices, strict=True):
            flat = (b.expr(flat) * size + at).value
        with b.region() as body:
            place = (b.expr(flat) * STRIPES + stripe).value
            term = b.load(one.rows.stripes, (place,), "term")
            total = Var("total", term.type)
            more = b.call("add", total, term)
        out = Var("total", term.type)
        first = Const(0.0, one.rows.array.type.element)
        inner = Block(tuple(body), (more,))
        b.append(
            For(stripe, _ZERO, Const(STRIPES, I32), (total,), (first,), inner, (out,), loop.span)
        )
        b.accumulate(one.rows.scatter.target, indices, out, atomic=False)
    if not indices:
        b.extend(stmts)
        return
    zeros = (_ZERO,) * len(indices)
    b.append(ParallelFor(indices, zeros, one.sizes, Block(tuple(stmts)), loop.span))
