"""Parallel loops of a device in another form than they are written in: which, at a launch.

Shapes decide: a loop that fills a GPU in one form leaves it idle in another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from difftile.ir.facts import fact
from difftile.ir.nodes import Block, For, ParallelFor
from difftile.passes.affine import definitions_of
from difftile.passes.by_warps import WARP, Sharing, lanes_of
from difftile.passes.flatten import flat_loop
from difftile.passes.tile_rows import tile_rows
from difftile.records import dataclass
from difftile.schedule.steps import Flat, Lanes, Tile
from difftile.schedule.work import MOST_ITERATIONS, LoopWork

_ROW = 128  # elements of a row that lanes read together: with fewer, sums over warps take longer
_FEW = 1 << 16  # iterations that leave a GPU idle, where a thread runs each
_WALK = 16  # iterations along a row: fewer leave most lanes without an element to copy
_LONG = 64  # iterations that are worth a sum over a warp, where memory gains nothing


@dataclass(frozen=True, slots=True)
class DeviceLoops:
    """The parallel loops of a program that can have another form, by their number.

    Args:
        flat: The serial loop that can be an axis.
        lanes: How the lanes of a warp can share an iteration.
        rows: The serial loops that walk along rows.
        reorders: Sums of floats may be computed in another order.
    """

    flat: Mapping[int, For]
    lanes: Mapping[int, Sharing]
    rows: Mapping[int, Sequence[For]]
    reorders: bool = True

    def step(self, number: int, work: LoopWork) -> tuple[Flat | Lanes | Tile, str] | None:
        """Return the step of a loop for its work, and the reason; None for the form it has.

        Args:
            number: The number of the loop.
            work: Its work.
        """
        possible = self.possible(number, work)
        if Flat() in possible and (trips := work.trip_count(self.flat[number])) > 1:
            return Flat(), f"the {trips:,.0f} turns of its serial loop are more iterations"
        sharing = self.lanes.get(number)
        why = None
        if sharing is not None and Lanes(WARP) in possible and (self.reorders or sharing.wanted):
            why = _by_warps(sharing, work)
        if why is not None:
            return Lanes(WARP), why
        if any(work.trip_count(loop) >= _WALK for loop in self.rows.get(number, ())):
            return Tile(), "threads walk along rows, which a warp reads side by side"
        return None

    def possible(self, number: int, work: LoopWork) -> list[Flat | Lanes | Tile]:
        """Return the steps that a loop can have for its work, as far as iterations can be counted.

        Args:
            number: The number of the loop.
            work: Its work.
        """
        found: list[Flat | Lanes | Tile] = []
        count, flat, lanes = prod(work.axes), self.flat.get(number), self.lanes.get(number)
        if flat is not None and count * work.trip_count(flat) <= MOST_ITERATIONS:
            found.append(Flat())
        if lanes is not None and count * WARP <= MOST_ITERATIONS:
            found.append(Lanes(WARP))
        if self.rows.get(number):
            found.append(Tile())
        return found


@fact
def device_loops(body: Block, *, warps: bool, reorders: bool = True) -> DeviceLoops:
    """Return the loops of a finished program that can have another form.

    Args:
        body: The body of the program.
        warps: Threads run in warps, which can exchange values.
        reorders: Sums of floats may be computed in another order.
    """
    defs = definitions_of(body)
    tasks = [stmt for stmt in body.stmts if isinstance(stmt, ParallelFor)]
    flat = {k: flat_loop(task, defs) for k, task in enumerate(tasks)}
    lanes = {k: lanes_of(task, defs, reorders=reorders) for k, task in enumerate(tasks) if warps}
    rows = {k: tile_rows(task).loops for k, task in enumerate(tasks) if warps and reorders}
    return DeviceLoops(
        {k: loop for k, loop in flat.items() if loop is not None},
        {k: found for k, found in lanes.items() if found is not None},
        {k: loops for k, loops in rows.items() if loops},
        reorders,
    )


def _by_warps(sharing: Sharing, work: LoopWork) -> str | None:
    """Return why warps run the iterations of a loop; None if threads do."""
    iterations, trips = prod(work.axes), _trips(sharing, work)
    if sharing.wanted:
        held = f", in {sharing.bytes:,} bytes of shared memory" if sharing.bytes else ""
        return f"dt.lanes() asks for it{held}"
    # Loops that all lanes repeat, and lanes that meet, have not been measured.
    if sharing.reads_columns or sharing.repeats or sharing.arrays or sharing.fields:
        return None
    if trips > MOST_ITERATIONS:
        return None
    if sharing.reads_rows:
        return f"rows of {trips:,.0f} numbers are read side by side" if trips >= _ROW else None
    if iterations <= _FEW and trips >= _LONG:
        return f"{iterations:,.0f} iterations leave a device idle, with a thread for each"
    return None


def _trips(sharing: Sharing, work: LoopWork) -> float:
    """Return the largest trip count of a loop that lanes share."""
    return max(work.trip_count(loop) for loop in sharing.loops)
