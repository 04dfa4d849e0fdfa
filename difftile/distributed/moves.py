"""Which rows of a rank move where, when particles change their owners.

Kernels over the rows, which need no order of threads: each thread counts the rows of its own
stretch by their destination, prefix sums give the place of the first row of each destination in
each stretch, and the thread writes its rows there in order.

Rows that stay keep their places: arrivals take the places of rows that have left, and the last rows
fill the remaining ones, so the work after the search grows with the rows that move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.distributed.domain import Domain
from difftile.prefix_sums import Scan, grain


@dataclass(frozen=True, slots=True)
class MoveFields:
    """The moves of the rows of one rank, in fields of 32-bit integers.

    Rows that fill places on their own rank follow the rows that leave.

    Args:
        taken: The rows that move: leaving rows, in the order of the ranks that they go to and
            of rows, then the last rows, from the last one on.
        places: The rows that they become: for arriving rows, in the order of the ranks that they
            come from, then of the last rows.
        peers: How many go to each rank, and come from each, shape (2, ranks).
        ends: The number of rows taken, the number placed, the first and the last row, the latter
            not included, that are no longer in use, the number that leaves, and that arrives.
    """

    taken: dt.Field
    places: dt.Field
    peers: dt.Field
    ends: dt.Field


class MoveSearch:
    """The search for the rows that move, on the device.

    Destinations have numbers: the other ranks in their order, then the own one, then the outside of
    the grid.

    Args:
        domain: The division of space.
        position: The positions, shape (capacity,).
        count: The number of rows in use.
        rank: This rank.
        ranks: The number of ranks.
    """

    def __init__(
        self, domain: Domain, position: dt.Field, count: dt.Field, rank: int, ranks: int
    ) -> None:
        self._position, self._count, self._rank, self._ranks = position, count, rank, ranks
        self._is_scalar = not position.element_shape
        strides = domain.strides
        self._strides = strides[0] if self._is_scalar else strides
        self._borders = dt.from_numpy(_table(domain, position), position.element)
        rows = position.shape[0]
        self._stretch = grain().chunk_of(rows)
        self._stretches = -(-rows // self._stretch)
        self._going = dt.zeros(rows, ti.i32)
        self._starts = dt.zeros((self._stretches, ranks + 2), ti.i32)
        self._first = dt.zeros(ranks + 2, ti.i32)
        self._rows = dt.zeros(3, ti.i32)
        self._scan = Scan()

    def count_rows(self) -> npt.NDArray[np.int64]:
        """Return how many rows go to each destination, shape (ranks + 1,)."""
        whole: Any = _itself if self._is_scalar else _sum
        numbers = self._strides, self._rank, self._ranks
        _find(self._position, self._count, self._borders, whole, *numbers, self._going)
        cut = self._stretch, self._stretches, self._ranks + 2
        _count_going(self._going, self._count, *cut, self._starts)
        self._scan(self._starts, self._stretches, self._ranks + 2)
        _copy_first(self._starts, self._first)
        return np.diff(self._first.to_numpy().astype(np.int64))

    def list_rows(self, before: int, after: int, leaving: int, into: MoveFields) -> None:
        """List the rows that move, once for each `count_rows`.

        Args:
            before: The number of rows in use before.
            after: The number of rows in use afterwards.
            leaving: How many go to other ranks.
            into: Takes the rows and places. Its `ends` holds how many leave and arrive in place of
                the rows taken and placed, to which the last rows are added.
        """
        cut = self._stretch, self._stretches, self._ranks - 1
        # In a field: the bounds of indices would be computed again for each three numbers.
        self._rows.from_numpy(np.array([before, after, leaving], np.int32))
        _list(self._going, *cut, self._rows, self._starts, into.taken, into.places, into.ends)


def _table(domain: Domain, position: dt.Field) -> npt.NDArray[np.floating]:
    """Return the borders of parts, shape (largest number of parts + 1, axes or none).

    Rings have no first border and no last one; no position reaches those of parts that an axis
    lacks.
    """
    dtype = position.numpy_dtype
    most = max(len(one) for one in domain.starts)
    found = np.full((most + 1, len(domain.starts)), np.finfo(dtype).max, dtype)
    for axis, borders in enumerate(domain.borders(dtype)):
        found[: len(borders) - 1, axis] = borders[:-1]
        found[-1, axis] = borders[-1]
        if domain.periodic[axis]:
            found[0, axis], found[-1, axis] = np.finfo(dtype).min, np.finfo(dtype).max
    return found.reshape(-1, *position.element_shape)


@dt.func
def _itself(part: Any) -> Any:
    return part


@dt.func
def _sum(part: Any) -> Any:
    return part.sum()


@dt.kernel
def _find(
    x: Any,
    count: Any,
    borders: Any,
    whole: Any,
    strides: Any,
    own: int,
    ranks: int,
    going: Any,
) -> None:
    """Find the destination of each row."""
    last = borders.shape[0] - 1
    for p in range(count[None]):
        place = x[p]
        reached = ti.cast(place >= borders[0], ti.i32)
        outside = 1 - reached + ti.cast(place >= borders[last], ti.i32)
        outside += ti.cast(ti.math.isnan(place) | ti.math.isinf(place), ti.i32)
        for k in range(1, last):
            reached += ti.cast(place >= borders[k], ti.i32)
        rank = whole((reached - 1) * strides)
        if whole(outside) > 0:
            going[p] = ranks
        elif rank == own:
            going[p] = ranks - 1
        else:
            going[p] = rank - ti.cast(rank > own, ti.i32)


@dt.kernel
def _count_going(
    going: Any,
    count: Any,
    stretch: int,
    stretches: int,
    columns: int,
    counts: Any,
) -> None:
    """Count the rows of each stretch by their destination."""
    for s in range(stretches):
        for column in range(columns):
            counts[s, column] = 0
        for p in range(s * stretch, ti.min((s + 1) * stretch, count[None])):
            counts[s, going[p]] += 1


@dt.kernel
def _copy_first(counts: Any, first: Any) -> None:
    for column in first:
        first[column] = counts[0, column]


@dt.kernel
def _list(
    going: Any,
    stretch: int,
    stretches: int,
    own: int,
    rows: Any,
    starts: Any,
    taken: Any,
    places: Any,
    ends: Any,
) -> None:
    """List the rows that move, and the places that are free."""
    before, after, leaving = rows[0], rows[1], rows[2]
    for s in range(stretches):
        for p in range(s * stretch, ti.min((s + 1) * stretch, before)):
            to = going[p]
            at = starts[s, to]
            starts[s, to] = at + 1
            stayed = starts[s, own] - leaving  # rows before this one, or up to it
            if to < own:
                taken[at] = p
                if p < after:
                    places[p - stayed] = p
            elif p >= after:
                taken[before - stayed] = p
            if p == after:
                last = before - leaving - stayed + ti.cast(to == own, ti.i32)
                ends[0] += last
                ends[1] += last
    for p in range(before, after):
        places[leaving + p - before] = p
