"""Masks: which pixels of a picture count.

A mask is white where pixels count and black where they do not, as for COLMAP and nerfstudio, which
ask for any number but 0. Masks of labels have small numbers, and JPEG leaves noise around 0, so
that half of the largest number decides.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from difftile.datasets.images import open_picture
from difftile.datasets.splats import Floats
from difftile.diagnostics import DatasetError
from difftile.files.regular import understood


def read_mask(path: Path) -> Floats:
    """Return 1 where pixels count and 0 elsewhere, shape (rows, columns).

    The number of a pixel is its brightness, times its alpha if there is one.

    Raises:
        DatasetError: The file is missing, not an image, or truncated.
    """
    with open_picture(path) as image, understood(path, "a whole mask"):
        if image.mode.startswith(("I", "F")):
            values = np.asarray(image, np.float64)
        else:
            grey = np.asarray(image.convert("LA"), np.float64)
            values = grey[..., 0] * grey[..., 1]
    most = float(values.max())
    if not (np.isfinite(values).all() and values.min() >= 0):
        raise DatasetError(path, "has numbers below 0 or not finite", "black, or white pixels")
    return np.asarray(values > 0.5 * most, np.float32)


def read_alpha(path: Path) -> Floats:
    """Return the alpha of a picture, 0 ... 1, shape (rows, columns).

    Raises:
        DatasetError: See `read_mask`.
    """
    with open_picture(path) as image, understood(path, "a whole picture"):
        return np.asarray(image.convert("RGBA"), np.float32)[..., 3] / np.float32(255)


def at_size(mask: Floats, width: int, height: int) -> Floats:
    """Return a mask at the pixels of a picture, by the nearest: shape (height, width)."""
    rows, columns = (
        ((np.arange(pixels) + 0.5) * count / pixels).astype(np.intp)
        for pixels, count in ((height, mask.shape[0]), (width, mask.shape[1]))
    )
    return mask[rows[:, None], columns]
