"""The order of the passes, up to the form that a target is chosen for: see `schedule.finish`.

Folding comes before the search for common subexpressions, which then finds more; dead code goes
last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from difftile.ir.facts import uses
from difftile.ir.nodes import Program, Size
from difftile.ir.walk import array_of, walk
from difftile.ops.check import check
from difftile.passes.cse import cse
from difftile.passes.dce import dce
from difftile.passes.dead_stores import Extents, dead_stores
from difftile.passes.drop_stop_grad import drop_stop_grad
from difftile.passes.exclusive import exclusive
from difftile.passes.fold import fold
from difftile.passes.inline_primals import inline_primals
from difftile.passes.last_writes import last_writes
from difftile.passes.merge import merge
from difftile.passes.merge_loops import merge_loops
from difftile.passes.scalar_replacement import scalar_replacement
from difftile.passes.split_atomics import split_atomics


def simplify(program: Program, *, checked: bool = False) -> Program:
    """Return the program without repeated computations and dead code."""
    return run(program, (fold, cse, fold, last_writes, dce), checked)


def normalise(program: Program, *, checked: bool = False) -> Program:
    """Return the program in the form that stages are cut from and reversed."""
    return run(program, (fold, cse, split_atomics, scalar_replacement, fold, cse, dce), checked)


def join(program: Program, extents: Extents | None = None, *, checked: bool = False) -> Program:
    """Return the program of several launches as one; data passed between them becomes values.

    Args:
        program: Programs one after the other, before `finish`.
        extents: As for `dead_stores`.
        checked: Check the program after each pass.
    """

    def without_dead_stores(program: Program) -> Program:
        return dead_stores(program, extents)

    passes = (
        # Launches compute the same values again, and indices of merged loops are compared.
        fold,
        cse,
        # Before loops are merged, which then have fewer statements to go around.
        without_dead_stores,
        merge_loops,
        # One iteration now writes an element and reads it.
        scalar_replacement,
        # Writes to one element become one, and their values equal the values that were read.
        exclusive,
        merge,
        fold,
        cse,
        # Stores that were kept for loads since removed can go.
        without_dead_stores,
        dce,
    )
    return run(program, passes, checked)


def plain(program: Program, *, checked: bool = False) -> Program:
    """Return the program in the form that runs without a compiler."""
    return run(program, (inline_primals, drop_stop_grad, fold, cse, fold, dce, pruned), checked)


def pruned(program: Program) -> Program:
    """Return the program without parameters that its body does not mention."""
    mentioned: set[object] = set(uses(program.body))
    for stmt in walk(program.body):
        mentioned.add(stmt.array if isinstance(stmt, Size) else array_of(stmt))
    return replace(
        program,
        params=tuple(p for p in program.params if p in mentioned),
        temps=tuple(t for t in program.temps if t in mentioned),
    )


def run(program: Program, passes: Sequence[Callable[[Program], Program]], checked: bool) -> Program:
    """Return the program after some passes.

    Args:
        program: The program.
        passes: The passes, first to last.
        checked: Check the program after each of them.
    """
    for one in passes:
        program = one(program)
        if checked:
            check(program)
    return program
