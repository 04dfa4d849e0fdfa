"""One palette of 256 colours for all pictures of a film, so that colours never change in between.

Colours are counted in cells of 4 x 4 x 4 levels. A film of few cells keeps each as it is; otherwise
median cut chooses the colours (Heckbert, Color Image Quantization for Frame Buffer Display, 1982).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image

from difftile.viewer.primitives import Bytes

MOST = 255  # colours; the last index is for pixels that stay as they are
_BITS = 6  # of each channel that tell cells apart
_SAMPLES = 1 << 19  # pixels that median cut sees, roughly
_PIECE = 4096  # cells whose distances to all colours are computed at once


class FilmPalette:
    """Counts the colours of pictures; afterwards chooses some of them for all pictures."""

    def __init__(self) -> None:
        cells = 1 << 3 * _BITS
        self._counts = np.zeros(cells, np.int64)
        self._colours = np.zeros((cells, 3), np.uint8)  # one that occurs, for each cell

    def add(self, image: Bytes) -> None:
        """Count the colours of a picture, shape (height, width, 3)."""
        cells = _cells(image).ravel()
        self._counts += np.bincount(cells, minlength=len(self._counts))
        self._colours[cells] = image.reshape(-1, 3)

    def choose(self) -> tuple[Bytes, Bytes]:
        """Return the palette, shape (n, 3), and the index of the colour for each cell."""
        used = np.flatnonzero(self._counts)
        colours = self._colours[used]
        table = np.zeros(len(self._counts), np.uint8)
        if len(used) <= MOST:
            table[used] = np.arange(len(used))
            return colours, table
        # The square root keeps the colours of thin lines next to the background's.
        weights = np.sqrt(self._counts[used])
        repeats = np.ceil(weights * (_SAMPLES / weights.sum())).astype(np.intp)
        samples = Image.fromarray(np.repeat(colours, repeats, axis=0)[None])
        chosen = samples.quantize(MOST, Image.Quantize.MEDIANCUT, kmeans=1).getpalette()
        palette = np.unique(np.array(chosen, np.uint8).reshape(-1, 3), axis=0)
        ends = palette.astype(np.float32)
        for start in range(0, len(used), _PIECE):
            piece = slice(start, start + _PIECE)
            # |c - p|^2 without |c|^2, which is the same for all p.
            gaps = (ends**2).sum(axis=1) - 2 * colours[piece].astype(np.float32) @ ends.T
            table[used[piece]] = gaps.argmin(axis=1)
        return palette, table


def indices(image: Bytes, table: Bytes) -> Bytes:
    """Return the index of the colour of each pixel, shape (height, width)."""
    return table[_cells(image)]


def _cells(image: Bytes) -> npt.NDArray[np.int32]:
    """Return the cell of each pixel, shape (height, width)."""
    levels = image.astype(np.int32) >> (8 - _BITS)
    return (levels[..., 0] << 2 * _BITS) | (levels[..., 1] << _BITS) | levels[..., 2]
