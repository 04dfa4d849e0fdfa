"""Programs for one step that become programs for many: the loop over time.

The step is a number of the program. Its loop goes around all statements, which one thread then runs
(`serial`), or inside the parallel loop, where each iteration or each strip of them runs all steps
by itself (`interchanged`, `strips`). There is at least one step.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import combinations_with_replacement

from difftile.ir.facts import arrays_written, defined_in, free_variables, has_effects
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
    Fail,
    For,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32
from difftile.ir.walk import walk, with_blocks, with_stmts, with_tasks
from difftile.ops.build import OpBuilder
from difftile.passes.accesses import accesses_of
from difftile.passes.bounds import Ranges
from difftile.passes.crossings import Crossings, commute
from difftile.passes.cse import cse
from difftile.passes.dce import dce
from difftile.passes.fold import fold
from difftile.passes.hoist_accumulations import add_totals, added_always, invariant_in, summed
from difftile.passes.merge_loops import merge_loops
from difftile.passes.registers import in_registers
from difftile.passes.split_atomics import serial as nested
from difftile.records import dataclass

_ZERO = Const(0, I32)
_MOST = Const(2**31 - 1, I32)


def serial(
    program: Program, step: Var, first: Value, count: Value, *, reverse: bool = False
) -> Program:
    """Return the program of many steps that one thread runs.

    Args:
        program: The program of one step.
        step: Its parameter that says which step it is.
        first: The least step.
        count: The number of steps, at least 1.
        reverse: Begin with the last step.
    """
    every = program.body.stmts
    alone = [_alone(nested(stmt) if isinstance(stmt, ParallelFor) else stmt) for stmt in every]
    outside, inside = split_invariant(alone, {step})
    loop = _steps(step, first, count, inside, reverse=reverse)
    return _of_many(program, step, (first, count), (*outside, *loop))


def interchanged(
    program: Program, step: Var, first: Value, count: Value, *, reverse: bool = False
) -> Program | None:
    """Return the program of many steps in which each iteration of one loop runs all of them.

    None if the program is not one parallel loop, after loops have been merged, or if an iteration
    reads an element that another one writes. Call it before sums are cut into blocks (`finish`).

    Args:
        program: The program of one step.
        step: Its parameter that says which step it is.
        first: The least step.
        count: The number of steps, at least 1.
        reverse: Begin with the last step.
    """
    period = _Period.of(program, step)
    if period is None:
        return None
    task = period.task
    stmts, written = (*period.each, *task.body.stmts), arrays_written(task.body)
    fixed, inside = split_invariant(stmts, {step}, written)
    *bounds, loop = _steps(step, first, count, inside, reverse=reverse)
    task = replace(task, body=Block((*fixed, loop)))
    made = _of_many(program, step, (first, count), (*period.outside, *bounds, task))
    made = cse(fold(made))
    ranges = Ranges(made)

    def with_state_in_values(task: ParallelFor) -> list[Stmt]:
        *fixed, loop = task.body.stmts
        assert isinstance(loop, For)
        b = OpBuilder()
        b.span = task.span
        loads, loop, stores = in_registers(loop, period.owned, made.body, ranges)
        b.extend((*fixed, *loads))
        _sum_up(b, loop)
        b.extend(stores)
        return [replace(task, body=b.block())]

    return dce(cse(with_tasks(made, with_state_in_values)))


def strips(
    program: Program,
    step: Var,
    first: Value,
    count: Value,
    width: Value,
    *,
    reverse: bool = False,
) -> Program | None:
    """Return the program of many steps in which each thread runs all of them for some iterations.

    This is `interchanged` for processors with few threads, caches and vector instructions: the
    state stays in memory, and the innermost loop goes along it. None where that returns None.

    Args:
        program: The program of one step.
        step: Its parameter that says which step it is.
        first: The least step.
        count: The number of steps, at least 1.
        width: The number of iterations, of the first axis, at least 1.
        reverse: Begin with the last step.
    """
    period = _Period.of(program, step)
    if period is None:
        return None
    task = period.task
    b = OpBuilder()
    b.extend(period.outside)
    b.span = task.span
    strip = Var("strip", I32)
    start, stop = b.expr(task.starts[0]), task.stops[0]
    number = (b.expr(stop) - start).ceildiv(width).named("strips")
    with b.region() as body:
        low = (start + b.expr(strip) * width).named("low")
        high = (low + width).min(stop).named("high")
        starts, stops = (low.value, *task.starts[1:]), (high.value, *task.stops[1:])
        nest = nested(replace(task, starts=starts, stops=stops))
        *bounds, loop = _steps(step, first, count, (*period.each, nest), reverse=reverse)
        b.extend(bounds)
        assert isinstance(loop, For)
        _sum_up(b, loop, levels=1)
    made = ParallelFor((strip,), (_ZERO,), (number.value,), Block(tuple(body)), task.span)
    b.append(replace(made, ordered=task.ordered))
    return dce(cse(fold(_of_many(program, step, (first, count, width), b.stmts))))


def _sum_up(b: OpBuilder, loop: For, *, levels: int = 0) -> None:
    """Append a loop over time, with totals of its additions to elements of other threads as well.

    Args:
        b: Where it is appended.
        loop: The loop.
        levels: The number of loops, from this one inwards, that add up in double precision.
    """
    sure = added_always(loop.body)
    summing, totals = summed(b, loop, invariant_in(loop), levels=levels)
    b.append(summing)
    add_totals(b, totals, sure)


@dataclass(frozen=True, slots=True)
class _Period:
    """A step that is one parallel loop, with iterations independent of each other in every step.

    Args:
        outside: The statements before the loop that are the same in every step.
        each: The other statements before the loop.
        task: The loop; accumulations into owned arrays are not atomic.
        owned: The written arrays of which each iteration has elements of its own.
    """

    outside: list[Stmt]
    each: list[Stmt]
    task: ParallelFor
    owned: set[Array]

    @staticmethod
    def of(program: Program, step: Var) -> _Period | None:
        """Return the parts of a program of one step, or None."""
        top = _one_loop(dce(merge_loops(program)))
        if top is None:
            return None
        before, task = top
        written = arrays_written(task.body)
        outside, each = split_invariant(before, {step}, written)
        varying = defined_in(Block(tuple(each))) | {step}
        loaded = {s.array for s in walk(Block(tuple(each))) if isinstance(s, Load)}
        loops = any(isinstance(stmt, (For, While)) for stmt in each)
        if loops or loaded & written or not varying.isdisjoint((*task.starts, *task.stops)):
            return None
        loop = For(step, _ZERO, _MOST, (), (), Block((*each, *task.body.stmts)), ())
        owned = _owned(Block((*outside, replace(task, body=Block((loop,))))))
        if owned is None:
            return None
        return _Period(outside, each, replace(task, body=_atomic(task.body, owned)), owned)


def _one_loop(program: Program) -> tuple[tuple[Stmt, ...], ParallelFor] | None:
    """Return the parallel loop with all effects of a program, and the statements before it."""
    stmts = program.body.stmts
    places = [k for k, stmt in enumerate(stmts) if isinstance(stmt, ParallelFor)]
    if len(places) != 1:
        return None
    before, (task, *after) = stmts[: places[0]], stmts[places[0] :]
    assert isinstance(task, ParallelFor)
    acts = has_effects(Block((*before, *after)))
    if acts or any(isinstance(stmt, (Print, Fail)) for stmt in walk(task.body)):
        return None
    return before, task


def _owned(body: Block) -> set[Array] | None:
    """Return the written arrays of which each iteration has elements of its own.

    None if iterations meet in elements of the others, and not only to add to them.
    """
    (task,) = (stmt for stmt in body.stmts if isinstance(stmt, ParallelFor))
    crossings = Crossings(task, body)
    owned: set[Array] = set()
    for array, accesses in accesses_of(task.body).items():
        if all(isinstance(access.stmt, Load) for access in accesses):
            continue
        if crossings.owned(accesses):
            owned.add(array)
            continue
        found = crossings.among(combinations_with_replacement(accesses, 2))
        commuting = [commute(one, other) for one, other in found]
        if not all(commuting):
            return None
        if not commuting:
            owned.add(array)
    return owned


def _atomic(block: Block, owned: set[Array]) -> Block:
    """Return a block whose accumulations are atomic, but for those into owned and local arrays."""

    def changed(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Accumulate):
            atomic = stmt.array.size is None and stmt.array not in owned
            return replace(stmt, atomic=atomic, single_write=False, aggregated=False)
        return with_blocks(stmt, lambda inner: _atomic(inner, owned))

    return Block(tuple(map(changed, block.stmts)), block.results)


def _alone(stmt: Stmt) -> Stmt:
    """Return a statement as one thread runs it, step after step."""
    if isinstance(stmt, Accumulate):
        return replace(stmt, atomic=False, single_write=False, aggregated=False)
    return with_blocks(stmt, lambda block: Block(tuple(map(_alone, block.stmts)), block.results))


def split_invariant(
    stmts: Sequence[Stmt], varying: Set[Var], written: Set[Array] | None = None
) -> tuple[list[Stmt], list[Stmt]]:
    """Return the statements of a loop that may run once before it, and the others.

    Args:
        stmts: The statements, which each iteration runs.
        varying: The values that differ between iterations.
        written: The arrays that the loop changes; by default the arrays that the statements write.
    """
    written = arrays_written(Block(tuple(stmts))) if written is None else written
    varies = set(varying)
    outside: list[Stmt] = []
    inside: list[Stmt] = []
    for stmt in stmts:
        alone = Block((stmt,))
        loads = {s.array for s in walk(alone) if isinstance(s, Load)}
        fixed = (
            free_variables(alone).isdisjoint(varies)
            and not has_effects(alone)
            and not any(isinstance(s, Alloc) for s in walk(alone))
            and all(array.size is None and array not in written for array in loads)
        )
        (outside if fixed else inside).append(stmt)
        if not fixed:
            varies |= defined_in(alone)
    return outside, inside


def _steps(
    step: Var, first: Value, count: Value, stmts: Sequence[Stmt], *, reverse: bool
) -> list[Stmt]:
    """Return a loop that runs statements for each step, after statements for its bounds."""
    b = OpBuilder()
    if not reverse:
        stop = (b.expr(first) + count).named("stop").value
        b.append(For(step, first, stop, (), (), Block(tuple(stmts)), ()))
        return b.stmts
    last = (b.expr(first) + count - 1).named("last").value
    done = Var("done", I32)
    now = Let(step, "sub", (last, done))
    b.append(For(done, _ZERO, count, (), (), Block((now, *stmts)), ()))
    return b.stmts


def _of_many(
    program: Program, step: Var, numbers: Sequence[Value], stmts: Sequence[Stmt]
) -> Program:
    """Return a program with other statements, and numbers as parameters in place of the step."""
    kept = [p for p in program.params if p is not step]
    more = dict.fromkeys(v for v in numbers if isinstance(v, Var) and v not in kept)
    return with_stmts(replace(program, params=(*kept, *more)), stmts)
