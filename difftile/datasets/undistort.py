"""Pictures of lenses as pictures of pinhole cameras."""

from __future__ import annotations

import numpy as np

from difftile.datasets.lenses import Lens
from difftile.datasets.splats import Floats

_STRIP = 2**16  # pixels that are computed at a time: their positions stay in the cache


def undistorted(colours: Floats, lens: Lens, pinhole: tuple[float, float, float, float]) -> Floats:
    """Return a picture as a pinhole camera shows it, by linear interpolation.

    Args:
        colours: The picture of the lens, shape (height, width, channels).
        lens: The lens.
        pinhole: fx, fy, cx, cy of the pinhole [pixels]; see `pinhole_of`.

    Returns:
        A picture of the same shape.
    """
    height, width, channels = colours.shape
    fx, fy, cx, cy = pinhole
    x = (np.arange(0.5, width) - cx) / fx
    flat, found = colours.reshape(-1, channels), np.empty_like(colours)
    rows = max(1, _STRIP // width)
    for top in range(0, height, rows):
        y = (np.arange(top + 0.5, min(top + rows, height)) - cy) / fy
        u, v = lens.project(*np.meshgrid(x, y))
        # The centre of pixel k is at k + 0.5; half a pixel at the border has one neighbour.
        u, v = np.clip(u - 0.5, 0, width - 1), np.clip(v - 0.5, 0, height - 1)
        column, row = np.floor(u).astype(np.intp), np.floor(v).astype(np.intp)
        right, down = (
            (u - column).astype(np.float32)[..., None],
            (v - row).astype(np.float32)[..., None],
        )
        at = row * width + column
        beside = (column + 1 < width).astype(np.intp)
        below = width * (row + 1 < height)
        upper = flat[at] * (1 - right) + flat[at + beside] * right
        lower = flat[at + below] * (1 - right) + flat[at + below + beside] * right
        found[top : top + rows] = upper * (1 - down) + lower * down
    return found
