"""Parallel loops whose iterations are run by a warp each, of which the lanes share serial loops.

In `for i (parallel): for j: total += a[i, j] * x[j]`, threads side by side read memory a row apart,
and few iterations leave a GPU idle. Where a warp of 32 threads runs each iteration, its lanes take
turns in the inner loop: they read neighbouring elements, and add up their sums by shuffles at the
end. All lanes compute the statements outside such loops, and one of them writes.

Local arrays that turns write are in memory that the warp shares. The lanes meet before and after
each loop, and each single statement, that writes one; so a loop is shared only if the elements that
one turn writes are touched in no other, or all turns add to them. So it is with fields, if what one
lane writes another one touches elsewhere (`met_fields`). Nothing else needs a barrier, and none can
be under a condition that only some lanes take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from difftile.ir.facts import defined_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Const,
    Fail,
    For,
    Let,
    Load,
    Memory,
    ParallelFor,
    Print,
    Program,
    Stmt,
    Var,
    While,
)
from difftile.ir.types import F32, F64, I32, numpy_dtype, scalar_of
from difftile.ir.walk import WRITES, regions, walk, with_blocks, with_tasks
from difftile.passes.affine import Affine, Place, owns, place_of, ranges_of
from difftile.passes.reductions import reductions
from difftile.passes.warp_aggregate import Varying
from difftile.records import dataclass

WARP = 32  # lanes
SHARED = 48 << 10
"""The bytes of memory that a block of threads has together on any device of CUDA."""

_SHUFFLED = (F32,)  # the numbers that lanes exchange
_HELD = (F32, F64, I32)  # the numbers that shared memory holds
_SHORT = 4  # turns of a serial loop that each lane can run by itself


@dataclass(frozen=True, slots=True)
class Sharing:
    """How the lanes of warps can share a parallel loop.

    Args:
        loops: The serial loops in which they take turns.
        reads_rows: Threads would read or write rows of memory each, where lanes share them.
        reads_columns: Threads read or write elements side by side, where lanes would not.
        repeats: All lanes run other loops, each by itself.
        arrays: The local arrays that they share.
        fields: The fields that lanes wait for, as `met_fields`.
        added: The additions to these that several turns make to one element.
    """

    loops: tuple[For, ...]
    reads_rows: bool
    reads_columns: bool
    repeats: bool = False
    arrays: tuple[Array, ...] = ()
    fields: tuple[Array, ...] = ()
    added: tuple[Accumulate, ...] = ()

    @property
    def wanted(self) -> bool:
        """The user asks for one of the loops."""
        return any(loop.by_lanes for loop in self.loops)

    @property
    def bytes(self) -> int:
        """The shared memory of a warp."""
        return sum(map(_bytes, self.arrays))


def lanes_of(
    task: ParallelFor, defs: Mapping[Var, Stmt], *, reorders: bool = True
) -> Sharing | None:
    """Return how the lanes of warps can share a parallel loop; None if they cannot.

    Args:
        task: The loop.
        defs: The ops of its program.
        reorders: Sums of floats may be computed in another order. If not, lanes share no sums.
    """
    for stmt in walk(task.body):
        if isinstance(stmt, (Print, Fail)) or (isinstance(stmt, Combine) and stmt.out is not None):
            return None
    rows = _Rows(task, defs, reorders=reorders)
    loops = _shared(task.body, rows)
    met = met_fields(task, defs, loops)
    if not loops or None in met.values():
        return None
    accesses = [rows.of(loop) for loop in loops]
    added = [turns for loop in loops for turns in _turns_of(loop, defs).values() if turns]
    added += [turns for turns in met.values() if turns]
    sharing = Sharing(
        tuple(loops),
        reads_rows=any("row" in a for a in accesses),
        reads_columns=any("column" in a for a in accesses),
        repeats=_repeats(task.body, loops),
        arrays=tuple({array: None for loop in loops for array in _turns_of(loop, defs)}),
        fields=tuple(met),
        added=tuple(stmt for stmts in added for stmt in stmts),
    )
    return sharing if sharing.bytes <= SHARED else None


def by_warps(program: Program, shared: Collection[Sharing]) -> Program:
    """Return the program with some parallel loops run by warps.

    Args:
        program: A finished program.
        shared: The result of `lanes_of` for those loops.
    """
    chosen = [loop for sharing in shared for loop in sharing.loops]
    arrays = {array for sharing in shared for array in sharing.arrays}
    met = arrays | {array for sharing in shared for array in sharing.fields}
    added = [stmt for sharing in shared for stmt in sharing.added]

    def is_chosen(stmt: Stmt) -> bool:
        return isinstance(stmt, For) and any(stmt is loop for loop in chosen)

    def marked(block: Block) -> Block:
        return replace(block, stmts=tuple(map(mark, block.stmts)))

    def mark(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Accumulate):
            # Threads of a warp no longer run iterations side by side.
            atomic = stmt.atomic and stmt.array not in arrays
            atomic = atomic or (stmt.array in met and any(stmt is one for one in added))
            return replace(stmt, aggregated=False, atomic=atomic)
        if isinstance(stmt, Alloc):
            return replace(stmt, shared=stmt.array in arrays)
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
        reorders: As for `lanes_of`.
    """

    def __init__(self, task: ParallelFor, defs: Mapping[Var, Stmt], *, reorders: bool) -> None:
        self._defs = defs
        self._reorders = reorders
        self._fastest = task.indices[-1]
        self._varying = Varying(task)

    def shares(self, loop: For, inner: list[For]) -> bool:
        """Tell whether lanes share a loop, and not the loops inside of it."""
        turns = _turns_of(loop, self._defs)
        if not _is_reduction(loop) or None in turns.values():
            return False
        if not self._reorders and _adds_up(loop, self._defs):
            return False
        if loop.by_lanes:
            return True
        if turns:  # of which every write is one more reason to meet
            return not inner and not _is_short(loop)
        return "row" in self.of(loop) or not any("row" in self.of(one) for one in inner)

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
    """Return the serial loops of a block that lanes share."""
    found: list[For] = []
    for stmt in block.stmts:
        inner = [loop for region in regions(stmt) for loop in _shared(region, rows)]
        if isinstance(stmt, For) and rows.shares(stmt, inner):
            inner = [stmt]
        found += inner
    return found


def _repeats(block: Block, loops: list[For]) -> bool:
    """Tell whether all lanes repeat a loop of more than a few turns that has no loop to share."""
    for stmt in block.stmts:
        if any(stmt is loop for loop in loops):
            continue
        if isinstance(stmt, (For, While)) and not any(
            inner is loop for inner in walk(Block((stmt,))) for loop in loops
        ):
            if isinstance(stmt, While) or not _is_short(stmt):
                return True
        elif any(_repeats(region, loops) for region in regions(stmt)):
            return True
    return False


def _is_short(loop: For) -> bool:
    ends = (loop.start, loop.stop)
    return (
        isinstance(ends[0], Const)
        and isinstance(ends[1], Const)
        and ends[1].value - ends[0].value <= _SHORT
        and not any(isinstance(s, (For, While)) for s in walk(loop.body))
    )


def _is_reduction(loop: For) -> bool:
    """Tell whether the iterations of a loop may be run in any order, as far as its values go."""
    if any(scalar_of(carry.type) not in _SHUFFLED for carry in loop.carries):
        return False
    return reductions(loop) is not None


def _adds_up(loop: For, defs: Mapping[Var, Stmt]) -> bool:
    """Tell whether several turns of a loop add to one number."""
    if "add" in (reductions(loop) or ()):
        return True
    own = {s.array for s in walk(loop.body) if isinstance(s, Alloc)}
    changes = [s for s in walk(loop.body) if isinstance(s, (Accumulate, Combine))]
    return any(s.array not in own and not own_turns([(s, loop)], defs) for s in changes)


def _turns_of(loop: For, defs: Mapping[Var, Stmt]) -> dict[Array, tuple[Accumulate, ...] | None]:
    """Return the local arrays that a loop writes, with the additions that its turns share.

    The set is empty where each element belongs to one turn. None stands for turns in an order.
    """
    own = {s.array for s in walk(loop.body) if isinstance(s, Alloc)}
    accesses: dict[Array, list[Memory]] = {}
    for stmt in walk(loop.body):
        if isinstance(stmt, (Load, *WRITES)) and stmt.array.size and stmt.array not in own:
            accesses.setdefault(stmt.array, []).append(stmt)
    return {
        array: _turns(here, loop, defs) if _is_held(array) else None
        for array, here in accesses.items()
        if any(isinstance(stmt, WRITES) for stmt in here)
    }


def _is_held(array: Array) -> bool:
    """Tell whether shared memory holds arrays of a type."""
    return array.type.ndim > 0 and scalar_of(array.type.element) in _HELD


def _turns(
    accesses: list[Memory], loop: For, defs: Mapping[Var, Stmt]
) -> tuple[Accumulate, ...] | None:
    """Return the additions to an array that turns share, as `_turns_of`."""
    if own_turns([(stmt, loop) for stmt in accesses], defs):
        return ()
    added = tuple(stmt for stmt in accesses if isinstance(stmt, Accumulate))
    return added if len(added) == len(accesses) else None


def _bytes(array: Array) -> int:
    return array.numbers * numpy_dtype(scalar_of(array.type.element)).itemsize


def met_fields(
    task: ParallelFor, defs: Mapping[Var, Stmt], loops: Collection[For] | None = None
) -> dict[Array, tuple[Accumulate, ...] | None]:
    """Return the fields before and after whose writes lanes meet.

    Each with the additions that turns of one loop share, as `_turns_of`. The lanes need not meet
    where each by itself leaves the same elements in memory.

    Args:
        task: A parallel loop.
        defs: The ops of its program.
        loops: The serial loops that lanes share; by default the marked ones.
    """
    if loops is None:
        loops = [s for s in walk(task.body) if isinstance(s, For) and s.by_lanes]
    again = {v for s in walk(task.body) if isinstance(s, (For, While)) for v in _inside(s)}
    every = [*_accesses(task.body, loops, None, serial=False)]
    found: dict[Array, tuple[Accumulate, ...] | None] = {}
    for array in dict.fromkeys(s.array for s, _, _ in every if isinstance(s, WRITES)):
        accesses = [one for one in every if one[0].array is array]
        if array.size is not None or _goes_by_itself(accesses, again, defs):
            continue
        added: tuple[Accumulate, ...] | None = ()
        for loop in loops:
            here = [stmt for stmt, around, _ in accesses if around is loop]
            if any(isinstance(s, WRITES) for s in here) and not all(map(_is_atomic, here)):
                turns = _turns(here, loop, defs)
                added = None if added is None or turns is None else (*added, *turns)
        found[array] = added
    return found


def _goes_by_itself(
    accesses: list[tuple[Memory, For | None, bool]], again: set[Var], defs: Mapping[Var, Stmt]
) -> bool:
    """Tell whether lanes that do not meet leave the same elements of a field in memory."""
    if all(_is_atomic(stmt) for stmt, _, _ in accesses):
        return True
    inside = [(stmt, loop) for stmt, loop, _ in accesses if loop is not None]
    if not any(isinstance(stmt, WRITES) for stmt, _ in inside):
        return _reads_first(accesses)
    # Where a loop begins elsewhere each time, an element is in the turn of another lane.
    begins = again.isdisjoint(loop.start for _, loop in inside)
    return begins and len(inside) == len(accesses) and own_turns(inside, defs)


def _inside(loop: For | While) -> set[Var]:
    """Return the values that the turns of a loop define."""
    blocks = {v for region in regions(loop) for v in defined_in(region)}
    return blocks | {*loop.carries, *({loop.index} if isinstance(loop, For) else ())}


def _is_atomic(stmt: Stmt) -> bool:
    return isinstance(stmt, Combine) or (isinstance(stmt, Accumulate) and stmt.atomic)


def _accesses(
    block: Block, loops: Collection[For], around: For | None, *, serial: bool
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
        again = serial or (inner is None and isinstance(stmt, (For, While)))
        for region in regions(stmt):
            yield from _accesses(region, loops, inner, serial=again)


def own_turns(accesses: list[tuple[Memory, For]], defs: Mapping[Var, Stmt]) -> bool:
    """Tell whether an element is touched in turns of one lane only: in the same of each loop."""
    turn = Var("turn", I32)
    parts: dict[tuple[str, int], Var] = {}  # of the turn: quotients and remainders
    places: list[Place] = []
    starts = {loop.start for _, loop in accesses}
    varying: set[Var] = {turn}
    for stmt, loop in accesses:
        varying |= defined_in(loop.body)

        def known(form: Affine[Var], loop: For = loop) -> Affine[Var]:
            return form.renamed(lambda v: _known_as(v, loop, turn, parts, defs))

        places.append(tuple(map(known, place_of(stmt, defs))))
    varying |= {*parts.values()}
    ranges = {k: v for _, loop in accesses for k, v in ranges_of(loop.body).items()}
    divisors = {by for _, by in parts}
    pairs = [tuple(parts.get((op, by), turn) for op in ("floordiv", "mod")) for by in divisors]
    return len(starts) == 1 and any(
        owns(places, indices, varying, ranges) for indices in ((turn,), *pairs)
    )


def _known_as(
    v: Var, loop: For, turn: Var, parts: dict[tuple[str, int], Var], defs: Mapping[Var, Stmt]
) -> Var:
    """Return what stands for a value in all loops: the turn, or its quotient or remainder."""
    if v is loop.index:
        return turn
    match defs.get(v):
        case Let(op="floordiv" | "mod" as op, args=(index, Const(by))):
            if index is loop.index and by > 0:
                return parts.setdefault((op, int(by)), Var(op, I32))
            return v
        case _:
            return v


def _reads_first(accesses: list[tuple[Memory, For | None, bool]]) -> bool:
    """Tell whether all lanes have read an array before one of them writes."""
    writes = [k for k, (stmt, _, _) in enumerate(accesses) if not isinstance(stmt, Load)]
    reads = [k for k, (stmt, _, _) in enumerate(accesses) if isinstance(stmt, Load)]
    if not reads:
        return True
    return max(reads) < min(writes) and not any(accesses[k][2] for k in writes)
