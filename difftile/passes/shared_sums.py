"""Accumulations that iterations on many threads make into the same elements, found in loops.

In `for i (parallel): for j: x[j] += a[i, j] * y[i]`, the adjoint of a product with a matrix, all
threads share the elements `x[j]`. The sum over i can be a loop of its own where its terms can be
computed again: `interchange` writes it for processors with few threads, `transpose_sums` for
devices with many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import replace

from difftile.ir.facts import defined_in, free_variables
from difftile.ir.nodes import (
    Accumulate,
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
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import (
    Cloner,
    array_of,
    operands,
    regions,
    walk,
    with_blocks,
    with_tasks,
    without_stmts,
)
from difftile.ops.build import Expr, OpBuilder
from difftile.passes.affine import Affine, Place, affine, definitions_of
from difftile.passes.dce import slim_block
from difftile.passes.exclusive import owned_arrays
from difftile.passes.precedence import StaleLoads
from difftile.passes.slices import LARGEST, pure, slice_of
from difftile.records import dataclass

_DEEPEST = 3  # serial loops around an accumulation


@dataclass(frozen=True, slots=True)
class Axis:
    """One loop: its index and its bounds, which are known outside the task."""

    index: Var
    start: Value
    stop: Value


@dataclass(frozen=True, slots=True)
class SharedAxis:
    """An axis of a parallel loop whose index is `element - factor * turn`.

    Args:
        axis: The axis.
        element: The index of the element along a dimension, but for a constant.
        turn: The index of a serial loop.
        factor: The distance that a turn moves the element.
    """

    axis: Axis
    element: Var
    turn: Var
    factor: int


@dataclass(frozen=True, slots=True)
class SharedSum:
    """An accumulation that gets loops of its own.

    Args:
        stmt: The accumulation.
        forms: Its index.
        kept: The axes that the index varies with, without the innermost loop.
        column: The innermost loop, if the index varies with it.
        summed: The other axes of the parallel loop, outermost first.
        turns: Other serial loops, outermost first.
        solved: The axes of the parallel loop that follow from kept ones and from turns.
        row: The statements that the innermost loop does not vary, yielding values for `inner`.
        inner: The statements that compute the condition and the value, inside all axes.
        in_loop: The accumulation is in a serial loop.
        beside: The number of accumulations of the parallel loop into elements that it shares.
    """

    stmt: Accumulate
    forms: Place
    kept: tuple[Axis, ...]
    column: Axis | None
    summed: tuple[Axis, ...]
    turns: tuple[Axis, ...]
    solved: tuple[SharedAxis, ...]
    row: Block
    inner: Block
    in_loop: bool
    beside: int

    def index(self, b: OpBuilder, cloner: Cloner) -> tuple[Value, ...]:
        """Append the index of the element, by the values that a copy of the axes has."""
        values: list[Value] = []
        for form in self.forms:
            total = b.expr(Const(form.constant, I32))
            for v, factor in sorted(form.factors.items(), key=lambda term: term[0].name):
                total = total + b.expr(cloner.value(v)) * factor
            values.append(total.value)
        return tuple(values)

    def guards(self, b: OpBuilder, index: tuple[Value, ...]) -> Expr:
        """Append whether an element may be touched though no iteration might have added to it.

        A branch that was never taken may have kept the index inside the shape.

        Args:
            b: Where that is appended.
            index: The index of the element.
        """
        inside = b.expr(Const(True, BOOL))
        if self.inner.results[0] != Const(True, BOOL):
            array = self.stmt.array
            for axis, i in enumerate(index[: array.type.ndim]):
                inside = inside & (b.expr(i) >= 0) & (b.expr(i) < b.size(array, axis))
        return inside


def with_loops_of_their_own(
    program: Program,
    loop_of: Callable[[OpBuilder, SharedSum], ParallelFor | None],
    *,
    deep: bool = False,
    of_ordered: bool = True,
) -> Program:
    """Return the program with a loop of its own for each sum, ahead of the loop that had it.

    Args:
        program: The program.
        loop_of: Makes the loop, or returns None where it would not pay.
        deep: Look into nests of serial loops, at arrays that are accumulated into in several
            places, and at elements whose index is a sum of two loops' indices.
        of_ordered: Take sums out of ordered loops, too.
    """
    defs = definitions_of(program.body)
    stale = StaleLoads(program.body)

    def changed(task: ParallelFor) -> list[Stmt]:
        if task.ordered and not of_ordered:
            return [task]
        touched = Counter(map(array_of, walk(task.body)))
        added = Counter(s.array for s in walk(task.body) if isinstance(s, Accumulate))
        owned = owned_arrays(task, program)
        b = OpBuilder()
        b.span = task.span
        removed: set[int] = set()
        beside = sum(count for array, count in added.items() if array not in owned)
        for loops, stmt in _accumulations(task.body, _DEEPEST if deep else 1):
            others = touched[stmt.array] - (added[stmt.array] if deep else 1)
            if others or stmt.array in owned or stmt.array.size is not None:
                continue
            forms = tuple(affine(i, defs) for i in stmt.index)
            found = _Found(b, task, stmt, loops, forms, deep)
            shared = found.shared_sum(stale, beside)
            made = None if shared is None else loop_of(b, shared)
            if made is not None:
                b.append(made)
                removed.add(id(stmt))
        return (
            [*b.stmts, replace(task, body=without_stmts(task.body, lambda s: id(s) in removed))]
            if removed
            else [task]
        )

    return with_tasks(program, changed)


def _accumulations(block: Block, depth: int) -> Iterator[tuple[tuple[For, ...], Accumulate]]:
    """Yield the accumulations of a block, and those in nests of loops, with the loops."""
    for stmt in block.stmts:
        if isinstance(stmt, Accumulate):
            yield (), stmt
        elif isinstance(stmt, If):
            for region in regions(stmt):
                yield from _accumulations(region, 0)
    for stmt in block.stmts:
        if isinstance(stmt, For) and depth:
            for loops, found in _accumulations(stmt.body, depth - 1):
                yield (stmt, *loops), found


class _Found:
    """An accumulation, and the loops around it.

    Args:
        b: Where bounds are appended that are computed in the parallel loop.
        task: The parallel loop.
        stmt: The accumulation.
        loops: The serial loops around it.
        forms: Its index.
        deep: As for `with_loops_of_their_own`.
    """

    def __init__(
        self,
        b: OpBuilder,
        task: ParallelFor,
        stmt: Accumulate,
        loops: tuple[For, ...],
        forms: Place,
        deep: bool,
    ) -> None:
        self.b = b
        self.task = task
        self.stmt = stmt
        self.loops = loops
        self.forms = forms
        self.deep = deep
        self.inside = defined_in(task.body) | set(task.indices)

    def shared_sum(self, stale: StaleLoads, beside: int) -> SharedSum | None:
        """Return the sum if it can have loops of its own, and threads share its element."""
        task, parts = self.task, self.sliced()
        turns = self.serial_axes()
        if parts is None or turns is None:
            return None
        row, inner = parts
        axes = [Axis(*axis) for axis in zip(task.indices, task.starts, task.stops, strict=True)]
        indices = {axis.index for axis in (*axes, *turns)}
        stmts = [*walk(row), *walk(inner)]
        free = (free_variables(inner) - set(row.results)) | free_variables(row)
        if len(stmts) > LARGEST or free & self.inside - indices:
            return None
        loads = [s for s in stmts if isinstance(s, Load)]
        # An array of the thread is filled by statements that stay.
        if any(s.out in stale or s.array.size is not None for s in loads):
            return None
        forms, solved, elements = self.solved(axes, turns) if self.deep else (self.forms, (), ())
        outer = [a for a in axes if all(a is not one.axis for one in solved)]
        varying = {v for form in forms for v in form.factors if v in self.inside}
        if not varying <= indices:
            return None
        kept = [axis for axis in (*outer, *turns) if axis.index in varying]
        summed = tuple(axis for axis in outer if axis.index not in varying)
        left = tuple(axis for axis in turns if axis.index not in varying)
        if not (kept or elements) or not (summed or solved):
            return None
        column = None
        if kept and kept[-1] is (*axes, *turns)[-1]:
            column = kept.pop()
        if self.loops and column is None and not (self.deep and solved):
            return None
        return SharedSum(
            self.stmt,
            forms,
            (*kept, *elements),
            column,
            summed,
            left,
            solved,
            row,
            inner,
            in_loop=bool(self.loops),
            beside=beside,
        )

    def sliced(self) -> tuple[Block, Block] | None:
        """Return the statements that do not vary in the innermost loop, and the varying ones."""
        blocks = [self.task.body, *(loop.body for loop in self.loops)]
        inner = slice_of(blocks[-1], self.stmt)
        pures: list[Stmt] = []
        for block, loop in zip(blocks, self.loops, strict=False):
            before = block.stmts[: block.stmts.index(loop)]
            pures += [with_blocks(s, pure) for s in before if isinstance(s, (Let, Size, Load, If))]
        needed = free_variables(inner)
        results = tuple(v for v in defined_in(Block(tuple(pures))) if v in needed)
        return slim_block(Block(tuple(pures), results)), inner

    def serial_axes(self) -> list[Axis] | None:
        """Return the serial loops, if their bounds are known outside of the parallel one."""
        blocks = [self.task.body, *(loop.body for loop in self.loops)]
        axes: list[Axis] = []
        for loop in self.loops:
            stmts = tuple(s for block in blocks for s in block.stmts)
            bounds = outside(self.b, Block(stmts), self.inside, (loop.start, loop.stop))
            if bounds is None:
                return None
            axes.append(Axis(loop.index, *bounds))
        return axes

    def solved(
        self, axes: list[Axis], turns: list[Axis]
    ) -> tuple[Place, tuple[SharedAxis, ...], tuple[Axis, ...]]:
        """Return the index with new axes in place of sums of two loops' indices.

        `x[i + u] += ..`, the adjoint of a convolution, becomes `x[p] += ..` where i is p - u.

        Returns:
            The index, the axes that follow from it, and the new axes.
        """
        forms: list[Affine[Var]] = []
        found: list[SharedAxis] = []
        elements: list[Axis] = []
        of_task, of_turn = ({a.index: a for a in group} for group in (axes, turns))
        used = Counter(v for form in self.forms for v in form.factors)
        for form in self.forms:
            factors = {v: f for v, f in form.factors.items() if v in self.inside}
            parallel = [v for v in factors if v in of_task and factors[v] == 1 and used[v] == 1]
            serial = [v for v in factors if v in of_turn and used[v] == 1]
            if len(factors) != 2 or len(parallel) != 1 or len(serial) != 1:
                forms.append(form)
                continue
            i, u = of_task[parallel[0]], of_turn[serial[0]]
            factor = factors[u.index]
            element = Var(i.index.name, I32)
            found.append(SharedAxis(i, element, u.index, factor))
            elements.append(self.reached(i, u, factor, element))
            forms.append(form.without(factors) + Affine({element: 1}))
        return tuple(forms), tuple(found), tuple(elements)

    def reached(self, i: Axis, u: Axis, factor: int, element: Var) -> Axis:
        """Return the range of `i + factor * u`."""
        b = self.b
        ends = [b.expr(u.start) * factor, (b.expr(u.stop) - 1) * factor]
        low, high = ends if factor > 0 else ends[::-1]
        start, stop = (low + i.start).named("low"), (high + i.stop).named("high")
        return Axis(element, start.value, stop.value)


def outside(
    b: OpBuilder, block: Block, inside: Set[Var], values: tuple[Value, Value]
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
