"""The division of space among ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Domain:
    """The division of space among ranks.

    A position belongs to the part whose lower border it has reached and whose upper one it has not,
    as numbers of its own type: the host and kernels compare alike.

    Args:
        starts: Along each axis of the grid the first cell of each part, in the order of ranks.
        cells: The number of cells along each axis.
        periodic: Whether each axis is closed to a ring.
        origin: The position of the first cell, for each axis.
        spacing: The side of a cell along each axis.
    """

    starts: tuple[tuple[int, ...], ...]
    cells: tuple[int, ...]
    periodic: tuple[bool, ...]
    origin: tuple[float, ...]
    spacing: tuple[float, ...]

    @property
    def strides(self) -> list[int]:
        """The distance in rank between parts that are neighbours along each axis."""
        counts = [len(one) for one in self.starts]
        return [math.prod(counts[axis + 1 :]) for axis in range(len(counts))]

    @property
    def lengths(self) -> list[float]:
        """The length of each axis that is a ring; 0 for others."""
        rings = zip(self.periodic, self.cells, self.spacing, strict=True)
        return [cells * side if ring else 0.0 for ring, cells, side in rings]

    def borders(self, dtype: npt.DTypeLike) -> list[npt.NDArray[Any]]:
        """Return the borders of the parts along each axis, ascending, shape (parts + 1,)."""
        axes = zip(self.starts, self.cells, self.origin, self.spacing, strict=True)
        return [
            (low + side * np.array([*first, cells], float)).astype(dtype)
            for first, cells, low, side in axes
        ]

    def owners_of(
        self, positions: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return the rank of each position, shape (n,), and whether it is in the grid.

        Args:
            positions: Of points, shape (n, axes); along rings they may be anywhere.
        """
        places = positions.reshape(len(positions), len(self.cells))
        rank = np.zeros(len(places), np.int64)
        inside = np.asarray(np.isfinite(places).all(axis=1))
        for axis, borders in enumerate(self.borders(places.dtype)):
            place, low = places[:, axis], self.origin[axis]
            if self.periodic[axis]:
                with np.errstate(invalid="ignore"):
                    turned = (place.astype(float) - low) % self.lengths[axis] + low
                out = (place < borders[0]) | (place >= borders[-1])
                place = np.where(out, turned, place).astype(place.dtype)
            else:
                inside &= (place >= borders[0]) & (place < borders[-1])
            rank += np.searchsorted(borders[1:-1], place, side="right") * self.strides[axis]
        return np.where(inside, rank, 0), inside

    def __str__(self) -> str:
        low = np.array(self.origin)
        high = low + np.array(self.cells) * self.spacing
        return " x ".join(f"[{a:g}, {b:g})" for a, b in zip(low, high, strict=True))
