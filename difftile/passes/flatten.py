"""Serial loops that become axes of the parallel loop around them: for devices with many threads.

In `for i (parallel): for j: y[i, j] = a[i] * b[j]`, no iteration needs another. With a thread for
each of them, threads side by side write memory side by side, and there are enough of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from difftile.ir.facts import arrays_loaded, arrays_written, defined_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Block,
    Combine,
    Fail,
    For,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Size,
    Stmt,
    Var,
)
from difftile.ir.walk import WRITES, Cloner, walk, with_tasks
from difftile.ops.build import OpBuilder
from difftile.passes.affine import definitions_of, owns, place_of, ranges_of, unique_in
from difftile.passes.dce import slim_block
from difftile.passes.shared_sums import Axis, outside

# Values shared by the iterations of a serial loop are computed again in each of them.
_MOST = 8
_CHEAP = frozenset(
    ("add", "sub", "mul", "neg", "abs", "min", "max", "cast", "select", "extract", "dot")
)


def flatten(program: Program, loops: Collection[For]) -> Program:
    """Return the program with some serial loops as axes.

    Args:
        program: A finished program.
        loops: The serial loops, as `flat_loop` finds them.
    """
    defs = definitions_of(program.body)

    def flat(task: ParallelFor) -> list[Stmt]:
        for stmt in task.body.stmts:
            if isinstance(stmt, For) and any(stmt is loop for loop in loops):
                return _flat(task, stmt, defs)
        return [task]

    return with_tasks(program, flat)


def flat_loop(task: ParallelFor, defs: Mapping[Var, Stmt]) -> For | None:
    """Return the serial loop that can be an axis of the parallel loop around it, or None.

    Args:
        task: The parallel loop.
        defs: The ops of its program.
    """
    loops = [stmt for stmt in task.body.stmts if isinstance(stmt, For)]
    if len(loops) != 1 or loops[0].carries:
        return None
    (loop,) = loops
    before = Block(task.body.stmts[: task.body.stmts.index(loop)])
    cheap = len(before.stmts) <= _MOST and all(
        isinstance(s, (Load, Size)) or (isinstance(s, Let) and s.op in _CHEAP) for s in before.stmts
    )
    inside = defined_in(task.body) | set(task.indices)
    if (
        not cheap
        or not _is_parallel(task, loop, defs)
        or arrays_written(loop.body) & arrays_loaded(before)
        or outside(OpBuilder(), task.body, inside, (loop.start, loop.stop)) is None
    ):
        return None
    return loop


def _is_parallel(task: ParallelFor, loop: For, defs: Mapping[Var, Stmt]) -> bool:
    """Tell whether the iterations of a loop may run in any order, among all threads' iterations."""
    for stmt in walk(task.body):
        if isinstance(stmt, (Print, Fail)):
            return False
        if isinstance(stmt, Combine) and stmt.out is not None:
            return False
        # A sum over the threads of a warp is over iterations of the parallel loop as it is.
        if isinstance(stmt, Accumulate) and stmt.aggregated:
            return False
    indices = (*task.indices, loop.index)
    varying = defined_in(task.body) | set(indices)
    ranges, unique = ranges_of(loop.body), unique_in(loop.body)
    inner = [s for s in walk(loop.body) if isinstance(s, (Load, *WRITES))]
    in_task = [s for s in walk(task.body) if isinstance(s, (Load, *WRITES))]
    written = {a for a in arrays_written(loop.body) if a.size is None}
    own = {s.array for s in walk(loop.body) if isinstance(s, Alloc)}
    if arrays_written(loop.body) - written - own:
        return False  # an array of the thread, which iterations share
    for array in written:
        accesses = [s for s in in_task if s.array is array]
        if all(map(_is_atomic, accesses)):
            continue
        if len(accesses) > sum(s.array is array for s in inner):
            return False
        if not owns([place_of(s, defs) for s in accesses], indices, varying, ranges, unique):
            return False
    return bool(written)


def _is_atomic(stmt: Stmt) -> bool:
    return isinstance(stmt, Combine) or (isinstance(stmt, Accumulate) and stmt.atomic)


def _flat(task: ParallelFor, loop: For, defs: Mapping[Var, Stmt]) -> list[Stmt]:
    """Return a loop over one more axis, and one for the statements after the serial loop."""
    b = OpBuilder()
    b.span = task.span
    at = task.body.stmts.index(loop)
    before, after = task.body.stmts[:at], task.body.stmts[at + 1 :]
    inside = defined_in(task.body) | set(task.indices)
    bounds = outside(b, task.body, inside, (loop.start, loop.stop))
    assert bounds is not None
    axes = [Axis(*axis) for axis in zip(task.indices, task.starts, task.stops, strict=True)]
    first = next(s for s in walk(loop.body) if isinstance(s, WRITES) and s.array.size is None)
    forms = place_of(first, defs)

    def dimension(axis: Axis) -> int:
        return max((k for k, form in enumerate(forms) if form.factor(axis.index)), default=-1)

    ordered = sorted([*axes, Axis(loop.index, *bounds)], key=dimension)
    b.append(_loop_over(ordered, [*before, *loop.body.stmts], task))
    if any(isinstance(s, WRITES) for s in walk(Block(after))):
        rest = slim_block(Block((*before, *after)))
        b.append(_loop_over(axes, rest.stmts, task))
    return b.stmts


def _loop_over(axes: Sequence[Axis], stmts: Sequence[Stmt], task: ParallelFor) -> ParallelFor:
    cloner = Cloner()
    return ParallelFor(
        tuple(cloner.fresh(axis.index) for axis in axes),
        tuple(axis.start for axis in axes),
        tuple(axis.stop for axis in axes),
        cloner.block(Block(tuple(stmts))),
        task.span,
        ordered=task.ordered,
    )
