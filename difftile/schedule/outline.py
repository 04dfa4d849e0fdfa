"""What the estimate of a launch depends on: the loops of a program, and the steps between them.

An estimate is made anew for each launch with other numbers, so the statements that cost the same in
each are counted once.
"""

from __future__ import annotations

from collections.abc import Collection
from math import prod
from typing import TypeAlias

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    For,
    If,
    Let,
    ParallelFor,
    Size,
    Stmt,
    Var,
)
from difftile.ir.types import shape_of
from difftile.ir.walk import regions
from difftile.records import dataclass
from difftile.schedule.speed import Speed


@dataclass(frozen=True, slots=True)
class Outline:
    """A block.

    Args:
        alike: The steps of its straight code where each statement is one.
        steps: The steps where ops differ.
        in_vectors: The steps in a loop of vectors, before they are divided.
        added: The numbers that are added to elements which iterations share, by array.
        parts: What depends on the launch, in order.
    """

    alike: float
    steps: float
    in_vectors: float
    added: tuple[tuple[Array, int], ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop.

    Args:
        stmt: The statement.
        vectors: Whether it becomes vector instructions, unless it is inside of one that does.
        body: Its body.
    """

    stmt: For | ParallelFor
    vectors: bool
    body: Outline


@dataclass(frozen=True, slots=True)
class Branches:
    """Blocks of which the longest counts, or all."""

    blocks: tuple[Outline, ...]
    all_run: bool


Part: TypeAlias = Loop | Branches | Size | Let
"""What depends on the launch in a block; sizes and lets are values that bounds follow from."""


def outline(block: Block, needed: Collection[Var], speed: Speed) -> Outline:
    """Return the outline of a block.

    Args:
        block: The block.
        needed: The values that bounds of loops follow from.
        speed: How fast its loops are.
    """
    alike = steps = in_vectors = 0.0
    added: list[tuple[Array, int]] = []
    parts: list[Part] = []
    for stmt in block.stmts:
        match stmt:
            case For() | ParallelFor():
                body = outline(stmt.body, needed, speed)
                parts.append(Loop(stmt, speed.is_vector(stmt), body))
                continue
            case Size(out):
                if out in needed:
                    parts.append(stmt)
                continue
            case Let(out):
                alike += 1
                steps += speed.of(stmt, in_vectors=False)
                in_vectors += speed.of(stmt, in_vectors=True)
                if out in needed:
                    parts.append(stmt)
                continue
            case Accumulate(array, value=value, atomic=True) | Combine(_, _, array, _, value):
                added.append((array, prod(shape_of(value.type))))
                continue
            case _:
                alike, steps, in_vectors = alike + 1, steps + 1, in_vectors + 1
        blocks = tuple(outline(region, needed, speed) for region in regions(stmt))
        if blocks:
            parts.append(Branches(blocks, not isinstance(stmt, If)))
    return Outline(alike, steps, in_vectors, tuple(added), tuple(parts))


def always_run(block: Block, counted: Collection[Var]) -> tuple[Let | ParallelFor, ...]:
    """Return the parallel loops of a block, and some values, but not those under conditions."""
    found: list[Let | ParallelFor] = []

    def visit(stmts: tuple[Stmt, ...]) -> None:
        for stmt in stmts:
            if isinstance(stmt, ParallelFor) or (isinstance(stmt, Let) and stmt.out in counted):
                found.append(stmt)
            if isinstance(stmt, (For, ParallelFor)):
                visit(stmt.body.stmts)

    visit(block.stmts)
    return tuple(found)
