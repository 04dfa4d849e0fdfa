"""How a grid is divided among ranks: boxes of cells, and the pieces of them that neighbours need.

Everything follows from the shape, the ranks, the halo and the periodic axes, so that each rank
computes the same without asking the others. A halo is found by intersection: along each axis the
interval of a rank with its halo is cut at the borders of all ranks, in the domain and in its
periodic images. Products of these segments are the pieces, so that corners, halos wider than a
neighbour, and a rank that is its own neighbour are no special cases.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Interval = tuple[int, int]
"""Where cells along an axis start, and where they stop."""


@dataclass(frozen=True, slots=True)
class HaloPiece:
    """Cells of a halo that one rank owns.

    Args:
        owner: The rank.
        at: Their indices along each axis as the receiver counts, outside of the domain in a
            periodic image.
        owned: Their indices in the domain.
    """

    owner: int
    at: tuple[Interval, ...]
    owned: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A grid of cells in boxes, one for each rank.

    Args:
        shape: Cells along each axis.
        ranks: Boxes along each axis; the last one varies fastest in the order of ranks.
        halo: Width of the halo along each axis, on both sides.
        periodic: Whether each axis is closed to a ring.
    """

    shape: tuple[int, ...]
    ranks: tuple[int, ...]
    halo: tuple[int, ...]
    periodic: tuple[bool, ...]

    @property
    def count(self) -> int:
        """The number of ranks."""
        return math.prod(self.ranks)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """Return the position of the box of a rank."""
        found: list[int] = []
        for count in reversed(self.ranks):
            rank, one = divmod(rank, count)
            found.append(one)
        return tuple(reversed(found))

    def number(self, coordinates: Sequence[int]) -> int:
        """Return the rank whose box is at a position."""
        rank = 0
        for one, count in zip(coordinates, self.ranks, strict=True):
            rank = rank * count + one
        return rank

    def own(self, rank: int) -> tuple[Interval, ...]:
        """Return the cells that a rank owns; boxes differ by one cell at most along an axis."""
        return tuple(
            (size * one // count, size * (one + 1) // count)
            for size, count, one in zip(self.shape, self.ranks, self.coordinates(rank), strict=True)
        )

    def pieces(self, rank: int) -> Iterator[HaloPiece]:
        """Yield the pieces of the halo of a rank; cells outside of the domain are in none."""
        here = self.coordinates(rank)
        along = [list(self._segments(axis, here[axis])) for axis in range(len(self.shape))]
        for segments in itertools.product(*along):
            if all(
                one.shift == 0 and one.position == at
                for one, at in zip(segments, here, strict=True)
            ):
                continue
            owner = self.number([one.position for one in segments])
            yield HaloPiece(
                owner,
                tuple((one.start, one.stop) for one in segments),
                tuple((one.start - one.shift, one.stop - one.shift) for one in segments),
            )

    def interior(self, rank: int) -> tuple[Interval, ...]:
        """Return the own cells whose neighbours, as far as the halo is wide, are all own cells."""
        found: list[Interval] = []
        for axis, (start, stop) in enumerate(self.own(rank)):
            width, closed = self.halo[axis], self.periodic[axis]
            low = start + (width if closed or start > 0 else 0)
            high = stop - (width if closed or stop < self.shape[axis] else 0)
            found.append((low, high) if low < high else (start, start))
        return tuple(found)

    def rim(self, rank: int) -> list[tuple[Interval, ...]]:
        """Return boxes of the own cells that are not in the interior."""
        return _around(self.interior(rank), self.own(rank))

    def halos(self, rank: int) -> list[tuple[Interval, ...]]:
        """Return boxes of the cells of the halo that have an owner, in periodic images too."""
        own = self.own(rank)
        outer = [
            (start - width, stop + width)
            if closed
            else (max(0, start - width), min(size, stop + width))
            for (start, stop), width, size, closed in zip(
                own, self.halo, self.shape, self.periodic, strict=True
            )
        ]
        return _around(own, outer)

    def _segments(self, axis: int, position: int) -> Iterator[_Segment]:
        """Yield what a box and its halo have along an axis of each box, in ascending order."""
        size, count, width = self.shape[axis], self.ranks[axis], self.halo[axis]
        start, stop = size * position // count - width, size * (position + 1) // count + width
        images = range(start // size, (stop - 1) // size + 1) if self.periodic[axis] else (0,)
        for image in images:
            for other in range(count):
                low = max(start, image * size + size * other // count)
                high = min(stop, image * size + size * (other + 1) // count)
                if low < high:
                    yield _Segment(other, low, high, image * size)


@dataclass(frozen=True, slots=True)
class _Segment:
    """Cells of a box along an axis.

    Args:
        position: The position of the box.
        start: The first cell.
        stop: The first cell after them.
        shift: How far the image is from the domain.
    """

    position: int
    start: int
    stop: int
    shift: int


def _around(inside: Sequence[Interval], outside: Sequence[Interval]) -> list[tuple[Interval, ...]]:
    """Return boxes of the cells of a box that are not in another one inside it."""
    found: list[tuple[Interval, ...]] = []
    for axis, ((start, stop), (low, high)) in enumerate(zip(outside, inside, strict=True)):
        for one in ((start, low), (high, stop)):
            box = (*inside[:axis], one, *outside[axis + 1 :])
            if all(first < last for first, last in box):
                found.append(box)
    return found


def divided(shape: Sequence[int], count: int, periodic: Sequence[bool]) -> tuple[int, ...] | None:
    """Return how many boxes along each axis have the least surface, or None if none have cells.

    Args:
        shape: Cells along each axis.
        count: The number of boxes.
        periodic: Whether each axis is closed.
    """
    best: tuple[float, tuple[int, ...]] | None = None
    for ranks in _factors(count, len(shape)):
        if any(one > size for one, size in zip(ranks, shape, strict=True)):
            continue
        sides = [size / one for one, size in zip(ranks, shape, strict=True)]
        surface = sum(
            math.prod(sides) / side * min(one - 1 + closed, 2)
            for side, one, closed in zip(sides, ranks, periodic, strict=True)
            if one > 1
        )
        # Of equal ones that with more cuts across the first axes, which leave long rows.
        if best is None or (surface, ranks[::-1]) < (best[0], best[1][::-1]):
            best = surface, ranks
    return None if best is None else best[1]


def _factors(count: int, axes: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as a product of so many factors."""
    if axes == 1:
        yield (count,)
        return
    for one in range(1, count + 1):
        if count % one == 0:
            for rest in _factors(count // one, axes - 1):
                yield (one, *rest)
