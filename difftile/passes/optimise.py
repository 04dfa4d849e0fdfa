"""The order of the passes.

Folding comes before the search for common subexpressions, which then finds more; dead code goes
last. `finish` says of each of its steps why it stands where it does.
"""

from __future__ import annotations

from collections.abc import Callable
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
from difftile.passes.factor import factor
from difftile.passes.fold import fold
from difftile.passes.forwards import forwards
from difftile.passes.hoist_accumulations import hoist_accumulations
from difftile.passes.inline_primals import inline_primals
from difftile.passes.interchange import interchange
from difftile.passes.last_writes import last_writes
from difftile.passes.mark_single_writes import mark_single_writes
from difftile.passes.merge import merge
from difftile.passes.merge_loops import merge_loops
from difftile.passes.reduce import reduce
from difftile.passes.safe_divisions import safe_divisions
from difftile.passes.safe_shifts import safe_shifts
from difftile.passes.scalar_replacement import scalar_replacement
from difftile.passes.scatter_to_gather import scatter_to_gather
from difftile.passes.signs_of_roots import signs_of_roots
from difftile.passes.split_atomics import split_atomics
from difftile.passes.transpose_sums import transpose_sums
from difftile.passes.update_in_place import update_in_place
from difftile.passes.warp_aggregate import warp_aggregate
from difftile.passes.widen_integers import widen_integers


def simplify(program: Program, *, checked: bool = False) -> Program:
    """Return the program without repeated computations and dead code."""
    return _run(program, (fold, cse, fold, last_writes, dce), checked)


def normalise(program: Program, *, checked: bool = False) -> Program:
    """Return the program in the form that stages are cut from and reversed."""
    return _run(program, (fold, cse, split_atomics, scalar_replacement, fold, cse, dce), checked)


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
        # Writes to one element become one, and their values are equal to those that were read.
        exclusive,
        merge,
        fold,
        cse,
        # Stores that were kept for loads since removed can go.
        without_dead_stores,
        dce,
    )
    return _run(program, passes, checked)


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
        warps: Threads run in warps, which can add up their values.
        as_written: Keep sums as they are written, except sums that iterations share.
        checked: Check the program after each pass.
    """

    def reduced(program: Program) -> Program:
        return reduce(program, blocks, in_double=few_threads)

    def gathered(program: Program) -> Program:
        return scatter_to_gather(program, guarded=not few_threads)

    def transposed(program: Program) -> Program:
        return transpose_sums(program, warps=warps and not as_written)

    passes = (
        # Derivatives are made: `stop_grad` would only hide equal values from the passes below.
        drop_stop_grad,
        # First of the passes that move sums: one that leaves a serial loop may be a scatter at a
        # fixed offset then, and needs one atomic for the loop wherever it ends up.
        hoist_accumulations,
        # Sums of a loop may be added up in any order then, and in the order of the text unless
        # that is the order they were written in.
        *((forwards,) if not (few_threads or as_written) else ()),
        # The sums that are left vary with the innermost loop. Loops of their own have as many
        # iterations as keep the device busy.
        interchange if few_threads else transposed,
        # Gathers run slices of the loop again, and slices end at loops: sums have left them by now.
        gathered,
        # Contributions that are computed once for each offset share most of their values.
        fold,
        cse,
        dce,
        # Common factors are one variable only after `cse`. Their sums are rounded differently.
        *(() if as_written else (factor,)),
        # Roots are computed by now where they are used.
        *(() if few_threads else (signs_of_roots,)),
        # Every accumulation is where it stays, and the iterations of the user's loops still show
        # whose elements they are, which blocks of iterations do not.
        exclusive,
        mark_single_writes,  # of the exclusive ones
        reduced,
        # Blocks compute bounds and indices before their statements.
        fold,
        cse,
        dce,
        exclusive,  # for the sums of blocks in serial code
        # Only exclusive accumulations can be part of a store.
        merge,
        # Merged writes leave unused loads and sums.
        fold,
        dce,
        # Last, since only accumulations that are still atomic gain by it. They leave branches as
        # values, of which the simplifications find equal ones.
        *((warp_aggregate, fold, cse, dce) if warps else ()),
        # After the passes that find equal or known values.
        widen_integers,
        # After the passes that follow quotients and remainders.
        safe_divisions,
        safe_shifts,
        # Values are values for all other passes.
        update_in_place,
        # Parameters are mentioned no more where everything that used them is gone.
        pruned,
    )
    return _run(program, passes, checked)


def plain(program: Program, *, checked: bool = False) -> Program:
    """Return the program in the form that runs without a compiler."""
    return _run(program, (inline_primals, drop_stop_grad, fold, cse, fold, dce, pruned), checked)


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
