"""Parallel loops whose iterations are run by a warp each, of which the lanes share serial loops.

In `for i (parallel): for j: total += a[i, j] * x[j]`, threads side by side read memory a row apart,
and few iterations leave a GPU idle. Where a warp of 32 threads runs each iteration, its lanes take
turns in the inner loop: they read neighbouring elements, and add up their sums by shuffles at the
end. All lanes compute the statements outside such loops, and one of them writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from difftile.ir.facts import defined_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Block,
    Combine,
    Const,
    Fail,
    For,
    If,
    Load,
    Memory,
    ParallelFor,
    Print,
    Program,
    Stmt,
    Var,
    While,
)
from difftile.ir.types import F32, scalar_of
from difftile.ir.walk import WRITES, regions, walk, with_blocks, with_tasks
from difftile.passes.affine import Affine, Place, owns, place_of, ranges_of
from difftile.passes.reductions import reductions
from difftile.passes.warp_aggregate import Varying
from difftile.records import dataclass

_SHUFFLED = (F32,)  # the numbers that lanes exchange
_SHORT = 4  # turns of a serial loop that each lane can run by itself


@dataclass(frozen=True, slots=True)
class Lanes:
    """How the lanes of warps can share a parallel loop.

    Args:
        loops: The serial loops in which they take turns.
        reads_rows: Threads would read or write rows of memory each, where lanes share them.
        reads_columns: Threads read or write elements side by side, where lanes would not.
    """

    loops: tuple[For, ...]
    reads_rows: bool
    reads_columns: bool


def lanes_of(task: ParallelFor, defs: Mapping[Var, Stmt]) -> Lanes | None:
    """Return how the lanes of warps can share a parallel loop; None if they cannot.

    Args:
        task: The loop.
        defs: The ops of its program.
    """
    for stmt in walk(task.body):
        if isinstance(stmt, (Print, Fail)) or (isinstance(stmt, Combine) and stmt.out is not None):
            return None
    rows = _Rows(task, defs)
    loops = _shared(task.body, rows)
    if not loops or not _may_share(task, loops, defs):
        return None
    accesses = [rows.of(loop) for loop in loops]
    return Lanes(
        tuple(loops), any("row" in a for a in accesses), any("column" in a for a in accesses)
    )


def by_warps(program: Program, shared: Collection[Lanes]) -> Program:
    """Return the program with some parallel loops run by warps.

    Args:
        program: A finished program.
        shared: The result of `lanes_of` for those loops.
    """
    chosen = [loop for lanes in shared for loop in lanes.loops]

    def is_chosen(stmt: Stmt) -> bool:
        return isinstance(stmt, For) and any(stmt is loop for loop in chosen)

    def marked(block: Block) -> Block:
        return replace(block, stmts=tuple(map(mark, block.stmts)))

    def mark(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Accumulate):
            # Threads of a warp no longer run iterations side by side.
            return replace(stmt, aggregated=False)
        inner = with_blocks(stmt, marked)
        return (
            replace(inner, by_lanes=True) if isinstance(inner, For) and is_chosen(stmt) else inner
        )

    def changed(task: ParallelFor) -> list[Stmt]:
        if not any(map(is_chosen, walk(task.body))):
            return [task]
        return [replace(task, body=marked(task.body), by_warps=True)]

    return with_tasks(program, changed)


class _Rows:
    """Tells how a serial loop moves through memory.

    Args:
        task: The parallel loop around it.
        defs: The ops of the program.
    """

    def __init__(self, task: ParallelFor, defs: Mapping[Var, Stmt]) -> None:
        self._defs = defs
        self._fastest = task.indices[-1]
        self._varying = Varying(task)

    def of(self, loop: For) -> set[str]:
        """Return "row" if a loop runs along rows, one for each thread; "column" if across them."""
        found: set[str] = set()
        inside = defined_in(loop.body) | {loop.index}
        for stmt in walk(loop.body):
            if not isinstance(stmt, (Load, *WRITES)) or stmt.array.size is not None:
                continue
            *outer, last = place_of(stmt, self._defs) or (None,)
            if last is None:
                continue
            forms: list[Affine[Var]] = [*outer, last]
            if abs(last.factor(self._fastest)) == 1:
                if any(v in inside for form in forms for v in form.factors):
                    found.add("column")
            elif abs(last.factor(loop.index)) == 1 and self._varies(forms):
                found.add("row")
        return found

    def _varies(self, forms: list[Affine[Var]]) -> bool:
        """Tell whether a place is another one for threads side by side."""
        return any(self._varying.of(v) for form in forms for v in form.factors)


def _shared(block: Block, rows: _Rows) -> list[For]:
    """Return the serial loops of a block that lanes share; none if it has others."""
    found: list[For] = []
    for stmt in block.stmts:
        if isinstance(stmt, While):
            return []
        if isinstance(stmt, For):
            inner = _shared(stmt.body, rows)
            along = [loop for loop in inner if "row" in rows.of(loop)]
            if _is_shareable(stmt) and ("row" in rows.of(stmt) or not along):
                found.append(stmt)
            elif inner:
                found += inner
            elif not _is_short(stmt):
                return []
        elif isinstance(stmt, If):
            for region in regions(stmt):
                inner = _shared(region, rows)
                if not inner and any(isinstance(s, (For, While)) for s in walk(region)):
                    return []
                found += inner
    return found


def _is_short(loop: For) -> bool:
    ends = (loop.start, loop.stop)
    return (
        isinstance(ends[0], Const)
        and isinstance(ends[1], Const)
        and ends[1].value - ends[0].value <= _SHORT
        and not any(isinstance(s, (For, While)) for s in walk(loop.body))
    )


def _is_shareable(loop: For) -> bool:
    """Tell whether the iterations of a loop may be run in any order, as far as its values go."""
    if any(scalar_of(carry.type) not in _SHUFFLED for carry in loop.carries):
        return False
    if reductions(loop) is None:
        return False
    own = {s.array for s in walk(loop.body) if isinstance(s, Alloc)}
    written = {s.array for s in walk(loop.body) if isinstance(s, WRITES)}
    return all(array.size is None or array in own for array in written)


def _may_share(task: ParallelFor, loops: list[For], defs: Mapping[Var, Stmt]) -> bool:
    """Tell whether lanes that run by themselves leave the same elements in memory."""
    for array in {s.array for s in walk(task.body) if isinstance(s, WRITES)}:
        if array.size is not None:
            continue
        accesses = [
            (stmt, loop, serial)
            for stmt, loop, serial in _accesses(task.body, loops, None, serial=False)
            if stmt.array is array
        ]
        if all(_is_atomic(stmt) for stmt, _, _ in accesses):
            continue
        inside = [(stmt, loop) for stmt, loop, _ in accesses if loop is not None]
        if any(isinstance(stmt, WRITES) for stmt, _ in inside):
            if len(inside) < len(accesses) or not _own_turns(inside, defs):
                return False
        elif not _reads_first(accesses):
            return False
    return True


def _is_atomic(stmt: Stmt) -> bool:
    return isinstance(stmt, Combine) or (isinstance(stmt, Accumulate) and stmt.atomic)


def _accesses(
    block: Block, loops: list[For], around: For | None, *, serial: bool
) -> Iterator[tuple[Memory, For | None, bool]]:
    """Yield accesses in the order of the text.

    Each comes with the loop around it that lanes share, if any, and otherwise whether there is
    another loop around it.
    """
    for stmt in block.stmts:
        if isinstance(stmt, (Load, *WRITES)):
            yield stmt, around, serial
        inner = around
        if isinstance(stmt, For) and any(stmt is loop for loop in loops):
            inner = stmt
        again = serial or (inner is None and isinstance(stmt, For))
        for region in regions(stmt):
            yield from _accesses(region, loops, inner, serial=again)


def _own_turns(accesses: list[tuple[Memory, For]], defs: Mapping[Var, Stmt]) -> bool:
    """Tell whether an element is touched in turns of one lane only: in the same of each loop."""
    turn = Var("turn", accesses[0][1].index.type)
    places: list[Place] = []
    starts = {loop.start for _, loop in accesses}
    varying: set[Var] = {turn}
    for stmt, loop in accesses:
        varying |= defined_in(loop.body)
        place = place_of(stmt, defs)
        places.append(tuple(form.substituted(loop.index, Affine({turn: 1})) for form in place))
    ranges = {k: v for _, loop in accesses for k, v in ranges_of(loop.body).items()}
    return len(starts) == 1 and owns(places, (turn,), varying, ranges)


def _reads_first(accesses: list[tuple[Memory, For | None, bool]]) -> bool:
    """Tell whether all lanes have read an array before one of them writes."""
    writes = [k for k, (stmt, _, _) in enumerate(accesses) if not isinstance(stmt, Load)]
    reads = [k for k, (stmt, _, _) in enumerate(accesses) if isinstance(stmt, Load)]
    if not reads:
        return True
    return max(reads) < min(writes) and not any(accesses[k][2] for k in writes)
