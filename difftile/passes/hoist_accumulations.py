"""Sums that leave a loop: adding to an element that the loop does not vary goes into a local.

`for j: s[k] += v` turns into a carried sum and one `s[k] += sum` after the loop, which saves an
atomic an iteration and lets the loop vectorise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeAlias

from difftile.ir.facts import defined_in, gathered
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    Load,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import BOOL, I32, scalar_of
from difftile.ir.walk import add_carries, rebuilt, with_blocks
from difftile.ops.build import OpBuilder, zero
from difftile.passes.blocked_sum import wide

Place: TypeAlias = tuple[Array, tuple[Value, ...]]
Totals: TypeAlias = dict[Place, Value]


def hoist_accumulations(program: Program) -> Program:
    """Return the program with accumulations moved out of the loops that do not vary their place."""
    return replace(program, body=_block(program.body))


def _block(block: Block) -> Block:
    b = OpBuilder()
    for stmt in block.stmts:
        inner = with_blocks(stmt, _block)
        totals: Totals = {}
        sure: set[Place] = set()
        b.span = None  # a carried sum belongs to no line
        if isinstance(inner, For):
            sure = added_always(inner.body)
            inner, totals = summed(b, inner, invariant_in(inner))
        b.append(inner)
        if isinstance(inner, For) and totals:
            b.span = inner.span
            # An empty loop must not touch the place at all: its index may be out of range.
            with b.branch((b.expr(inner.start) < inner.stop).value):
                add_totals(b, totals, sure)
    return rebuilt(block, b.stmts, block.results)


def added_always(body: Block) -> set[Place]:
    """Return the places that each iteration of a loop adds to."""
    return {(s.array, s.index) for s in body.stmts if isinstance(s, Accumulate)}


def add_totals(b: OpBuilder, totals: Totals, sure: set[Place]) -> None:
    """Append the totals of a loop to their places.

    Args:
        b: Where they are appended.
        totals: The totals.
        sure: The places that the loop adds to in any case. For the others, a branch that was never
            taken may have kept the index inside the shape.
    """
    for (array, index), wide_total in totals.items():
        total = b.cast(wide_total, scalar_of(array.type.element))
        inside = b.expr(Const(True, BOOL))
        for axis, i in enumerate(index[: array.type.ndim]):
            # There are no fields without elements.
            if (array, index) not in sure and i != Const(0, I32):
                inside = inside & (b.expr(i) < b.size(array, axis))
        with nullcontext() if isinstance(inside.value, Const) else b.branch(inside.value):
            b.accumulate(array, index, total)


def invariant_in(loop: For) -> Callable[[Place], bool]:
    """Return the test for places that a loop does not vary, and does nothing to but add."""
    inside = defined_in(Block((loop,)))

    def leaves(place: Place) -> bool:
        array, index = place
        varies = not inside.isdisjoint(index)
        return array.size is None and not varies and array not in touched_otherwise(loop.body)

    return leaves


@gathered
def touched_otherwise(stmt: Stmt) -> Iterable[Array]:
    """Return the arrays with which a block does anything but accumulate into them."""
    return (stmt.array,) if isinstance(stmt, (Load, Store, Combine)) else ()


def summed(
    b: OpBuilder, loop: For, leaves: Callable[[Place], bool], *, levels: int = 0
) -> tuple[For, Totals]:
    """Return the loop without the accumulations that leave it, and the totals after it.

    Args:
        b: Where values are built; nothing is appended to its open region.
        loop: The loop.
        leaves: Tells whether the sum of a place leaves.
        levels: The number of loops, from this one inwards, that add up in double precision.
    """
    body, totals = without(b, loop.body, leaves, direct=True, levels=max(0, levels - 1))
    carries: list[Var] = []
    results: list[Value] = []
    with b.region() as adds:
        for (array, _), total in totals.items():
            part = wide(b, total) if levels else total
            carry = Var(f"{array.name}_sum", part.type)
            carries.append(carry)
            results.append(b.call("add", carry, part))
    inits = [zero(carry.type) for carry in carries]
    outs = [Var(carry.name, carry.type) for carry in carries]
    body = Block((*body.stmts, *adds), (*body.results, *results))
    return add_carries(loop, carries, inits, outs, body), dict(zip(totals, outs, strict=True))


def without(
    b: OpBuilder, block: Block, leaves: Callable[[Place], bool], *, direct: bool, levels: int = 0
) -> tuple[Block, Totals]:
    """Return the block without the accumulations that leave it, and their totals.

    Args:
        b: Where values are built.
        block: The block.
        leaves: Tells whether the sum of a place leaves.
        direct: The block runs in every iteration. Out of a branch only literal indices leave, since
            the index of a branch may be out of range where the branch is not taken.
        levels: The number of loops in it, from outside, that add up in double precision.
    """
    totals: Totals = {}

    def add(place: Place, value: Value) -> None:
        known = totals.get(place)
        if known is not None and known.type != value.type:
            known, value = wide(b, known), wide(b, value)
        totals[place] = value if known is None else b.call("add", known, value)

    with b.region() as stmts:
        for stmt in block.stmts:
            match stmt:
                case Accumulate(array, index, value) if _may_leave(
                    (array, index), leaves, direct=direct
                ):
                    add((array, index), value)
                case If(then=then, orelse=orelse):
                    then, of_then = without(b, then, leaves, direct=False)
                    orelse, of_else = without(b, orelse, leaves, direct=False)
                    changed = replace(stmt, then=then, orelse=orelse)
                    changed, partial = with_totals(changed, of_then, of_else)
                    b.append(changed)
                    for place, value in partial.items():
                        add(place, value)
                case For():
                    loop, partial = summed(
                        b,
                        stmt,
                        lambda place: _may_leave(place, leaves, direct=False),
                        levels=levels,
                    )
                    b.append(loop)
                    for place, value in partial.items():
                        add(place, value)
                case _:
                    b.append(stmt)
    return Block(tuple(stmts), block.results), totals


def _may_leave(place: Place, leaves: Callable[[Place], bool], *, direct: bool) -> bool:
    literal = all(isinstance(i, Const) and i.type == I32 for i in place[1])
    return (direct or literal) and leaves(place)


def with_totals(stmt: If, of_then: Totals, of_else: Totals) -> tuple[If, Totals]:
    """Return a branch that yields the totals of its sides as well, and its totals.

    Args:
        stmt: The branch, without the accumulations.
        of_then: The totals of one side; a place without one has the total zero.
        of_else: The totals of the other side.
    """
    outs: dict[Place, Var] = {}
    sides: tuple[list[Value], list[Value]] = ([], [])
    for place in {**of_then, **of_else}:
        known = of_then.get(place, of_else.get(place))
        assert known is not None
        outs[place] = Var(f"{place[0].name}_sum", known.type)
        for side, totals in zip(sides, (of_then, of_else), strict=True):
            side.append(totals.get(place, zero(known.type)))
    new = replace(
        stmt,
        then=replace(stmt.then, results=(*stmt.then.results, *sides[0])),
        orelse=replace(stmt.orelse, results=(*stmt.orelse.results, *sides[1])),
        outs=(*stmt.outs, *outs.values()),
    )
    return new, dict(outs)
