"""Fragments: the pixels that the shapes of one call cover, before they are painted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.viewer.primitives import Floats

Indices = npt.NDArray[np.intp]
_CHUNK = 60_000  # pixels per chunk, which stay in the caches


@dataclass(frozen=True, slots=True)
class Fragments:
    """Pixels and the shapes that cover them; a pixel may occur several times.

    Args:
        at: Indices of the pixels, row by row, shape (n,).
        which: Indices of the shapes, shape (n,).
        cover: Covered shares of the pixels, above 0 and at most 1, shape (n,); None for all of it.
        nearness: Pixels per unit of length, shape (n,): larger is nearer to the eye, and linear
            along a straight line on the screen. None for shapes that are never hidden.
    """

    at: Indices
    which: Indices
    cover: Floats | None = None
    nearness: Floats | None = None

    def of(self, some: Indices | npt.NDArray[np.bool_]) -> Fragments:
        """Return a selection of the fragments."""
        cover = None if self.cover is None else self.cover[some]
        nearness = None if self.nearness is None else self.nearness[some]
        return Fragments(self.at[some], self.which[some], cover, nearness)


def chunks(sizes: npt.NDArray[np.intp]) -> Iterator[slice]:
    """Yield slices of a list of shapes, each with at most one chunk of pixels or a single shape."""
    total = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(total[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + _CHUNK, "right")))
        yield slice(start, stop)
        start = stop


def spread(sizes: npt.NDArray[np.intp]) -> tuple[Indices, Indices]:
    """Return for each pixel of each shape the index of the shape and of the pixel within it."""
    which = np.repeat(np.arange(len(sizes)), sizes)
    begins = np.cumsum(sizes) - sizes
    return which, np.arange(len(which)) - np.repeat(begins, sizes)
