"""Programs for one step that become programs for many: the loop over time.

The step is a number of the program. Its loop goes around all statements, which one thread then runs
(`serial`), or inside the parallel loop, where each iteration runs all steps by itself
(`interchanged`). There is at least one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement

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
from difftile.ir.walk import (
    arrays_written,
    defined_in,
    free_variables,
    has_effects,
    walk,
    with_blocks,
    with_stmts,
    with_tasks,
)
from difftile.ops.build import OpBuilder
from difftile.passes.accesses import accesses_of
from difftile.passes.bounds import Ranges
from difftile.passes.crossings import Crossings, commute
from difftile.passes.cse import cse
from difftile.passes.dce import dce
from difftile.passes.fold import fold
from difftile.passes.hoist_accumulations import (
    add_totals,
    added_always,
    invariant_in,
    summed,
)
from difftile.passes.merge_loops import merge_loops
from difftile.passes.registers import in_registers

_ZERO = Const(0, I32)


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
    nested = [_nest(stmt) if isinstance(stmt, ParallelFor) else _alone(stmt) for stmt in every]
    outside, inside = split_invariant(nested, {step})
    loop = _steps(step, first, count, inside, reverse=reverse)
    return _of_many(program, step, (first, count), (*outside, *loop))


def interchanged(
    program: Program, step: Var, first: Value, count: Value, *, reverse: bool = False
) -> Program | None:
    """Return the program of many steps in which each iteration of one loop runs all of them.

    None if the program is not one parallel loop, after loops have been merged, or if an iteration
    reads what another one writes. Call it before sums are cut into blocks (`finish`).

    Args:
        program: The program of one step.
        step: Its parameter that says which step it is.
        first: The least step.
        count: The number of steps, at least 1.
        reverse: Begin with the last step.
    """
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
    fixed, inside = split_invariant((*each, *task.body.stmts), {step}, written)
    *bounds, loop = _steps(step, first, count, inside, reverse=reverse)
    task = replace(task, body=Block((*fixed, loop)))
    made = cse(fold(_of_many(program, step, (first, count), (*outside, *bounds, task))))
    owned = _owned(made)
    return None if owned is None else dce(cse(_with_state_in_values(made, owned)))


def _one_loop(program: Program) -> tuple[tuple[Stmt, ...], ParallelFor] | None:
    """Return the parallel loop of a program and the statements before it, if nothing else acts."""
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


def _owned(program: Program) -> set[Array] | None:
    """Return the written arrays of which each iteration has elements of its own.

    None if iterations meet in elements of the others, and not only to add to them.
    """
    (task,) = (stmt for stmt in program.body.stmts if isinstance(stmt, ParallelFor))
    crossings = Crossings(task, program.body)
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


def _with_state_in_values(program: Program, owned: set[Array]) -> Program:
    """Return the program with owned elements in values, and a total of what others are added."""
    ranges = Ranges(program)

    def marked(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Accumulate):
            atomic = stmt.array.size is None and stmt.array not in owned
            return replace(stmt, atomic=atomic, single_write=False, aggregated=False)
        return with_blocks(stmt, lambda b: Block(tuple(map(marked, b.stmts)), b.results))

    def changed(task: ParallelFor) -> list[Stmt]:
        *fixed, loop = map(marked, task.body.stmts)
        assert isinstance(loop, For)
        b = OpBuilder()
        b.span = task.span
        loads, loop, stores = in_registers(loop, owned, program.body, ranges)
        sure = added_always(loop.body)
        loop, totals = summed(b, loop, invariant_in(loop))
        b.extend((*fixed, *loads, loop, *stores))
        add_totals(b, totals, sure)
        return [replace(task, body=b.block())]

    return with_tasks(program, changed)


def _nest(loop: ParallelFor) -> Stmt:
    """Return serial loops for a parallel one."""
    block = Block(tuple(map(_alone, loop.body.stmts)))
    axes = list(zip(loop.indices, loop.starts, loop.stops, strict=True))
    for index, start, stop in reversed(axes):
        block = Block((For(index, start, stop, (), (), block, (), loop.span),))
    (nest,) = block.stmts
    return nest


def _alone(stmt: Stmt) -> Stmt:
    """Return a statement as one thread runs it, step after step."""
    if isinstance(stmt, Accumulate):
        return replace(stmt, atomic=False, single_write=False, aggregated=False)
    return with_blocks(stmt, lambda block: Block(tuple(map(_alone, block.stmts)), block.results))


def split_invariant(
    stmts: Sequence[Stmt], varying: set[Var], written: set[Array] | None = None
) -> tuple[list[Stmt], list[Stmt]]:
    """Return the statements of a loop that may run once before it, and the others.

    Args:
        stmts: The statements, which each iteration runs.
        varying: The values that differ between iterations.
        written: The arrays that the loop changes; those that the statements write by default.
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
    """Return a loop that runs statements for each step, and what computes its bounds."""
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
