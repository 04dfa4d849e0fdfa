"""Tangents without the primal: a program that runs beside a stage and repeats no effect of it."""

from __future__ import annotations

from dataclasses import replace

from difftile.ad.forward import forward
from difftile.ir.derived import Before, Derived, primal
from difftile.ir.nodes import Array, Block, Combine, Fail, Load, Print, Program
from difftile.ir.walk import WRITES, arrays_written, walk, with_blocks
from difftile.passes.conflicts import stale_loads
from difftile.passes.dce import dce
from difftile.passes.versions import late_loads, redirect


def tangent_only(program: Program, wanted: frozenset[Array]) -> Derived | None:
    """Return the tangents of one stage without the stage, or None where it would have to run again.

    The program runs after the stage: its parameters are those of the stage, with contents from
    after it; those with contents from before it; and tangents.

    Args:
        program: The primal, normalised and cut into stages.
        wanted: The fields that have a tangent.
    """
    tangents = forward(primal(program), wanted)
    both = tangents.program
    fields = {p for p in (*program.params, *program.temps) if isinstance(p, Array)}
    loads = {s.out: s.array for s in walk(both.body) if isinstance(s, Load) and s.array in fields}
    late = late_loads(both)
    written = arrays_written(both.body) & fields
    old = {a: Array(f"{a.name}_old", a.type) for a in written}
    early = {out for out, array in loads.items() if array in old and out not in late}
    stale = stale_loads(both).keys()
    body = _alone(redirect(both.body, early, old), fields)
    params = (*both.params, *old.values())
    alone = dce(replace(both, params=params, body=body))
    repeated = {s.out for s in walk(alone.body) if isinstance(s, Load)}
    combined = {
        s.out for s in walk(both.body) if isinstance(s, Combine) and s.out and s.array in fields
    }
    if combined or not repeated.isdisjoint(stale & loads.keys()):
        return None
    return tangents.with_roles(alone, {new: Before(a) for a, new in old.items()})


def _alone(block: Block, fields: set[Array]) -> Block:
    """Return a block without what it does to some fields, and without what it says."""
    stmts = (
        with_blocks(s, lambda inner: _alone(inner, fields))
        for s in block.stmts
        if not isinstance(s, (Print, Fail)) and not (isinstance(s, WRITES) and s.array in fields)
    )
    return replace(block, stmts=tuple(stmts))
