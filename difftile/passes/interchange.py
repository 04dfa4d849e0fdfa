"""Loops interchanged where iterations on many threads would add to the same elements.

`for i (parallel): for j: x[j] += a[i, j] * y[i]`, the adjoint of a product with a matrix, needs an
atomic a step, on elements that all threads share. Instead a loop of its own takes a block of the
elements at a time and runs over i inside, with the sums in a small local array. What is added is
computed again there. (Allen and Kennedy, Optimizing Compilers for Modern Architectures, section
5.2: loop interchange.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
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
)
from difftile.ops.build import OpBuilder
from difftile.passes.affine import Affine, affine, definitions_of
from difftile.passes.blocked_sum import blocked_sum, wide, wide_type
from difftile.passes.conflicts import stale_loads
from difftile.passes.dce import slim_block
from difftile.passes.exclusive import owned_arrays
from difftile.passes.slices import LARGEST, pure, slice_of, without

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
class _Turn:
    """An accumulation that gets loops of its own.

    Args:
        stmt: The accumulation.
        forms: Its index.
        kept: The axes that the index varies with, without the innermost loop.
        column: The innermost loop, if the index varies with it.
        summed: The other axes, outermost first.
        row: What the loops inside the task do not vary, yielding what `inner` needs of it.
        inner: What computes the condition and the value, inside all axes.
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
    stale = set(stale_loads(program))
    stmts: list[Stmt] = []
    for stmt in program.body.stmts:
        if isinstance(stmt, ParallelFor):
            stmts += _turned(stmt, program, defs, stale)
        else:
            stmts.append(stmt)
    return replace(program, body=replace(program.body, stmts=tuple(stmts)))


def _turned(
    task: ParallelFor, program: Program, defs: dict[Var, Stmt], stale: set[Var]
) -> list[Stmt]:
    touched = Counter(array_of(stmt) for stmt in walk(task.body))
    owned = owned_arrays(task, program)
    b = OpBuilder()
    b.span = task.span
    removed: set[int] = set()
    for stmt, loop in _candidates(task.body):
        if touched[stmt.array] > 1 or stmt.array in owned:
            continue
        forms = tuple(affine(i, defs) for i in stmt.index)
        turn = _turn(b, task, stmt, loop, forms, stale)
        if turn is not None:
            b.append(_own_loop(b, turn))
            removed.add(id(stmt))
    return [*b.stmts, replace(task, body=without(task.body, removed))] if removed else [task]


def _candidates(block: Block) -> Iterator[tuple[Accumulate, For | None]]:
    """Yield the accumulations outside of loops, and those in loops directly in the block."""
    yield from ((stmt, None) for stmt in _shallow(block))
    for loop in block.stmts:
        if isinstance(loop, For):
            yield from ((stmt, loop) for stmt in _shallow(loop.body))


def _shallow(block: Block) -> Iterator[Accumulate]:
    for stmt in block.stmts:
        if isinstance(stmt, Accumulate):
            yield stmt
        elif isinstance(stmt, If):
            yield from _shallow(stmt.then)
            yield from _shallow(stmt.orelse)


def _turn(
    b: OpBuilder,
    task: ParallelFor,
    stmt: Accumulate,
    loop: For | None,
    forms: tuple[Affine, ...],
    stale: set[Var],
) -> _Turn | None:
    """Return how an accumulation is turned around, or None where that does not go or not pay."""
    inside = defined_in(task.body) | set(task.indices)
    axes = [_Axis(*axis) for axis in zip(task.indices, task.starts, task.stops, strict=True)]
    row = Block(())
    if loop is None:
        inner = slice_of(task.body, stmt)
    else:
        inner = slice_of(loop.body, stmt)
        row = _before(task.body, loop, free_variables(inner))
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
    return _Turn(stmt, forms, kept, column, summed, row, inner, blocked=loop is None)


def _before(block: Block, loop: For, needed: set[Var]) -> Block:
    """Return what computes the needed values in front of a loop; those are its results."""
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        if stmt is loop:
            break
        if isinstance(stmt, (Let, Size, Load, If)):
            stmts.append(with_blocks(stmt, pure))
    results = tuple(v for v in defined_in(Block(tuple(stmts))) if v in needed)
    return slim_block(Block(tuple(stmts), results))


def _outside(
    b: OpBuilder, block: Block, inside: set[Var], values: tuple[Value, Value]
) -> tuple[Value, Value] | None:
    """Return two values computed outside of a block, where they follow from shapes alone."""
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


def _own_loop(b: OpBuilder, turn: _Turn) -> ParallelFor:
    """Return the parallel loop over blocks of the elements, in parts of the sum."""
    split, column, width = turn.summed[0], turn.column, _width(turn.stmt.array)
    length = b.call("sub", split.stop, split.start)
    blocks: Value = Const(1, I32)
    if column is not None:
        columns = b.call("sub", column.stop, column.start)
        blocks = _ceil(b, columns, Const(width, I32), "blocks")
    parts = b.call("floordiv", Const(_PIECES, I32), b.call("max", blocks, Const(1, I32)))
    parts = b.call("min", parts, _ceil(b, length, Const(_FEWEST, I32), ""))
    parts = b.call("max", parts, Const(1, I32), name="parts")
    size = _ceil(b, length, parts, "size")
    piece = Var("piece", I32)
    indices = tuple(Var(axis.index.name, I32) for axis in turn.kept)
    cloner = Cloner(dict(zip((axis.index for axis in turn.kept), indices, strict=True)))
    with b.region() as body:
        part = b.call("mod", piece, parts)
        low = b.call("mul", part, size, name="low")
        low = b.call("add", low, split.start, name="low")
        high = b.call("min", b.call("add", low, size), split.stop)
        axes = (_Axis(split.index, low, high), *turn.summed[1:])
        if column is None:
            _in_local(b, cloner, turn, axes, None)
        else:
            block = b.call("floordiv", piece, parts)
            first = b.call("mul", block, Const(width, I32), name="first")
            first = b.call("add", first, column.start, name="first")
            last = b.call("min", b.call("add", first, Const(width, I32)), column.stop, name="last")
            _in_local(b, cloner, turn, axes, _Axis(column.index, first, last))
    return ParallelFor(
        (piece, *indices),
        (Const(0, I32), *(axis.start for axis in turn.kept)),
        (
            b.call("max", b.call("mul", blocks, parts), Const(0, I32)),
            *(axis.stop for axis in turn.kept),
        ),
        Block(tuple(body)),
        b.span,
    )


def _in_local(
    b: OpBuilder, cloner: Cloner, turn: _Turn, axes: tuple[_Axis, ...], column: _Axis | None
) -> None:
    """Append the sums of a block of columns, or one sum, in a local array that is added at the end.

    Runs of the innermost axis have a local array of their own, unless a thread has a loop itself: a
    product with a matrix is to be as fast as it can.
    """
    array = turn.stmt.array
    element = element_type(array, turn.stmt.index)
    width = 1 if column is None else _width(array)
    columns = () if column is None else (column,)
    of_sums = wide_type(element) if turn.blocked else element
    sums = Array(f"{array.name}_sum", FieldType(of_sums, 1), width)
    b.append(Alloc(sums, b.span))

    def slot() -> tuple[Value]:
        if column is None:
            return (Const(0, I32),)
        return (b.call("sub", cloner.value(column.index), column.start),)

    def row(local: Array) -> None:
        for stmt in cloner.block(turn.row).stmts:
            b.append(stmt)
        _nest(b, cloner, columns, lambda: _add(b, cloner, turn, local, slot()))

    def run(part: _Axis) -> None:
        parts = Array(f"{array.name}_run", FieldType(element, 1), width)
        b.append(Alloc(parts, b.span))

        def keep() -> None:
            at = slot()
            b.store(sums, at, b.call("add", b.load(sums, at), wide(b, b.load(parts, at))))

        _nest(b, cloner, (part,), lambda: row(parts))
        _nest(b, cloner, columns, keep)

    def back() -> None:
        total = b.cast(b.load(sums, slot()), scalar_of(element))
        b.accumulate(array, _index(b, cloner, turn.forms), total)

    if turn.blocked:
        _nest_in_runs(b, cloner, axes, run)
    else:
        _nest(b, cloner, axes, lambda: row(sums))
    # Empty loops must not touch the element at all: its index may be out of range.
    runs: Value = Const(True, BOOL)
    for axis in axes:
        runs = b.call("and", runs, b.call("lt", axis.start, axis.stop))
    with b.region() as adds:
        _nest(b, cloner, columns, back)
    b.append(If(runs, Block(tuple(adds)), Block(()), (), b.span))


def _nest_in_runs(
    b: OpBuilder, cloner: Cloner, axes: tuple[_Axis, ...], fill: Callable[[_Axis], None]
) -> None:
    """Append serial loops over the axes, the last one in runs; `fill` appends what each does."""
    *outer, last = axes

    def runs() -> None:
        def run(first: Value, stop: Value) -> None:
            fill(_Axis(last.index, first, stop))

        b.append(blocked_sum(b, last.start, last.stop, run))

    _nest(b, cloner, tuple(outer), runs)


def _nest(b: OpBuilder, cloner: Cloner, axes: tuple[_Axis, ...], fill: Callable[[], None]) -> None:
    """Append serial loops over the axes, with fresh indices, and what `fill` appends inside."""
    if not axes:
        fill()
        return
    index = cloner.fresh(axes[0].index)
    with b.region() as body:
        _nest(b, cloner, axes[1:], fill)
    b.append(For(index, axes[0].start, axes[0].stop, (), (), Block(tuple(body)), (), b.span))


def _add(b: OpBuilder, cloner: Cloner, turn: _Turn, local: Array, slot: tuple[Value]) -> None:
    """Append one contribution to an element of a local array."""
    block = cloner.block(turn.inner)
    hit, value = block.results
    for stmt in block.stmts:
        b.append(stmt)
    with b.region() as adds:
        b.store(local, slot, b.call("add", b.load(local, slot), value))
    if hit == Const(True, BOOL):
        b.stmts.extend(adds)
    else:
        b.append(If(hit, Block(tuple(adds)), Block(()), (), b.span))


def _index(b: OpBuilder, cloner: Cloner, forms: tuple[Affine, ...]) -> tuple[Value, ...]:
    """Append the values of affine forms."""
    values: list[Value] = []
    for form in forms:
        total: Value = Const(form.constant, I32)
        for v, factor in sorted(form.terms, key=lambda term: term[0].name):
            total = b.call("add", total, b.call("mul", cloner.value(v), Const(factor, I32)))
        values.append(total)
    return tuple(values)


def _ceil(b: OpBuilder, length: Value, size: Value, name: str) -> Value:
    """Append how many pieces of a size a length has; a negative length has at most none."""
    rounded = b.call("add", length, b.call("sub", size, Const(1, I32)))
    return b.call("floordiv", rounded, size, name=name)


def _width(array: Array) -> int:
    """Return how many elements a local array holds."""
    return max(1, _NUMBERS // prod(shape_of(array.type.element)))
