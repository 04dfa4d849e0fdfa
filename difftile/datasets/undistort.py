"""Pictures of lenses as pictures of pinhole cameras."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difftile.datasets.lenses import Coordinates, Doubles, Lens
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
    height, width, _ = colours.shape
    fx, fy, cx, cy = pinhole

    def places(columns: Doubles, rows: Doubles) -> Coordinates:
        return lens.project(*np.meshgrid((columns - cx) / fx, (rows - cy) / fy))

    return resampled(colours, (width, height), places)


def resampled(
    colours: Floats, size: tuple[int, int], places: Callable[[Doubles, Doubles], Coordinates]
) -> Floats:
    """Return a picture whose pixels are interpolated linearly in another.

    Args:
        colours: The other picture, shape (height, width, channels).
        size: Width and height of the result [pixels].
        places: Returns where the other picture has the pixels of some columns and rows, all
            [pixels].
    """
    height, width, channels = colours.shape
    flat = colours.reshape(-1, channels)
    found = np.empty((size[1], size[0], channels), colours.dtype)
    rows = max(1, _STRIP // size[0])
    for top in range(0, size[1], rows):
        below = min(top + rows, size[1])
        u, v = places(np.arange(0.5, size[0]), np.arange(top + 0.5, below))
        # The centre of pixel k is at k + 0.5; half a pixel at the border has one neighbour.
        u, v = np.clip(u - 0.5, 0, width - 1), np.clip(v - 0.5, 0, height - 1)
        column, row = np.floor(u).astype(np.intp), np.floor(v).astype(np.intp)
        right, down = (
            (u - column).astype(np.float32)[..., None],
            (v - row).astype(np.float32)[..., None],
        )
        at = row * width + column
        beside = (column + 1 < width).astype(np.intp)
        under = width * (row + 1 < height)
        upper = flat[at] * (1 - right) + flat[at + beside] * right
        lower = flat[at + under] * (1 - right) + flat[at + under + beside] * right
        found[top:below] = upper * (1 - down) + lower * down
    return found
