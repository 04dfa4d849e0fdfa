"""Loops over the points in the cells around a point: rows of cells, and the points of a row.

Cells are numbered so that those along the last axis follow one another, and points are in the order
of their cells: up to three cells that touch are one run of points. Both ends of an axis touch, so
that any point is in a cell; a run beyond the last cell goes on at the first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import difftile as dt
from difftile import ti


@dataclass
class Run:
    """Points that follow one another: numbers `start` to `stop` of an order.

    Args:
        order: Indices of points, shape (n,).
        start: The first one.
        stop: The one after the last.
    """

    order: Any
    start: Any
    stop: Any

    struct_of_fields = True  # not annotated: a mark of the class

    @dt.func
    def count(self):
        """Return the number of points."""
        return self.stop - self.start

    @dt.func
    def item(self, k):
        """Return the index of a point."""
        return self.order[self.start + k]


@dataclass
class CellsAround:
    """The cells around a point, in rows along the last axis.

    Args:
        order: Indices of points in the order of their cells, shape (n,).
        starts: For each cell the place of its first point in `order`, and n; shape (cells + 1,).
        first: The first cell along each axis, a vector of integers.
        size: The number of cells along each axis, a vector of integers.
        group: The group of points.
        found: Whether there is a cell: a point that is not finite has none.
    """

    order: Any
    starts: Any
    first: Any
    size: Any
    group: Any
    found: Any

    struct_of_fields = True

    @dt.func
    def count(self):
        """Return the number of runs: three for each axis but the last, twice if they wrap."""
        rows = ti.static(3 ** (self.first.n - 1))
        last = ti.static(self.first.n - 1)
        wraps = self.first[last] + ti.min(3, self.size[last]) > self.size[last]
        return ti.select(self.found, ti.select(wraps, 2 * rows, rows), 0)

    @dt.func
    def part(self, k):
        """Return a run of points; one of a row that another one stands for is empty."""
        last = ti.static(self.first.n - 1)
        rows = ti.static(3 ** (self.first.n - 1))
        rest = k % rows
        cell, stride = 0, 1
        is_row = True
        for b in ti.static(range(last)):
            axis = ti.static(last - 1 - b)
            step = rest % 3
            rest = rest // 3
            is_row = is_row and step < self.size[axis]
            at = self.first[axis] + ti.select(step < self.size[axis], step, 0)
            cell += stride * ti.select(at >= self.size[axis], at - self.size[axis], at)
            stride *= self.size[axis]
        cell = (cell + stride * self.group) * self.size[last]
        end = self.first[last] + ti.min(3, self.size[last])
        again = k >= rows
        start = ti.select(again, 0, self.first[last])
        stop = ti.select(again, end - self.size[last], ti.min(end, self.size[last]))
        stop = ti.select(is_row, stop, start)
        return Run(self.order, self.starts[cell + start], self.starts[cell + stop])


@dt.func
def is_finite(p):
    """Return whether each component of a vector is a finite number."""
    finite = True
    for a in ti.static(range(p.n)):
        finite = finite and not (ti.math.isnan(p[a]) or ti.math.isinf(p[a]))
    return finite


@dt.func
def cell_along(p, low, per_length, size):
    """Return the number of a point's cell along each axis."""
    cell = ti.Vector([0] * p.n)
    for a in ti.static(range(p.n)):
        at = ti.floor((p[a] - low[a]) * per_length[a])
        at -= ti.floor(at / size[a]) * size[a]
        cell[a] = ti.math.clamp(ti.cast(at, ti.i32), 0, size[a] - 1)
    return cell
