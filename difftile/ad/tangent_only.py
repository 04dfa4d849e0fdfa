"""Tangents without the program they belong to: they run after it and repeat no effect of it."""

from __future__ import annotations

from dataclasses import replace

from difftile.ad.forward import forward
from difftile.ir.derived import Bar, Before, Derived, Role, Same
from difftile.ir.nodes import Array, Block, Combine, Fail, Load, Print, Program, Stmt, Var
from difftile.ir.walk import WRITES, arrays_written, walk, without_stmts
from difftile.passes.dce import dce
from difftile.passes.precedence import stale_loads
from difftile.passes.versions import late_loads, redirect


def tangent_only(derived: Derived, wanted: frozenset[Array]) -> Derived | None:
    """Return only the tangents of a program, or None where the program would have to run again.

    The result runs after the program. Its parameters are fields with contents from after that,
    fields with contents from before it, and tangents. The same holds for the gradients that an
    adjoint changes: those from before it are those of the contents after the stage (`incoming`).

    Args:
        derived: A primal, normalised and cut into stages; or the adjoint of one.
        wanted: The parameters that have a tangent.
    """
    program = derived.program
    tangents = forward(derived, wanted)
    both = tangents.program
    roles = {a: role for a in program.arrays if (role := _before(derived.role(a))) is not None}
    loads = {s.out: s.array for s in walk(both.body) if isinstance(s, Load) and s.array in roles}
    late = late_loads(both)
    written = arrays_written(both.body)
    old = {a: Array(f"{a.name}_old", a.type) for a in roles if a in written}
    early = {out for out, array in loads.items() if array in old and out not in late}
    stale = (stale_loads(both).keys() - late) | _of_passing_contents(both, late)

    def of_program(stmt: Stmt) -> bool:
        return isinstance(stmt, (Print, Fail)) or (isinstance(stmt, WRITES) and stmt.array in roles)

    body = without_stmts(redirect(both.body, early, old), of_program)
    only = dce(replace(both, params=(*both.params, *old.values()), body=body))
    repeated = {s.out for s in walk(only.body) if isinstance(s, Load)}
    combined = {
        s.out for s in walk(both.body) if isinstance(s, Combine) and s.out and s.array in roles
    }
    if combined or not repeated.isdisjoint(stale & loads.keys()):
        return None
    return tangents.with_roles(only, {new: roles[a] for a, new in old.items()})


def _before(role: Role) -> Role | None:
    """Return the role of what a parameter held before the program; None for memory of its own."""
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
