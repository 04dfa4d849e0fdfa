"""How many threads a device gives a parallel loop, by the work of its iterations.

A loop has a fixed number of threads, each of which runs iterations in strides. The number decides
how much memory is asked for at a time, and how much of a cache a thread has to itself.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf, prod

from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    For,
    Let,
    ParallelFor,
    Program,
    Stmt,
    Store,
    While,
)
from difftile.ir.types import is_float, shape_of
from difftile.ir.walk import definitions, literal_length, walk, with_tasks
from difftile.passes.interleave import interleave
from difftile.passes.tile_rows import BLOCK, tile_rows
from difftile.records import dataclass

_RESIDENT = 2048  # threads that a multiprocessor holds at a time, where the number is unknown
_BLOCK = 1024  # the largest; two of them leave a thread 32 registers
_FITTING = 16  # floats of an iteration for which 32 registers are enough, two at a time
_LIGHT = 32  # floats of an iteration of which two fit into more of them
_FEW = 256  # threads of a multiprocessor, of which each has some lines in its cache
_WARP = 32  # threads that run together
_BLOCKS = 32  # that a multiprocessor holds at a time
_SIDE_BY_SIDE = 8  # neighbouring numbers of 32 bits that memory has in one piece
_MANY = 64  # numbers in arrays of a thread, which its registers cannot hold
_SHORT = 16  # turns of a loop that is written out


@dataclass(frozen=True, slots=True)
class Grid:
    """The threads of a device that share a parallel loop.

    Args:
        threads: How many there are: a literal of the source, so that no task has to count them.
        block: How many the device starts together, on one of its multiprocessors.
        warp: How many threads a warp has.
        least: Where iterations spread over all blocks, as few to each as there can be: the least
            number that a block is given. 0 where threads take turns.
    """

    threads: int
    block: int = 0
    warp: int = 32
    least: int = 0


@dataclass(frozen=True, slots=True)
class Grids:
    """The threads of a device.

    Args:
        full: As many as it holds at a time, if each needs few registers.
        several: Several times as many as it holds: it gives them out as others end.
        few: So few that the caches hold the rows that each of them is writing.
        private: The threads of loops with large arrays of their own, which want the most registers
            and cache: single warps, among which iterations are divided evenly. With few iterations
            all multiprocessors have some, and the lanes of a warp diverge less.
        sharing: The threads of loops whose warps have arrays together: a warp in each block, as
            many as fit at the same time.
        tiled: The threads of loops whose warps copy rows together; None without warps.
    """

    full: Grid
    several: Grid
    few: Grid
    private: Grid
    sharing: Grid
    tiled: Grid | None = None

    @staticmethod
    def on(multiprocessors: int, resident: int = _RESIDENT, *, warps: bool = False) -> Grids:
        """Return the threads of a device.

        Args:
            multiprocessors: How many it has.
            resident: How many threads each of them holds at a time; 0 if that is unknown.
            warps: Threads run in warps.
        """
        block = _BLOCK if resident % _BLOCK == 0 else _BLOCK // 2
        held = multiprocessors * (resident or _RESIDENT)
        return Grids(
            full=Grid(held, block if resident else 0),
            several=Grid(4 * held),
            tiled=Grid(held, BLOCK) if warps else None,
            few=Grid(multiprocessors * _FEW),
            private=Grid(multiprocessors * _FEW, _WARP, least=_SIDE_BY_SIDE),
            sharing=Grid(multiprocessors * _BLOCKS * _WARP, _WARP),
        )

    def of(self, loop: ParallelFor) -> Grid:
        """Return the threads of a loop."""
        if loop.by_warps:
            shares = any(isinstance(s, Alloc) and s.shared for s in walk(loop.body))
            return self.sharing if shares else self.several
        if any(isinstance(s, For) and _writes_a_row(s) for s in walk(loop.body)):
            return self.few
        if _elements(loop.body) >= _MANY:
            return self.private
        return self.full if _floats(loop.body) <= _FITTING else self.several


@dataclass(frozen=True, slots=True)
class OnGrids:
    """A program as a device runs it.

    Args:
        program: The program.
        grids: The threads of each of its parallel loops.
        tiles: Its tiles of rows.
    """

    program: Program
    grids: list[Grid]
    tiles: frozenset[Array]


def on_grids(
    program: Program, grids: Grids, fresh: Collection[Array], tiled: Collection[int] = ()
) -> OnGrids:
    """Return a program as a device runs it.

    Args:
        program: The program.
        grids: The threads of the device.
        fresh: As for `interleave`.
        tiled: The numbers of the loops that copy rows in tiles.
    """
    chosen: list[Grid] = []
    tiles: set[Array] = set()

    def threaded(loop: ParallelFor) -> list[Stmt]:
        if len(chosen) in tiled and grids.tiled is not None:
            in_tiles = tile_rows(loop, fresh)
            if in_tiles.tiles:
                tiles.update(in_tiles.tiles)
                chosen.append(grids.tiled)
                return list(in_tiles.stmts)
        chosen.append(grids.of(loop))
        if loop.by_warps or _floats(loop.body) > _LIGHT:
            return [loop]
        count = literal_count(loop)
        has_few = count is not None and count <= 2 * grids.full.threads
        return [loop] if has_few else interleave(loop, fresh)

    program = with_tasks(program, threaded)
    return OnGrids(program, chosen, frozenset(tiles))


def literal_count(loop: ParallelFor) -> int | None:
    """Return the number of iterations, if all bounds are literals."""
    lengths = [*map(literal_length, loop.starts, loop.stops)]
    return None if inf in lengths else int(prod(lengths))


def _floats(body: Block) -> float:
    """Return the number of floats that an iteration computes; infinitely many if it has loops."""
    stmts = list(walk(body))
    if any(
        isinstance(s, (For, While)) or (isinstance(s, Alloc) and s.array.type.ndim) for s in stmts
    ):
        return inf
    values = [v.type for s in stmts for v in definitions(s) if is_float(v.type)]
    return sum(prod(shape_of(type_)) for type_ in values)


def _elements(body: Block) -> int:
    """Return how many numbers the arrays of a thread hold."""
    arrays = [s.array for s in walk(body) if isinstance(s, Alloc) and s.array.size]
    return sum((array.size or 0) * prod(shape_of(array.type.element)) for array in arrays)


def _writes_a_row(loop: For) -> bool:
    """Tell whether a long loop writes neighbouring elements of memory one after the other."""
    if literal_length(loop.start, loop.stop) <= _SHORT:
        return False
    along = {loop.index}
    for stmt in walk(loop.body):
        match stmt:
            case Let(out, "add" | "sub", args) if not along.isdisjoint(args):
                along.add(out)
            case Store(array, index) | Accumulate(array, index) if index and array.size is None:
                last = index[min(array.type.ndim, len(index)) - 1]
                if last in along and array.type.ndim > 1:
                    return True
            case _:
                pass
    return False
