"""Programs for one step that become programs for many: the loop over time.

The step is a number of the program. Its loop goes around all statements, which one thread then runs
(`serial`), or inside the parallel loop, where each iteration runs all steps by itself
(`interchanged`). There is at least one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
    For,
    Let,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Value,
    Var,
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
)
from difftile.ops.build import OpBuilder

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
