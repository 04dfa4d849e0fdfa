"""Tangents without the program they belong to: they run after it and repeat no effect of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from difftile.ad.forward import forward, in_order
from difftile.ad.log import Log, with_log
from difftile.ad.positions import NoPosition
from difftile.ir.derived import Bar, Before, Derived, Logged, Role, Same, Scratch
from difftile.ir.facts import arrays_written
from difftile.ir.nodes import Array, Block, Combine, Fail, Load, Print, Program, Stmt, Var
from difftile.ir.walk import WRITES, walk, without_stmts
from difftile.passes.dce import dce
from difftile.passes.precedence import stale_loads
from difftile.passes.versions import late_loads, redirect


def tangent_only(derived: Derived, wanted: frozenset[Array]) -> Derived | None:
    """Return only the tangents of a program, or None where the program would have to run again.

    The result runs after the program. Its parameters are fields with contents from after that,
    fields with contents from before it, and tangents. The same holds for the gradients that an
    adjoint changes: before it, they are the gradients of the contents after the stage (`incoming`).

    Args:
        derived: A primal, normalised and cut into stages; or the adjoint of one.
        wanted: The parameters that have a tangent.
    """
    program = in_order(derived.program, wanted)
    roles = {a: role for a in program.arrays if (role := _before(derived.role(a))) is not None}
    if any(isinstance(s, Combine) and s.out and s.array in roles for s in walk(program.body)):
        return None
    written = arrays_written(program.body)
    old = {a: Array(f"{a.name}_old", a.type) for a in roles if a in written}
    late = late_loads(program.body)
    stale = {v: found for v, found in stale_loads(program.body).items() if v not in late}
    passing = _of_passing_contents(program, late)
    early = {s.out for s in walk(program.body) if isinstance(s, Load)} - late - stale.keys()
    has_memory = any(isinstance(derived.role(t), (Scratch, Logged)) for t in program.temps)

    def made(numbered: Program, log: Log | None) -> tuple[Derived, list[Load]]:
        tangents = forward(derived.with_program(numbered), wanted, slim=log is None)
        both = tangents.program
        body = without_stmts(redirect(both.body, early, old), partial(_of_program, fields=roles))
        temps = both.temps
        if log is not None:
            body, _ = log.read(body)
            body = replace(body, stmts=(*log.fill, *body.stmts))
            temps = (*temps, *log.temps)
        only = dce(replace(both, params=(*both.params, *old.values()), body=body, temps=temps))
        loads = [s for s in walk(only.body) if isinstance(s, Load) and s.array in roles]
        for load in loads:
            if load.out in passing or (load.out in stale and has_memory):
                raise NoPosition(load.out)
        missing = [stale[load.out][0] for load in loads if load.out in stale]
        return tangents.with_roles(only, {new: roles[a] for a, new in old.items()}), missing

    try:
        return with_log(program, made, {}, before=old)
    except NoPosition:
        return None


def _of_program(stmt: Stmt, fields: Collection[Array]) -> bool:
    return isinstance(stmt, (Print, Fail)) or (isinstance(stmt, WRITES) and stmt.array in fields)


def _before(role: Role) -> Role | None:
    """Return the role of a parameter's contents before the program; None for memory of its own."""
    match role:
        case Same(Array() as array):
            return Before(array)
        case Bar(array):
            return Bar(array, incoming=True)
        case _:
            return None


def _of_passing_contents(program: Program, late: frozenset[Var]) -> set[Var]:
    """Return the late loads of fields that the program writes once more; stages have none."""
    written: set[Array] = set()
    found: set[Var] = set()
    for stmt in reversed(program.body.stmts):
        one = Block((stmt,))
        written |= arrays_written(one)
        loads = (s for s in walk(one) if isinstance(s, Load))
        found |= {s.out for s in loads if s.array in written and s.out in late}
    return found
