"""Lists of neighbours: those of each point, and pairs."""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.geometry.cells import Run


@dt.func
def _is_listed(grid, x, i, j, half: ti.template()):
    near = grid.displacement(x[i], x[j]).norm_sqr() < grid.reach * grid.reach
    return near and (j > i if half else j != i)


@dt.kernel
def _count(grid, x, group, half: ti.template(), starts):
    for i in x:
        for j in grid.around(x[i], group[i % group.shape[0]]):
            if _is_listed(grid, x, i, j, half):
                starts[i] += 1


@dt.kernel
def _fill(grid, x, group, half: ti.template(), starts, points):
    for i in x:
        at = starts[i]
        for j in grid.around(x[i], group[i % group.shape[0]]):
            if _is_listed(grid, x, i, j, half):
                points[at] = j
                at += 1


@dt.kernel
def _sort(starts, points, ordered):
    """Sort the points of each list by their indices."""
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            before = 0
            for other in range(starts[i], starts[i + 1]):
                if points[other] < points[k]:
                    before += 1
            ordered[starts[i] + before] = points[k]


@dt.kernel
def _firsts(starts, first):
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            first[k] = i


@dt.data_oriented
class NeighbourLists:
    """For each point the points within radius and skin, as `Neighbours.lists` finds them.

    In a kernel `for j in lists.of(i)` runs over those of point i.

    Attributes:
        starts: For each point the place of its first neighbour, and their number at the end, shape
            (n + 1,).
        points: The neighbours of one point after the other, shape (entries,).
    """

    def __init__(self, starts: dt.Field, points: dt.Field) -> None:
        self.starts, self.points = starts, points

    @dt.func
    def of(self, i):
        """Return the neighbours of point i, for a loop over their indices."""
        return Run(self.points, self.starts[i], self.starts[i + 1])

    def pairs(self) -> tuple[dt.Field, dt.Field]:
        """Return the points of each pair, sorted by the first: integers, shape (entries,) each."""
        with dt.stop_recording():
            first = dt.zeros(self.points.shape, ti.i32)
            _firsts(self.starts, first)
        return first, self.points

    def __len__(self) -> int:
        """Return the number of entries of all lists."""
        return self.points.shape[0]


def make_lists(
    grid: Any, x: dt.Field, group: dt.Field, *, half: bool, ordered: bool
) -> NeighbourLists:
    """Return the lists of the points of a grid.

    Args:
        grid: The grid.
        x: The positions that it is made of.
        group: The group of each point, or of all.
        half: List each pair once, with the point of the smaller index.
        ordered: Sort each list by the indices of points.
    """
    n = x.shape[0]
    starts = dt.zeros(n + 1, ti.i32)
    _count(grid, x, group, half, starts)
    total = dt.prefix_sum(starts)
    points = dt.zeros(total, ti.i32)
    _fill(grid, x, group, half, starts, points)
    if ordered:
        unordered, points = points, dt.zeros(total, ti.i32)
        _sort(starts, unordered, points)
    return NeighbourLists(starts, points)
