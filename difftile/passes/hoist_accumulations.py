"""Sums that leave a loop: adding to an element that the loop does not vary goes into a local.

`for j: s[k] += v` turns into a carried sum and one `s[k] += sum` after the loop, which saves an
atomic an iteration and lets the loop vectorise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

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
from difftile.ir.types import I32
from difftile.ir.walk import defined_in, walk, with_blocks
from difftile.ops.build import OpBuilder, zero
from difftile.passes.blocked_sum import wide

Place: TypeAlias = tuple[Array, tuple[Value, ...]]
Totals: TypeAlias = dict[Place, Value]


def hoist_accumulations(program: Program) -> Program:
    """Return the program with accumulations moved behind the loops that do not vary their place."""
    return replace(program, body=_block(program.body))


def _block(block: Block) -> Block:
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        inner = with_blocks(stmt, _block)
        stmts += _behind(inner) if isinstance(inner, For) else [inner]
    return replace(block, stmts=tuple(stmts))


def _behind(loop: For) -> list[Stmt]:
    inside = defined_in(loop.body) | {loop.index, *loop.carries}
    b = OpBuilder()
    changed, totals = summed(b, loop, lambda place: _leaves(place, loop, inside))
    if not totals:
        return [loop]
    b.append(changed)
    b.span = loop.span
    # An empty loop must not touch the place at all: its index may be out of range.
    runs = b.call("lt", loop.start, loop.stop)
    with b.region() as adds:
        for (array, index), total in totals.items():
            b.accumulate(array, index, total)
    b.append(If(runs, Block(tuple(adds)), Block(()), (), loop.span))
    return b.stmts


def _leaves(place: Place, loop: For, inside: set[Var]) -> bool:
    array, index = place
    if array.size is not None or any(i in inside for i in index if isinstance(i, Var)):
        return False
    return not touched_otherwise(array, loop.body)


def touched_otherwise(array: Array, block: Block) -> bool:
    """Tell whether a block does anything with an array but accumulate into it."""
    return any(isinstance(s, (Load, Store, Combine)) and s.array is array for s in walk(block))


def summed(
    b: OpBuilder, loop: For, leaves: Callable[[Place], bool], *, levels: int = 0
) -> tuple[For, Totals]:
    """Return the loop without the accumulations that leave it, and the totals after it.

    Args:
        b: Where values are built; nothing is appended to its open region.
        loop: The loop.
        leaves: Which places leave.
        levels: How many loops, from this one inwards, add up in double precision.
    """
    body, totals = without(b, loop.body, leaves, direct=True, levels=max(0, levels - 1))
    carries: list[Var] = []
    results: list[Value] = []
    outs: Totals = {}
    with b.region() as adds:
        for (array, index), total in totals.items():
            name = f"{array.name}_sum"
            part = wide(b, total) if levels else total
            carry, out = Var(name, part.type), Var(name, part.type)
            carries.append(carry)
            results.append(b.call("add", carry, part))
            outs[(array, index)] = out
    new = replace(
        loop,
        carries=(*loop.carries, *carries),
        inits=(*loop.inits, *(zero(carry.type) for carry in carries)),
        outs=(*loop.outs, *(out for out in outs.values() if isinstance(out, Var))),
        body=Block((*body.stmts, *adds), (*body.results, *results)),
    )
    return new, outs


def without(
    b: OpBuilder, block: Block, leaves: Callable[[Place], bool], *, direct: bool, levels: int = 0
) -> tuple[Block, Totals]:
    """Return the block without the accumulations that leave it, and what they add up to.

    Args:
        b: Where values are built.
        block: The block.
        leaves: Which places leave.
        direct: The block runs in every iteration. Out of a branch only literal indices leave, since
            the index of a branch may be out of range where the branch is not taken.
        levels: How many of the loops in it, from outside, add up in double precision.
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
                case If():
                    changed, partial = _from_branches(b, stmt, leaves)
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


def _from_branches(b: OpBuilder, stmt: If, leaves: Callable[[Place], bool]) -> tuple[If, Totals]:
    then, of_then = without(b, stmt.then, leaves, direct=False)
    orelse, of_else = without(b, stmt.orelse, leaves, direct=False)
    return with_totals(replace(stmt, then=then, orelse=orelse), of_then, of_else)


def with_totals(stmt: If, of_then: Totals, of_else: Totals) -> tuple[If, Totals]:
    """Return a branch whose results have the totals of its sides as well, and what they are then.

    Where a side has no total for a place, it is zero.

    Args:
        stmt: The branch, without the accumulations.
        of_then: What those of one side add up to.
        of_else: Likewise of the other one.
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
