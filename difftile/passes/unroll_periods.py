"""Several periods of a run in one program, one after the other."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Const, Program, Var
from difftile.ir.types import I32
from difftile.ir.walk import Cloner
from difftile.ops.build import OpBuilder
from difftile.passes.sink_values import sink_values


def unroll_periods(program: Program, t: Var, periods: int, *, reverse: bool = False) -> Program:
    """Return the program for several periods; its last parameter is the first of them.

    Args:
        program: The program for one period.
        t: Its parameter that is the number of the period.
        periods: How many.
        reverse: Whether later periods come first.
    """
    first = Var("first", I32)
    b = OpBuilder()
    for k in range(periods):
        later = periods - 1 - k if reverse else k
        cloner = Cloner({t: b.call("add", first, Const(later, I32))})
        b.extend(cloner.block(program.body).stmts)
    params = tuple(p for p in program.params if p is not t)
    return sink_values(replace(program, params=(*params, first), body=b.block()))
