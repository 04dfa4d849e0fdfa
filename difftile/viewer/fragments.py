"""Fragments: the pixels that shapes of one call cover, before anything is painted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.viewer.primitives import Floats

Indices = npt.NDArray[np.intp]
_CHUNK = 60_000  # pixels worked on at a time, which stay in the caches


@dataclass(frozen=True, slots=True)
class Fragments:
    """Pixels with the shape that covers them; one pixel may be there several times.

    Args:
        at: The pixels, counted row by row, shape (n,).
        which: The number of the shape, likewise.
        cover: How much of the pixel is covered, above 0 and at most 1; None for all of it.
        nearness: Pixels that a unit of length takes there: larger is nearer to the eye, and along
            a straight line on the screen it grows evenly. None for shapes that nothing hides.
    """

    at: Indices
    which: Indices
    cover: Floats | None = None
    nearness: Floats | None = None

    def of(self, some: Indices | npt.NDArray[np.bool_]) -> Fragments:
        """Return some of them."""
        cover = None if self.cover is None else self.cover[some]
        nearness = None if self.nearness is None else self.nearness[some]
        return Fragments(self.at[some], self.which[some], cover, nearness)


def chunks(sizes: npt.NDArray[np.intp]) -> Iterator[slice]:
    """Cut a list of shapes where their pixels are too many to be worked on at a time."""
    total = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(total[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + _CHUNK, "right")))
        yield slice(start, stop)
        start = stop


def spread(sizes: npt.NDArray[np.intp]) -> tuple[Indices, Indices]:
    """Return, for every pixel of every shape, the shape and the number of the pixel in it."""
    which = np.repeat(np.arange(len(sizes)), sizes)
    begins = np.cumsum(sizes) - sizes
    return which, np.arange(len(which)) - np.repeat(begins, sizes)
