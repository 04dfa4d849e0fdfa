"""Loops cut into short runs, so that sums in single precision stay exact.

A sum of n numbers that are added one after the other can lose a part n * 2**-24 of itself, and does
so for numbers that are all alike. A run is added up in the precision of its numbers, which
vectorises, and the sums of the runs in double. (Higham, The Accuracy of Floating Point Summation,
1993: blocked summation.)
"""

from __future__ import annotations

from collections.abc import Callable

from difftile.ir.nodes import Block, Const, For, Value, Var
from difftile.ir.types import F32, F64, I32, Type, scalar_of, with_scalar
from difftile.ops.build import ExprLike, OpBuilder

LENGTH = 64
"""Iterations of a run."""


def blocked_sum(
    b: OpBuilder,
    start: Value,
    stop: Value,
    fill: Callable[[Value, Value], None],
    length: ExprLike = LENGTH,
) -> For:
    """Return a loop over the runs of a range.

    Args:
        b: Where the number of runs is computed.
        start: The start of the range.
        stop: Its end.
        fill: Appends the statements of one run, given its start and its end.
        length: The number of iterations of a run.
    """
    run = Var("run", I32)
    with b.region() as stmts:
        first = (start + b.expr(run) * length).named("first")
        fill(first.value, (first + length).min(stop).named("last").value)
    runs = (b.expr(stop) - start).ceildiv(length).named("runs").value
    return For(run, Const(0, I32), runs, (), (), Block(tuple(stmts)), (), b.span)


def wide_type(type_: Type) -> Type:
    """Return the type in which values of a type are added up over runs."""
    return with_scalar(type_, F64) if scalar_of(type_) == F32 else type_


def wide(b: OpBuilder, value: Value) -> Value:
    """Return a value in the type that it is added up in."""
    return b.cast(value, scalar_of(wide_type(value.type)))
