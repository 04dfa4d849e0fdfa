"""Loops interchanged where iterations on many threads would add to the same elements.

`for i (parallel): for j: x[j] += a[i, j] * y[i]`, the adjoint of a product with a matrix, needs an
atomic a step, on elements that all threads share. Instead a loop of its own takes a block of the
elements at a time and runs over i inside, with the sums in a small local array. The terms are
computed again there. (Allen and Kennedy, Optimizing Compilers for Modern Architectures, section
5.2: loop interchange.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import prod

from difftile.ir.build import element_type
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
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
)
from difftile.ir.types import BOOL, I32, FieldType, scalar_of, shape_of
from difftile.ir.walk import (
    Cloner,
    array_of,
    defined_in,
    free_variables,
    operands,
    walk,
    with_blocks,
    with_tasks,
    without_stmts,
)
from difftile.ops.build import OpBuilder
from difftile.passes.affine import Affine, affine, definitions_of
from difftile.passes.blocked_sum import blocked_sum, wide, wide_type
from difftile.passes.dce import slim_block
from difftile.passes.exclusive import owned_arrays
from difftile.passes.precedence import stale_loads
from difftile.passes.slices import LARGEST, pure, slice_of

_NUMBERS = 64  # numbers that one local array holds
_PIECES = 64  # enough work for all threads; fewer pieces mean fewer atomics
_FEWEST = 16  # iterations that are worth a part


@dataclass(frozen=True, slots=True)
class _Axis:
    """One loop: its index and its bounds, which are known outside the task."""

    index: Var
    start: Value
    stop: Value


@dataclass(frozen=True, slots=True)
class _SharedSum:
    """An accumulation that gets loops of its own.

    Args:
        stmt: The accumulation.
        forms: Its index.
        kept: The axes that the index varies with, without the innermost loop.
        column: The innermost loop, if the index varies with it.
        summed: The other axes, outermost first.
        row: The statements that loops inside the task do not vary, yielding values for `inner`.
        inner: The statements that compute the condition and the value, inside all axes.
        blocked: The sum is cut into runs, which keeps digits.
    """

    stmt: Accumulate
    forms: tuple[Affine, ...]
    kept: tuple[_Axis, ...]
    column: _Axis | None
    summed: tuple[_Axis, ...]
    row: Block
    inner: Block
    blocked: bool


def interchange(program: Program) -> Program:
    """Return the program with the loops around such accumulations interchanged."""
    defs = definitions_of(program.body)
    stale = stale_loads(program).keys()

    def interchanged(task: ParallelFor) -> list[Stmt]:
        touched = Counter(array_of(stmt) for stmt in walk(task.body))
        owned = owned_arrays(task, program)
        b = OpBuilder()
        b.span = task.span
        removed: set[int] = set()
        inner_loops = [(stmt.body, stmt) for stmt in task.body.stmts if isinstance(stmt, For)]
        for block, loop in ((task.body, None), *inner_loops):
            for stmt in _accumulations(block):
                if touched[stmt.array] > 1 or stmt.array in owned:
                    continue
                forms = tuple(affine(i, defs) for i in stmt.index)
                shared = _shared_sum(b, task, stmt, loop, forms, stale)
                if shared is not None:
                    b.append(_Nest(b, shared).parallel_loop())
                    removed.add(id(stmt))
        return (
            [*b.stmts, replace(task, body=without_stmts(task.body, lambda s: id(s) in removed))]
            if removed
            else [task]
        )

    return with_tasks(program, interchanged)


def _accumulations(block: Block) -> Iterator[Accumulate]:
    """Yield the accumulations of a block outside of its loops."""
    for stmt in block.stmts:
        if isinstance(stmt, Accumulate):
            yield stmt
        elif isinstance(stmt, If):
            yield from _accumulations(stmt.then)
            yield from _accumulations(stmt.orelse)


def _shared_sum(
    b: OpBuilder,
    task: ParallelFor,
    stmt: Accumulate,
    loop: For | None,
    forms: tuple[Affine, ...],
    stale: Set[Var],
) -> _SharedSum | None:
    """Return how the loops around an accumulation are interchanged; None if that does not pay."""
    inside = defined_in(task.body) | set(task.indices)
    axes = [_Axis(*axis) for axis in zip(task.indices, task.starts, task.stops, strict=True)]
    row = Block(())
    if loop is None:
        inner = slice_of(task.body, stmt)
    else:
        inner = slice_of(loop.body, stmt)
        before = task.body.stmts[: task.body.stmts.index(loop)]
        pures = tuple(with_blocks(s, pure) for s in before if isinstance(s, (Let, Size, Load, If)))
        needed = free_variables(inner)
        row = slim_block(Block(pures, tuple(v for v in defined_in(Block(pures)) if v in needed)))
        bounds = _outside(b, task.body, inside, (loop.start, loop.stop))
        if bounds is None:
            return None
        axes.append(_Axis(loop.index, *bounds))
    indices = {axis.index for axis in axes}
    varying = {v for form in forms for v, _ in form.terms if v in inside}
    summed = tuple(axis for axis in axes if axis.index not in varying)
    kept = tuple(axis for axis in axes if axis.index in varying)
    if not kept or not varying <= indices or not any(a.index in task.indices for a in summed):
        return None
    stmts = [*walk(row), *walk(inner)]
    free = (free_variables(inner) - set(row.results)) | free_variables(row)
    if len(stmts) > LARGEST or free & inside - indices:
        return None
    if any(isinstance(s, Load) and s.out in stale for s in stmts):
        return None
    column = kept[-1] if kept[-1] is axes[-1] else None
    if loop is not None and column is None:
        return None
    kept = kept[:-1] if column else kept
    return _SharedSum(stmt, forms, kept, column, summed, row, inner, blocked=loop is None)


def _outside(
    b: OpBuilder, block: Block, inside: set[Var], values: tuple[Value, Value]
) -> tuple[Value, Value] | None:
    """Return two values computed outside of a block, where they follow only from shapes."""
    defs = {s.out: s for s in block.stmts if isinstance(s, (Let, Size))}
    cloner = Cloner()

    def known(value: Value) -> bool:
        if isinstance(value, Const) or value not in inside or value in cloner.env:
            return True
        if value not in defs or not all(known(v) for v in operands(defs[value])):
            return False
        b.append(cloner.stmt(defs[value]))
        return True

    return (cloner.value(values[0]), cloner.value(values[1])) if all(map(known, values)) else None


class _Nest:
    """Appends the loops of one sum.

    Args:
        b: Where they are appended.
        shared: The sum.
    """

    def __init__(self, b: OpBuilder, shared: _SharedSum) -> None:
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
            axes = (_Axis(split.index, low.value, high.value), *shared.summed[1:])
            if column is not None:
                first = (b.expr(piece) // parts * self.width).named("first")
                first = (first + column.start).named("first")
                last = (first + self.width).min(column.stop).named("last")
                column = _Axis(column.index, first.value, last.value)
            self._in_local(axes, column)
        return ParallelFor(
            (piece, *self.indices),
            (Const(0, I32), *(axis.start for axis in shared.kept)),
            ((blocks * parts).max(0).value, *(axis.stop for axis in shared.kept)),
            Block(tuple(body)),
            b.span,
        )

    def _in_local(self, axes: tuple[_Axis, ...], column: _Axis | None) -> None:
        """Append the sums of a block of columns, or one, in a local array that is added at the end.

        Runs of the innermost axis have a local array of their own, unless a thread has a loop
        itself: a product with a matrix is to be as fast as it can.
        """
        b, blocked, element = self.b, self.shared.blocked, self.element
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

            self._loops((_Axis(axes[-1].index, first, stop),), lambda: row(parts))
            self._loops(columns, keep)

        def back() -> None:
            total = b.cast(b.load(sums, slot()), scalar_of(element))
            b.accumulate(self.array, self._index(), total)

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

    def _loops(self, axes: tuple[_Axis, ...], fill: Callable[[], None]) -> None:
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

    def _index(self) -> tuple[Value, ...]:
        """Append the index of an element, from its affine forms."""
        values: list[Value] = []
        for form in self.shared.forms:
            total = self.b.expr(Const(form.constant, I32))
            for v, factor in sorted(form.terms, key=lambda term: term[0].name):
                total = total + self.b.expr(self.cloner.value(v)) * factor
            values.append(total.value)
        return tuple(values)
