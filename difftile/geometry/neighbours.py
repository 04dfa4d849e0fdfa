"""Neighbours of points: a grid of cells, and lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, brief
from difftile.geometry.cells import CellsAround, cell_along, is_finite
from difftile.geometry.lists import NeighbourLists, make_lists

_MOST_CELLS = 1 << 30  # their numbers are i32
_LONGEST = 1 << 20  # cells along one axis, which numbers of f32 tell apart


@dt.kernel
def _bounds(x, low, high):
    for i in x:
        p = x[i]
        if is_finite(p):
            for a in ti.static(range(p.n)):
                ti.atomic_min(low[a], p[a])
                ti.atomic_max(high[a], p[a])


@dt.kernel
def _count(x, group, groups: int, low, per_length, size, cell, starts):
    for i in x:
        p = x[i]
        g = group[i % group.shape[0]]
        cell[i] = -1
        if is_finite(p) and 0 <= g < groups:
            at = cell_along(p, low, per_length, size)
            number = g
            for a in ti.static(range(p.n)):
                number = number * size[a] + at[a]
            cell[i] = number
            starts[number + 1] += 1


@dt.kernel
def _fill(cell, starts, place):
    for i in cell:
        if cell[i] >= 0:
            place[ti.atomic_add(starts[cell[i] + 1], 1)] = i


@dt.kernel
def _in_order(cell, starts, place, order):
    """Sort the points of each cell, which threads have put there in any order."""
    for k in range(starts[starts.shape[0] - 1]):
        i = place[k]
        start, stop = starts[cell[i]], starts[cell[i] + 1]
        before = 0
        for other in range(start, stop):
            if place[other] < i:
                before += 1
        order[start + before] = i


@dt.kernel
def _has_moved(x, then, far: float) -> int:
    moved = 0
    for i in x:
        d = x[i] - then[i]
        if not d.dot(d) <= far * far:  # NaN too
            moved += 1
    return moved


@dt.data_oriented
class Neighbours:
    """The neighbours of points within a radius, for loops in kernels and as lists.

    `update` sorts the points into a grid of cells; then `for j in grid.around(p)` in a kernel runs
    over the indices of all points that may be within the radius of p, each once, in an order that
    depends on nothing but the positions. Others come along: test the distance. What is found has
    no derivative; distances that the kernel computes from positions have.

    Args:
        radius: The distance up to which points are neighbours [length].
        box: The lengths of a periodic box, 0 for an axis that does not repeat; none for points in
            open space. At least twice the radius and skin.
        skin: By how much farther `around` and lists reach, so that they stay complete until a
            point has moved by half of it [length].
        groups: The number of groups, such as environments: points see those of their own only.

    Raises:
        FieldError: A length is not positive, or the box is too small.
    """

    def __init__(
        self,
        radius: float,
        *,
        box: Sequence[float] | None = None,
        skin: float = 0.0,
        groups: int = 1,
    ) -> None:
        if not radius > 0 or not np.isfinite(radius):
            raise FieldError(f"Neighbours: the radius is a positive length, not {radius}.")
        if not skin >= 0 or not np.isfinite(skin):
            raise FieldError(f"Neighbours: the skin is 0 or a length, not {skin}.")
        if groups < 1:
            raise FieldError(f"Neighbours: there is at least one group, not {groups}.")
        self.radius, self.skin, self.groups = float(radius), float(skin), int(groups)
        self.reach = self.radius + self.skin
        self._box = None if box is None else np.array(box, np.float64)
        if self._box is not None:
            self._check_box(self._box)
        self.repeats = self._box is not None and bool(self._box.any())
        self._then: Any = None  # the points that the grid is made of
        self._group: Any = None

    def _check_box(self, box: np.ndarray) -> None:
        if box.ndim != 1 or not np.all((box == 0) | (box >= 2 * self.reach)) or box.size > 3:
            raise FieldError(
                f"Neighbours: a periodic box is at least {2 * self.reach:g} long, twice radius and "
                f"skin, or 0 for an axis that does not repeat; not {box.tolist()}."
            )

    # In Python

    def update(self, x: dt.Field, group: dt.Field | None = None) -> bool:
        """Sort points into the grid, if one of them has moved by more than half of the skin.

        Open tapes keep the grid that their launches have used.

        Args:
            x: Positions [length], vectors of 2 or 3 components, shape (n,).
            group: The group of each point, shape (n,); -1 for one that is no neighbour. Without it
                all are in group 0. `rebuild` if it changes.

        Returns:
            Whether the grid is new.

        Raises:
            FieldError: The positions are no such field, or the box has other axes.
        """
        self._check(x, group)
        with dt.stop_recording():
            then = self._then
            same = then is not None and then.shape == x.shape
            same = same and then.numpy_dtype == x.numpy_dtype
            if same and not _has_moved(x, then, 0.5 * self.skin):
                return False
        self.rebuild(x, group)
        return True

    def rebuild(self, x: dt.Field, group: dt.Field | None = None) -> None:
        """Sort points into the grid; see `update`."""
        self._check(x, group)
        # Not recorded, and always in new memory: launches of a tape may still need the old grid.
        with dt.stop_recording():
            n, d = x.shape[0], x.element_shape[0]
            layout = self._layout(x, d)
            self._low, self._per_length, self._lengths = (
                dt.from_numpy(one.astype(x.numpy_dtype)) for one in layout[:3]
            )
            self._size = dt.from_numpy(layout[3].astype(np.int32))
            cells = self.groups * int(np.prod(layout[3]))
            self._starts = dt.zeros(cells + 1, ti.i32)
            self._order = dt.zeros(max(n, 1), ti.i32)
            cell, place = dt.zeros(n, ti.i32), dt.zeros(max(n, 1), ti.i32)
            self._group = dt.zeros(1, ti.i32) if group is None else group
            grid = self._low, self._per_length, self._size
            _count(x, self._group, self.groups, *grid, cell, self._starts)
            dt.prefix_sum(self._starts)
            _fill(cell, self._starts, place)
            _in_order(cell, self._starts, place, self._order)
            self._then = dt.zeros(n, x.dtype)
            self._then.copy_from(x)

    def lists(self, *, half: bool = False, ordered: bool = False) -> NeighbourLists:
        """Return the points within radius and skin of each point, where the grid was last new.

        Args:
            half: List each pair once, with the point of the smaller index.
            ordered: Sort each list by the indices of points.

        Raises:
            FieldError: There is no grid yet.
        """
        if self._then is None:
            raise FieldError("Neighbours: there are no points yet; call 'update' first.")
        with dt.stop_recording():
            return make_lists(self, self._then, self._group, half=half, ordered=ordered)

    @property
    def nbytes(self) -> int:
        """The memory of the grid: an index for each point, a place for each cell, positions."""
        if self._then is None:
            return 0
        positions = self._then.shape[0] * self._then.element_shape[0]
        indices = self._order.shape[0] + self._starts.shape[0]
        return 4 * indices + positions * np.dtype(self._then.numpy_dtype).itemsize

    def _check(self, x: Any, group: Any) -> None:
        shape = getattr(x, "element_shape", None)
        if not isinstance(x, dt.Field) or shape not in ((2,), (3,)) or len(x.shape) != 1:
            raise FieldError(
                "Neighbours: positions are a field of vectors of 2 or 3 components, shape (n,), "
                f"not {brief(x)}."
            )
        if self._box is not None and self._box.size != shape[0]:
            raise FieldError(
                f"Neighbours: the box has {self._box.size} axes, and positions have {shape[0]}."
            )
        if group is not None and (not isinstance(group, dt.Field) or group.shape != x.shape):
            raise FieldError(
                f"Neighbours: groups are a field of integers, shape {x.shape}, not {brief(group)}."
            )

    def _layout(self, x: dt.Field, d: int) -> tuple[np.ndarray, ...]:
        """Return where cells start, how many there are per length, the box, and their number."""
        low, high = (dt.full(d, sign * np.inf, x.dtype.dtype) for sign in (1, -1))
        _bounds(x, low, high)
        least, most = (one.to_numpy().astype(np.float64) for one in (low, high))
        least, most = (np.where(np.isfinite(one), one, 0.0) for one in (least, most))
        lengths = np.zeros(d) if self._box is None else self._box
        repeats = lengths > 0
        start = np.where(repeats, 0.0, least)
        # Positions in cells are rounded: by this part of a cell at most.
        far = np.maximum(np.abs(least - start), np.abs(most - start)) / self.reach + 1
        width = self.reach * (1 + 8 * np.finfo(x.numpy_dtype).eps * far)
        # Beyond the last cell of an axis that does not repeat, one stays empty.
        size = np.where(repeats, lengths // width, (most - start) // width + 2)
        size = np.clip(size, 1, _LONGEST).astype(np.int64)
        most_cells = min(max(2 * x.shape[0], 64), _MOST_CELLS) // self.groups
        while np.prod(size) > most_cells and size.max() > 3:
            k = int(np.argmax(size))
            size[k] = max(3, size[k] // 2)
        if np.prod(size) * self.groups > _MOST_CELLS:
            raise FieldError(f"Neighbours: {self.groups} groups have too many cells.")
        per_length = np.where(repeats, size / np.where(repeats, lengths, 1.0), 1 / width)
        return start, per_length, lengths, size

    # In kernels

    @dt.func
    def around(self, p, group=0):
        """Return the points that may be neighbours of p, for a loop over their indices.

        Args:
            p: A position, of one of the points or any other.
            group: The group to look in.
        """
        cell = cell_along(p, self._low, self._per_length, self._size)
        size = ti.Vector([self._size[a] for a in range(p.n)])
        first = cell
        for a in ti.static(range(p.n)):
            # Where an axis has less than three cells all are around.
            first[a] = 0 if size[a] < 3 else (cell[a] - 1 if cell[a] > 0 else size[a] - 1)
        found = is_finite(p) and 0 <= group < self.groups
        return CellsAround(self._order, self._starts, first, size, group, found)

    @dt.func
    def is_near(self, p, q):
        """Return whether q is within the radius of p.

        What is under `if grid.is_near(...)` has derivatives; the test has none, so that the adjoint
        adds nothing for points that do not pass it.
        """
        d = dt.stop_grad(self.displacement(p, q))
        return d.norm_sqr() < self.radius * self.radius

    @dt.func
    def displacement(self, p, q):
        """Return q - p; in a periodic box to the nearest image of q."""
        d = q - p
        if ti.static(self.repeats):
            for a in ti.static(range(p.n)):
                length = self._lengths[a]
                if length > 0:
                    d[a] -= length * ti.round(d[a] / length)
        return d
