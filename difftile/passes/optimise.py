"""The order of the passes.

Folding comes before the search for common subexpressions, which then finds more; dead code goes
last. Sums leave their loops before exclusive accumulations are marked, since a sum that left
needs fewer of them; and they are marked before a parallel loop is cut into blocks, which hides
whose elements they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from difftile.ir.nodes import Program, Size
from difftile.ir.walk import array_of, uses, walk
from difftile.ops.check import check
from difftile.passes.cse import cse
from difftile.passes.dce import dce
from difftile.passes.drop_stop_grad import drop_stop_grad
from difftile.passes.exclusive import exclusive
from difftile.passes.factor import factor
from difftile.passes.fold import fold
from difftile.passes.hoist_accumulations import hoist_accumulations
from difftile.passes.interchange import interchange
from difftile.passes.mark_single_writes import mark_single_writes
from difftile.passes.merge import merge
from difftile.passes.reduce import reduce
from difftile.passes.scalar_replacement import scalar_replacement
from difftile.passes.scatter_to_gather import scatter_to_gather
from difftile.passes.split_atomics import split_atomics
from difftile.passes.warp_aggregate import warp_aggregate


def simplify(program: Program, *, checked: bool = False) -> Program:
    """Return the program with everything said once, and nothing in vain."""
    return _run(program, (fold, cse, fold, dce), checked)


def normalise(program: Program, *, checked: bool = False) -> Program:
    """Return the program in the form that stages are cut from and reversed."""
    return _run(program, (fold, cse, split_atomics, scalar_replacement, fold, cse, dce), checked)


def finish(
    program: Program,
    blocks: int,
    *,
    few_threads: bool = True,
    warps: bool = False,
    as_written: bool = False,
    checked: bool = False,
) -> Program:
    """Return the program in the form that is emitted.

    Args:
        program: The program.
        blocks: The largest number of blocks that a sum of a parallel loop is cut into.
        few_threads: Loops of some tens of iterations keep the device busy, as they do a CPU.
        warps: Threads run in warps, which can add up what they have.
        as_written: Keep sums as they are written, but for those that iterations share.
        checked: Check the program after each pass.
    """

    def reduced(program: Program) -> Program:
        return reduce(program, blocks, in_double=few_threads)

    return _run(
        program,
        (
            drop_stop_grad,
            hoist_accumulations,
            *((interchange, hoist_accumulations) if few_threads else ()),
            scatter_to_gather,
            fold,
            cse,
            dce,
            *(() if as_written else (factor,)),
            exclusive,
            mark_single_writes,
            reduced,
            fold,
            cse,
            dce,
            exclusive,
            merge,
            fold,
            dce,
            *((warp_aggregate, fold, cse, dce) if warps else ()),
            pruned,
        ),
        checked,
    )


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


def _run(
    program: Program, passes: tuple[Callable[[Program], Program], ...], checked: bool
) -> Program:
    for one in passes:
        program = one(program)
        if checked:
            check(program)
    return program
