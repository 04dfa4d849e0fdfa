"""Programs whose result depends on whether numbers are exactly equal.

An adjoint of a maximum looks for the iterations that have it, and computes their numbers again for
that. Code that is compiled in another form may round them differently, and they would be found
nowhere.
"""

from __future__ import annotations

from difftile.ir.nodes import Combine, Let, Program, Stmt
from difftile.ir.types import FLOATS, scalar_of
from difftile.ir.walk import walk


def compares_numbers(program: Program) -> bool:
    """Tell whether a program finds a largest or smallest float, or looks for floats that equal."""
    return any(_compares(stmt) for stmt in walk(program.body))


def _compares(stmt: Stmt) -> bool:
    match stmt:
        case Combine(op=op, value=value):
            return op in ("max", "min") and scalar_of(value.type) in FLOATS
        case Let(_, "eq" | "ne", (first, *_)):
            return scalar_of(first.type) in FLOATS
        case _:
            return False
