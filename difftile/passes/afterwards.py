"""Reads, by rules, of the results of their calls, and writes that may come between.

A rule that reads `buf.after[i]` runs in the adjoint, when the whole stage has run. The element then
holds the result of its call unless it was written later: by another statement, or by the same call
in another iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from difftile.ir.facts import defined_in, fact
from difftile.ir.nodes import Block, For, Load, Memory, ParallelFor, Ruled, Stmt, Var, While
from difftile.ir.walk import WRITES, regions, rules, walk
from difftile.passes.affine import definitions_of, disjoint, owns, place_of, ranges_of, unique_in

Loops: TypeAlias = tuple[For | While | ParallelFor, ...]


@fact
def overwritten_later(body: Block) -> Mapping[Var, tuple[Load, Memory]]:
    """Return the reads of results of calls that may find another value, each with a write.

    Args:
        body: One stage, cut so that no later top-level statement writes such a field.
    """
    defs = definitions_of(body)
    found: dict[Var, tuple[Load, Memory]] = {}
    for task in body.stmts:
        writes = [s for s in walk(Block((task,))) if isinstance(s, WRITES)]
        for call, loops in _calls(Block((task,)), ()):
            own = {id(s) for s in walk(call.body)}
            reads = (s for rule in rules(call) for s in walk(rule.block) if isinstance(s, Load))
            for load in (read for read in reads if read.array.late):
                array = load.array.contents_of
                to_it = [s for s in writes if s.array is array]
                others = [s for s in to_it if id(s) not in own]
                mine = [s for s in to_it if id(s) in own]
                write = _later(load, mine, others, loops, task, defs)
                if write is not None:
                    found[load.out] = load, write
    return found


@fact
def reads_late(block: Block) -> bool:
    """Tell whether a rule in the block reads the result of its call in a field."""
    return any(isinstance(s, Load) and s.array.late for s in walk(block))


def _calls(block: Block, loops: Loops) -> Iterator[tuple[Ruled, Loops]]:
    """Yield calls with rules, and the loops around each."""
    for stmt in block.stmts:
        if isinstance(stmt, Ruled):
            yield stmt, loops
            yield from _calls(stmt.body, loops)
        inner = (*loops, stmt) if isinstance(stmt, (For, While, ParallelFor)) else loops
        for region in () if isinstance(stmt, Ruled) else regions(stmt):
            yield from _calls(region, inner)


def _later(
    load: Load,
    mine: Sequence[Memory],
    others: Sequence[Memory],
    loops: Loops,
    task: Stmt,
    defs: Mapping[Var, Stmt],
) -> Memory | None:
    """Return a write that may change the element after the call, if there is one."""
    whole = Block((task,))
    counted = [loop for loop in loops if not isinstance(loop, While)]
    if len(counted) < len(loops):
        return next(iter([*others, *mine]), None)
    nest = [loop.indices if isinstance(loop, ParallelFor) else (loop.index,) for loop in counted]
    varying = defined_in(whole).union(*nest)
    at = place_of(load, defs)
    for write in others:
        if not disjoint(place_of(write, defs), at, varying):
            return write
    if not mine:
        return None
    places = [place_of(write, defs) for write in mine]
    ranges, unique = ranges_of(whole), unique_in(whole)
    if all(
        owns([at, *places], indices, varying.difference(*nest[:k]), ranges, unique)
        for k, indices in enumerate(nest)
    ):
        return None  # in each loop every iteration has elements of its own
    # Iterations of a parallel loop that store one element race, whatever is read back.
    serial = any(isinstance(loop, For) for loop in loops)
    return mine[0] if serial or all(place != at for place in places) else None
