"""Arrays of a thread that take turns in the same memory.

A compiler gives each array of a thread memory of its own, for as long as the thread runs. A thread
with dozens of them, as one that steps a robot, then has more memory than the caches of a device
hold for it. Here an array takes the memory of another one of its size that is not used any more, as
a linear scan allocates registers (Poletto and Sarkar, TOPLAS 1999), block by block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import field, replace

from difftile.ir.nodes import Alloc, Array, Block, ParallelFor, Stmt
from difftile.ir.types import scalar_of
from difftile.ir.walk import array_of, regions, walk, with_blocks
from difftile.records import dataclass

_FEW = 256  # numbers in the arrays of a thread, which need not take turns


def declared_late(block: Block) -> Block:
    """Return the block with each array declared where it is first used, in all regions."""
    inner = tuple(with_blocks(stmt, declared_late) for stmt in block.stmts)
    waiting = {s.array: s for s in inner if isinstance(s, Alloc)}
    stmts: list[Stmt] = []
    for stmt in inner:
        if isinstance(stmt, Alloc):
            continue
        if waiting:
            used = _mentioned(stmt)
            for array in [array for array in waiting if array in used]:
                stmts.append(waiting.pop(array))
        stmts.append(stmt)
    return replace(block, stmts=tuple(stmts))


@dataclass(frozen=True, slots=True)
class Turns:
    """Which arrays of a thread take turns.

    Attributes:
        takes: For an array the earlier one whose memory it takes.
        ends: The arrays whose memory is free after a statement, by its identity.
    """

    takes: dict[Array, Array] = field(default_factory=dict[Array, Array])
    ends: dict[int, list[Array]] = field(default_factory=lambda: defaultdict(list))


def take_turns(body: Block, apart: Collection[Array] = ()) -> Turns:
    """Return which arrays of a thread take turns.

    Args:
        body: The body of a finished program.
        apart: Arrays that keep memory of their own.
    """
    turns = Turns()
    if _numbers(body) > _FEW:
        for stmt in body.stmts:
            if isinstance(stmt, ParallelFor):
                _share(stmt.body, {}, turns, apart)
    return turns


def _share(
    block: Block, free: Mapping[Hashable, list[Array]], turns: Turns, apart: Collection[Array]
) -> None:
    """Find memory for the arrays that a block declares, inside its regions too.

    Args:
        block: The block.
        free: The memory that is free when it begins, by kind; memory of the arrays that the block
            declares is free again afterwards.
        turns: Grows.
        apart: Arrays that keep memory of their own.
    """
    last = {array: k for k, stmt in enumerate(block.stmts) for array in _mentioned(stmt)}
    own: defaultdict[Hashable, list[Array]] = defaultdict(list)
    own.update({kind: list(arrays) for kind, arrays in free.items()})
    ending: dict[int, list[Array]] = defaultdict(list)
    for k, stmt in enumerate(block.stmts):
        if isinstance(stmt, Alloc) and stmt.array.type.ndim and stmt.array not in apart:
            array = stmt.array
            if own[_kind(array)]:
                turns.takes[array] = own[_kind(array)].pop()
            ending[last[array]].append(array)
        for region in regions(stmt):
            _share(region, own, turns, apart)
        for array in ending[k]:
            own[_kind(array)].append(turns.takes.get(array, array))
            turns.ends[id(stmt)].append(array)


def _mentioned(stmt: Stmt) -> set[Array]:
    """Return the arrays that a statement declares or touches, inside its regions too."""
    return {
        array
        for inner in walk(Block((stmt,)))
        if (array := inner.array if isinstance(inner, Alloc) else array_of(inner)) is not None
    }


def _kind(array: Array) -> Hashable:
    return scalar_of(array.type.element), array.numbers


def _numbers(body: Block) -> int:
    """Return how many numbers the arrays of all threads hold."""
    return sum(s.array.numbers for s in walk(body) if isinstance(s, Alloc) and s.array.type.ndim)
