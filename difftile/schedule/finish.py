"""Programs in the form that is emitted: the passes for a target, and why in this order.

What depends on the processor follows from the `Target` alone, so that one finished program serves
launches of all sizes; what depends on those is left to the schedule.
"""

from __future__ import annotations

from difftile.ir.nodes import Program
from difftile.passes import optimise
from difftile.passes.cse import cse
from difftile.passes.dce import dce
from difftile.passes.drop_stop_grad import drop_stop_grad
from difftile.passes.exclusive import exclusive
from difftile.passes.factor import factor
from difftile.passes.fold import fold
from difftile.passes.forwards import forwards
from difftile.passes.hoist_accumulations import hoist_accumulations
from difftile.passes.interchange import interchange
from difftile.passes.mark_single_writes import mark_single_writes
from difftile.passes.merge import merge
from difftile.passes.reduce import reduce
from difftile.passes.safe_divisions import safe_divisions
from difftile.passes.safe_shifts import safe_shifts
from difftile.passes.scatter_to_gather import scatter_to_gather
from difftile.passes.signs_of_roots import signs_of_roots
from difftile.passes.transpose_sums import transpose_sums
from difftile.passes.update_in_place import update_in_place
from difftile.passes.warp_aggregate import warp_aggregate
from difftile.passes.widen_integers import widen_integers
from difftile.schedule.speed import reorders as may_reorder
from difftile.schedule.target import Target


def finish(program: Program, target: Target, *, checked: bool = False) -> Program:
    """Return the program in the form that is emitted.

    Args:
        program: The program, without primals.
        target: What it is compiled for. Sums stay as they are written where it may not reorder
            them, except sums that iterations share.
        checked: Check the program after each pass.
    """
    on_device, reorders = not target.on_host, may_reorder(program, target)

    def reduced(program: Program) -> Program:
        return reduce(program, target.blocks, in_double=not on_device)

    def gathered(program: Program) -> Program:
        return scatter_to_gather(program, guarded=on_device)

    def transposed(program: Program) -> Program:
        return transpose_sums(program, warps=target.warps and reorders)

    passes = (
        # Derivatives are made: `stop_grad` would only hide equal values from the passes below.
        drop_stop_grad,
        # First of the passes that move sums: one that leaves a serial loop may be a scatter at a
        # fixed offset then, and needs one atomic for the loop wherever it ends up.
        hoist_accumulations,
        # Sums of a loop may be added up in any order then, and in the order of the text unless
        # that is the order they were written in.
        *((forwards,) if on_device and reorders else ()),
        # The sums that are left vary with the innermost loop. Loops of their own have as many
        # iterations as keep the device busy.
        transposed if on_device else interchange,
        # Gathers run slices of the loop again, and slices end at loops: sums have left them by now.
        gathered,
        # Contributions that are computed once for each offset share most of their values.
        fold,
        cse,
        dce,
        # Common factors are one variable only after `cse`. Their sums are rounded differently.
        *((factor,) if reorders else ()),
        # Roots are computed by now where they are used.
        *((signs_of_roots,) if on_device else ()),
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
        # values, of which the simplifications find equal ones. Which threads of a warp meet may
        # differ from run to run.
        *((warp_aggregate, fold, cse, dce) if target.warps and not target.repeats else ()),
        # After the passes that find equal or known values.
        widen_integers,
        # After the passes that follow quotients and remainders.
        safe_divisions,
        safe_shifts,
        # Values are values for all other passes.
        update_in_place,
        # Parameters are mentioned no more where everything that used them is gone.
        optimise.pruned,
    )
    return optimise.run(program, passes, checked)
