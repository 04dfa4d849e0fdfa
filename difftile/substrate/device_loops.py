"""Parallel loops of a device in another form than they are written in: which, at a launch.

Shapes decide: a loop that fills a GPU in one form leaves it idle in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from difftile.ir.nodes import ParallelFor, Program
from difftile.passes.affine import definitions_of
from difftile.passes.by_warps import by_warps, lanes_of
from difftile.passes.flatten import flat_loop, flatten
from difftile.passes.tile_rows import tile_rows
from difftile.substrate.work import MOST_ITERATIONS, LoopWork

_WARP = 32
_ROW = 128  # turns of a row that lanes read side by side: with fewer, sums over warps take longer
_FEW = 1 << 16  # iterations that leave a GPU idle, where a thread runs each
_WALK = 16  # turns along a row: fewer leave most lanes without an element to copy
_LONG = 64  # turns that are worth a sum over a warp, where memory gains nothing


class Forms(NamedTuple):
    """The numbers of the parallel loops that have another form.

    Args:
        flat: A serial loop becomes one of their axes.
        by_warps: Warps run their iterations.
        tiled: Warps copy the rows together that their threads walk along.
    """

    flat: frozenset[int] = frozenset()
    by_warps: frozenset[int] = frozenset()
    tiled: frozenset[int] = frozenset()


class DeviceLoops:
    """The loops of a program that can have another form.

    Args:
        program: A finished program.
        warps: Threads run in warps, which can exchange values, and sums may be reordered.
    """

    def __init__(self, program: Program, *, warps: bool) -> None:
        defs = definitions_of(program.body)
        tasks = [stmt for stmt in program.body.stmts if isinstance(stmt, ParallelFor)]
        flat = {k: flat_loop(task, defs) for k, task in enumerate(tasks)}
        self._flat = {k: loop for k, loop in flat.items() if loop is not None}
        lanes = {k: lanes_of(task, defs) for k, task in enumerate(tasks) if warps}
        self._lanes = {k: found for k, found in lanes.items() if found is not None}
        rows = {k: tile_rows(task).loops for k, task in enumerate(tasks) if warps}
        self._rows = {k: loops for k, loops in rows.items() if loops}

    def __bool__(self) -> bool:
        return bool(self._flat or self._lanes or self._rows)

    def choose(self, works: Sequence[LoopWork]) -> Forms:
        """Return the forms for a launch.

        Args:
            works: The work of each parallel loop.
        """
        flat = {k for k in self._flat if self._is_flat(k, works[k])}
        by_warps = {k for k in self._lanes if k not in flat and self._is_by_warps(k, works[k])}
        tiled = {
            k
            for k, loops in self._rows.items()
            if k not in flat | by_warps and any(works[k].turns_of(one) >= _WALK for one in loops)
        }
        return Forms(frozenset(flat), frozenset(by_warps), frozenset(tiled))

    def formed(self, program: Program, forms: Forms) -> Program:
        """Return the program in such forms, or a part of it with the same serial loops."""
        program = by_warps(program, [self._lanes[k] for k in forms.by_warps])
        return flatten(program, [self._flat[k] for k in forms.flat])

    def _is_flat(self, number: int, work: LoopWork) -> bool:
        turns = work.turns_of(self._flat[number])
        return turns > 1 and prod(work.axes) * turns <= MOST_ITERATIONS

    def _is_by_warps(self, number: int, work: LoopWork) -> bool:
        lanes = self._lanes[number]
        iterations = prod(work.axes)
        turns = max(work.turns_of(loop) for loop in lanes.loops)
        if iterations * _WARP > MOST_ITERATIONS or turns > MOST_ITERATIONS:
            return False
        if lanes.reads_columns:
            return False
        if lanes.reads_rows:
            return turns >= _ROW
        return iterations <= _FEW and turns >= _LONG
