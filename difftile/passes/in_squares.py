"""Loops over rows and columns in squares, where an array is walked along its columns.

In `y[i, j] = x[j, i]` neighbouring iterations load from different rows: of each cache line one
number is used, and the line may be gone before the next row needs its neighbour. Within a square
the lines of both arrays stay in the cache (loop tiling: Wolf and Lam, "A data locality optimizing
algorithm", 1991). Iterations of a parallel loop may run in any order.
"""

from __future__ import annotations

from collections.abc import Mapping

from difftile.ir.facts import fact
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, nbytes_of
from difftile.ir.walk import walk, with_some
from difftile.ops.build import OpBuilder
from difftile.passes.affine import affine, definitions_of


def in_squares(program: Program, sides: Mapping[int, int]) -> Program:
    """Return the program with some of its parallel loops in squares.

    Args:
        program: A finished program.
        sides: The iterations along a side of a square, by the number of the loop: one of
            `loops_over_columns`.
    """
    left = iter([sides[k] for k in sorted(sides)])

    def changed(stmt: Stmt) -> list[Stmt]:
        return _of_loop(stmt, next(left)) if isinstance(stmt, ParallelFor) else [stmt]

    return with_some(program, sides, changed)


@fact
def loops_over_columns(body: Block) -> Mapping[int, int]:
    """Return the parallel loops that can run in squares, by their number.

    Their last two axes walk an array along columns, and no other loops or sums are inside: the
    order of sums would be another one.

    Returns:
        The bytes of an element of that array.
    """
    defs = definitions_of(body)
    loops = [stmt for stmt in body.stmts if isinstance(stmt, ParallelFor)]
    arrays = {k: _over_columns(loop, defs) for k, loop in enumerate(loops)}
    return {
        k: nbytes_of(array.type.element, ()) for k, array in arrays.items() if array is not None
    }


def _over_columns(loop: ParallelFor, defs: Mapping[Var, Stmt]) -> Array | None:
    """Return an array that a loop walks along columns, if it can run in squares."""
    stmts = list(walk(loop.body))
    if len(loop.indices) < 2 or loop.ordered or any(map(_prevents, stmts)):
        return None
    row, column = loop.indices[-2:]

    def walks_columns(index: tuple[Value, ...]) -> bool:
        *before, last = (affine(value, defs) for value in index)
        jumps = any(form.factor(column) for form in before)
        return jumps and not last.factor(column) and abs(last.factor(row)) == 1

    for stmt in stmts:
        if isinstance(stmt, (Load, Store, Accumulate)) and stmt.array.size is None:
            place = stmt.index[: stmt.array.type.ndim]
            if len(place) > 1 and walks_columns(place):
                return stmt.array
    return None


def _prevents(stmt: Stmt) -> bool:
    match stmt:
        case For() | While() | Combine():
            return True
        case Accumulate(array=array):
            return stmt.atomic and array.size is None
        case _:
            return False


def _of_loop(loop: ParallelFor, side: int) -> list[Stmt]:
    """Return the statements in place of a loop."""
    b, axes = OpBuilder(), list(zip(loop.indices, loop.starts, loop.stops, strict=True))
    b.span = loop.span
    *outer, _, _ = axes
    squares = [Var("square", I32) for _ in axes[-2:]]
    counts = [
        (b.expr(stop) - start).ceildiv(side).named("squares").value for _, start, stop in axes[-2:]
    ]
    with b.region() as stmts:
        inner = loop.body
        for square, (index, start, stop) in zip(squares[::-1], axes[:-3:-1], strict=True):
            # The maximum tells LLVM that an index does not overflow.
            low = (b.expr(square) * side + start).max(start).named("low")
            high = (low + side).min(stop).named("high")
            inner = Block((For(index, low.value, high.value, (), (), inner, (), loop.span),))
        b.extend(inner.stmts)
    zeros = (Const(0, I32),) * 2
    b.append(
        ParallelFor(
            (*(index for index, _, _ in outer), *squares),
            (*(start for _, start, _ in outer), *zeros),
            (*(stop for _, _, stop in outer), *counts),
            Block(tuple(stmts)),
            loop.span,
        )
    )
    return b.stmts
