"""Parallel loops over boxes of nearly one size get the same box, so that they can be merged.

A device starts a task for each loop, which takes longer than a test of bounds in every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from difftile.ir.nodes import Block, Const, If, ParallelFor, Program, Value
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import parallel_loops, with_tasks
from difftile.ops.build import OpBuilder

_SMALLEST = 0.5  # part of a box; smaller loops keep their own

_Box = tuple[tuple[int, int], ...]


def align_loops(program: Program) -> Program:
    """Return the program with loops over literal boxes widened to the largest that holds them."""
    loops = parallel_loops(program)
    boxes = sorted({box for loop in loops if (box := _box(loop))}, key=_size, reverse=True)

    def widened(loop: ParallelFor) -> list[ParallelFor]:
        own = _box(loop)
        if own is None or not _size(own):
            return [loop]
        wide = next((box for box in boxes if _holds(box, own)), own)
        if wide == own or _size(own) < _SMALLEST * _size(wide):
            return [loop]
        b = OpBuilder()
        inside = b.expr(Const(True, BOOL))
        for index, (low, high), (least, most) in zip(loop.indices, own, wide, strict=True):
            at = b.expr(index)
            inside = inside & (at >= Const(low, I32)) if low > least else inside
            inside = inside & (at < Const(high, I32)) if high < most else inside
        guarded = If(inside.value, loop.body, Block(()), (), loop.span)
        starts, stops = _literals([low for low, _ in wide]), _literals([high for _, high in wide])
        body = Block((*b.stmts, guarded))
        return [replace(loop, starts=starts, stops=stops, body=body)]

    return with_tasks(program, widened)


def _literals(numbers: Sequence[int]) -> tuple[Value, ...]:
    return tuple(Const(number, I32) for number in numbers)


def _box(loop: ParallelFor) -> _Box | None:
    """Return the bounds along each axis if all are literals."""
    bounds = [*loop.starts, *loop.stops]
    if not all(isinstance(bound, Const) for bound in bounds):
        return None
    numbers = [int(bound.value) for bound in bounds if isinstance(bound, Const)]
    rank = len(loop.indices)
    return tuple(zip(numbers[:rank], numbers[rank:], strict=True))


def _size(box: _Box) -> int:
    return prod(max(0, high - low) for low, high in box)


def _holds(outer: _Box, inner: _Box) -> bool:
    return len(outer) == len(inner) and all(
        least <= low and high <= most
        for (least, most), (low, high) in zip(outer, inner, strict=True)
    )
