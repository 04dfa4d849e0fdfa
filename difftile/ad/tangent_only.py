"""Tangents without the primal: a program that runs after a stage and repeats no effect of it."""

from __future__ import annotations

from dataclasses import replace

from difftile.ad.forward import forward
from difftile.ir.derived import Before, Derived, primal
from difftile.ir.nodes import Array, Combine, Fail, Load, Print, Program, Stmt
from difftile.ir.walk import WRITES, arrays_written, walk, without_stmts
from difftile.passes.dce import dce
from difftile.passes.precedence import stale_loads
from difftile.passes.versions import late_loads, redirect


def tangent_only(program: Program, wanted: frozenset[Array]) -> Derived | None:
    """Return only the tangents of one stage, or None where the stage would have to run again.

    The program runs after the stage. Its parameters are fields with contents from after the stage,
    fields with contents from before it, and tangents.

    Args:
        program: The primal, normalised and cut into stages.
        wanted: The fields that have a tangent.
    """
    tangents = forward(primal(program), wanted)
    both = tangents.program
    fields = set(program.arrays)
    loads = {s.out: s.array for s in walk(both.body) if isinstance(s, Load) and s.array in fields}
    late = late_loads(both)
    written = arrays_written(both.body)
    old = {a: Array(f"{a.name}_old", a.type) for a in program.arrays if a in written}
    early = {out for out, array in loads.items() if array in old and out not in late}
    stale = stale_loads(both).keys() - late

    def of_primal(stmt: Stmt) -> bool:
        return isinstance(stmt, (Print, Fail)) or (
            isinstance(stmt, WRITES) and stmt.array in fields
        )

    body = without_stmts(redirect(both.body, early, old), of_primal)
    only = dce(replace(both, params=(*both.params, *old.values()), body=body))
    repeated = {s.out for s in walk(only.body) if isinstance(s, Load)}
    combined = {
        s.out for s in walk(both.body) if isinstance(s, Combine) and s.out and s.array in fields
    }
    if combined or not repeated.isdisjoint(stale & loads.keys()):
        return None
    return tangents.with_roles(only, {new: Before(a) for a, new in old.items()})
