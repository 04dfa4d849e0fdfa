"""Loops interchanged where iterations on many threads would add to the same elements.

`for i (parallel): for j: x[j] += a[i, j] * y[i]`, the adjoint of a product with a matrix, needs an
atomic a step, on elements that all threads share. Instead a loop of its own takes a block of the
elements at a time and runs over i inside, with the sums in a small local array. The terms are
computed again there. (Allen and Kennedy, Optimizing Compilers for Modern Architectures, section
5.2: loop interchange.)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from math import prod

from difftile.ir.build import element_type
from difftile.ir.nodes import (
    Alloc,
    Array,
    Block,
    Const,
    For,
    ParallelFor,
    Program,
    Value,
    Var,
)
from difftile.ir.types import BOOL, I32, FieldType, scalar_of, shape_of
from difftile.ir.walk import Cloner
from difftile.ops.build import OpBuilder
from difftile.passes.blocked_sum import blocked_sum, wide, wide_type
from difftile.passes.shared_sums import Axis, SharedSum, with_loops_of_their_own

_NUMBERS = 64  # numbers that one local array holds
_PIECES = 64  # enough work for all threads; fewer pieces mean fewer atomics
_FEWEST = 16  # iterations that are worth a part


def interchange(program: Program) -> Program:
    """Return the program with the loops around such accumulations interchanged."""

    def made(b: OpBuilder, shared: SharedSum) -> ParallelFor:
        return _Nest(b, shared).parallel_loop()

    return with_loops_of_their_own(program, made, of_ordered=False)


class _Nest:
    """Appends the loops of one sum.

    Args:
        b: Where they are appended.
        shared: The sum.
    """

    def __init__(self, b: OpBuilder, shared: SharedSum) -> None:
        self.b = b
        self.shared = shared
        self.array = shared.stmt.array
        self.element = element_type(self.array, shared.stmt.index)
        self.width = max(1, _NUMBERS // prod(shape_of(self.array.type.element)))
        self.indices = tuple(Var(axis.index.name, I32) for axis in shared.kept)
        kept = (axis.index for axis in shared.kept)
        self.cloner = Cloner(dict(zip(kept, self.indices, strict=True)))

    def parallel_loop(self) -> ParallelFor:
        """Return the parallel loop over blocks of the elements, in parts of the sum."""
        b, shared = self.b, self.shared
        split, column = shared.summed[0], shared.column
        length = b.expr(split.stop) - split.start
        blocks = b.expr(Const(1, I32))
        if column is not None:
            blocks = (b.expr(column.stop) - column.start).ceildiv(self.width).named("blocks")
        parts = _PIECES // blocks.max(1)
        parts = parts.min(length.ceildiv(_FEWEST)).max(1).named("parts")
        size = length.ceildiv(parts).named("size")
        piece = Var("piece", I32)
        with b.region() as body:
            part = b.expr(piece) % parts
            low = (part * size).named("low")
            low = (low + split.start).named("low")
            high = (low + size).min(split.stop)
            axes = (Axis(split.index, low.value, high.value), *shared.summed[1:])
            if column is not None:
                first = (b.expr(piece) // parts * self.width).named("first")
                first = (first + column.start).named("first")
                last = (first + self.width).min(column.stop).named("last")
                column = Axis(column.index, first.value, last.value)
            self._in_local(axes, column)
        return ParallelFor(
            (piece, *self.indices),
            (Const(0, I32), *(axis.start for axis in shared.kept)),
            ((blocks * parts).max(0).value, *(axis.stop for axis in shared.kept)),
            Block(tuple(body)),
            b.span,
        )

    def _in_local(self, axes: tuple[Axis, ...], column: Axis | None) -> None:
        """Append the sums of a block of columns, or one, in a local array that is added at the end.

        Runs of the innermost axis have a local array of their own, unless a thread has a loop
        itself: a product with a matrix is to be as fast as it can.
        """
        b, blocked, element = self.b, not self.shared.in_loop, self.element
        width = 1 if column is None else self.width
        columns = () if column is None else (column,)
        of_sums = FieldType(wide_type(element) if blocked else element, 1)
        sums = Array(f"{self.array.name}_sum", of_sums, width)
        b.append(Alloc(sums, b.span))

        def slot() -> tuple[Value]:
            if column is None:
                return (Const(0, I32),)
            return ((b.expr(self.cloner.value(column.index)) - column.start).value,)

        def row(local: Array) -> None:
            b.extend(self.cloner.block(self.shared.row).stmts)
            self._loops(columns, lambda: self._add(local, slot()))

        def run(first: Value, stop: Value) -> None:
            parts = Array(f"{self.array.name}_run", FieldType(element, 1), width)
            b.append(Alloc(parts, b.span))

            def keep() -> None:
                at = slot()
                b.store(sums, at, b.call("add", b.load(sums, at), wide(b, b.load(parts, at))))

            self._loops((Axis(axes[-1].index, first, stop),), lambda: row(parts))
            self._loops(columns, keep)

        def back() -> None:
            total = b.cast(b.load(sums, slot()), scalar_of(element))
            index = self.shared.index(b, self.cloner)
            touched = self.shared.guards(b, index).value
            with nullcontext() if isinstance(touched, Const) else b.branch(touched):
                b.accumulate(self.array, index, total)

        if blocked:
            of_last = axes[-1].start, axes[-1].stop, run
            self._loops(axes[:-1], lambda: b.append(blocked_sum(b, *of_last)))
        else:
            self._loops(axes, lambda: row(sums))
        # Empty loops must not touch the element at all: its index may be out of range.
        runs = b.expr(Const(True, BOOL))
        for axis in axes:
            runs = runs & (b.expr(axis.start) < axis.stop)
        with b.branch(runs.value):
            self._loops(columns, back)

    def _loops(self, axes: tuple[Axis, ...], fill: Callable[[], None]) -> None:
        """Append serial loops over the axes, with new indices, and call `fill` inside."""
        if not axes:
            fill()
            return
        index = self.cloner.fresh(axes[0].index)
        with self.b.region() as body:
            self._loops(axes[1:], fill)
        bounds = axes[0].start, axes[0].stop
        self.b.append(For(index, *bounds, (), (), Block(tuple(body)), (), self.b.span))

    def _add(self, local: Array, slot: tuple[Value]) -> None:
        """Append one contribution to an element of a local array."""
        b = self.b
        block = self.cloner.block(self.shared.inner)
        hit, value = block.results
        b.extend(block.stmts)
        with nullcontext() if hit == Const(True, BOOL) else b.branch(hit):
            b.store(local, slot, b.call("add", b.load(local, slot), value))
