"""Cells outside of the domain in checkpoints: boundary values that kernels have written.

Along axes that are not periodic the fields of a grid have such cells, which no rank owns and no
exchange fills. Those before and after the domain along an axis are two arrays. Each has all cells
along later axes, those outside of the domain included, and only cells of the domain along earlier
ones, so that corners are in one array. Next to a border between ranks both have some of the same
cells; the values come from the rank that owns the nearest cells of the domain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.distributed.blocks import Index
from difftile.distributed.grid_split import GridSplit

_SUFFIX = re.compile(r" (before|after) axis \d$")


@dataclass(frozen=True, slots=True)
class OutsideCells:
    """The cells outside of the domain on one side along an axis.

    Args:
        split: The division of the grid.
        axis: The axis, which is not periodic.
        after: Whether they come after the cells of the domain.
    """

    split: GridSplit
    axis: int
    after: bool

    def named(self, name: str) -> str:
        """Return the name of the array in a checkpoint, given the name of the field."""
        return f"{name} {'after' if self.after else 'before'} axis {self.axis}"

    @property
    def shape(self) -> Index:
        """The shape of the cells on all ranks together."""
        return tuple(stop - start for start, stop in self._limits())

    def part(self) -> tuple[Index, Index, tuple[slice, ...]]:
        """Return the box of the cells that this rank saves.

        Returns:
            Its first element and its shape, in the array, and its cells in the field.
        """
        layout, split = self.split.layout, self.split
        starts: list[int] = []
        stops: list[int] = []
        for axis, (low, high) in enumerate(self._limits()):
            owned, origin, size = split.owned[axis], split.origin[axis], layout.shape[axis]
            start, stop = owned.start + origin, owned.stop + origin
            # A rank at a border of the domain has the cells outside of it.
            starts.append(low if start == 0 else min(max(start, low), high))
            stops.append(high if stop == size else min(max(stop, starts[-1]), high))
            if axis == self.axis and (stop < size if self.after else start > 0):
                stops[-1] = starts[-1]
        lows = [low for low, _ in self._limits()]
        return (
            tuple(a - low for a, low in zip(starts, lows, strict=True)),
            tuple(b - a for a, b in zip(starts, stops, strict=True)),
            tuple(slice(a - o, b - o) for a, b, o in zip(starts, stops, split.origin, strict=True)),
        )

    def fits(self, found: Index, own: Index) -> bool:
        """Tell whether an array in a checkpoint has such cells, of a halo of any width.

        Args:
            found: The shape of the array, including the shape of an element.
            own: The same of the array that this program would save.
        """
        sizes = self.split.layout.shape
        if len(found) != len(own) or found[len(sizes) :] != own[len(sizes) :]:
            return False
        for axis, size in enumerate(sizes):
            more = found[axis] - size
            if axis > self.axis and (more < 0 or more % 2):
                return False
            if axis < self.axis and more:
                return False
        return True

    def put(self, contents: npt.NDArray[Any], found: npt.NDArray[Any]) -> None:
        """Set the cells in the contents of a field from an array in a checkpoint.

        Of halos of different widths the cells in both are set, those nearest to the domain.
        """
        places, origins = zip(*self._common(found.shape), strict=True)
        contents[np.ix_(*places)] = found[np.ix_(*origins)]

    def _limits(self) -> Iterator[tuple[int, int]]:
        """Yield the first cell and the stop along each axis, as the domain counts."""
        layout = self.split.layout
        for axis, (size, width) in enumerate(zip(layout.shape, layout.halo, strict=True)):
            if axis == self.axis:
                yield (size, size + width) if self.after else (-width, 0)
            elif axis < self.axis or layout.periodic[axis]:
                yield 0, size
            else:
                yield -width, size + width

    def _common(self, shape: Index) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield, along each axis, the cells of this rank and their indices in an array."""
        layout, split = self.split.layout, self.split
        for axis, size in enumerate(layout.shape):
            local = np.arange(split.shape[axis])
            cell = local + split.origin[axis]
            if axis == self.axis:
                index = cell - size if self.after else np.where(cell < 0, cell + shape[axis], -1)
            else:
                width = (shape[axis] - size) // 2
                index = width + (cell % size if layout.periodic[axis] else cell)
            known = (index >= 0) & (index < shape[axis])
            yield local[known], index[known]


def outsides(split: GridSplit) -> list[OutsideCells]:
    """Return the cells outside of the domain, by axis and side, where fields of a grid have any."""
    layout = split.layout
    return [
        OutsideCells(split, axis, after)
        for axis, (width, closed) in enumerate(zip(layout.halo, layout.periodic, strict=True))
        for after in (False, True)
        if width and not closed
    ]


def field_of(name: str) -> str:
    """Return the name of the field whose cells outside of the domain an array has, or the name."""
    return _SUFFIX.sub("", name)
