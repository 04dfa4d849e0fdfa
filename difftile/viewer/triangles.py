"""Triangles as fragments, row by row of the picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.viewer.fragments import Fragments, chunks, spread
from difftile.viewer.primitives import Floats


def triangles(
    size: tuple[int, int], corners: Floats, nearness: Floats | None = None
) -> Iterator[Fragments]:
    """Yield the fragments of triangles with hard edges: the pixels whose middles are inside.

    A pixel on a side that two triangles share belongs to one of them.

    Args:
        size: Width and height of the picture [px].
        corners: Shape (n, 3, 2); triangles that are not finite are left out.
        nearness: At the corners, see `Fragments`, shape (n, 3); None in the plane.
    """
    width, height = size
    with np.errstate(invalid="ignore"):
        low, high = corners.min(axis=1), corners.max(axis=1)
        seen = (high > 0.0) & (low < np.array(size, np.float32)) & np.isfinite(high - low)
    kept = np.flatnonzero(seen.all(axis=1))
    # x, y and nearness of each corner; the topmost corner first.
    tips = np.zeros((len(kept), 3, 3))
    tips[:, :, :2] = corners[kept]
    if nearness is not None:
        tips[:, :, 2] = nearness[kept]
    tips = np.take_along_axis(tips, np.argsort(tips[:, :, 1], axis=1, kind="stable")[..., None], 1)
    first = np.maximum(np.ceil(tips[:, 0, 1] - 0.5), 0.0).astype(np.intp)
    last = np.minimum(np.ceil(tips[:, 2, 1] - 0.5), height).astype(np.intp)
    rows = np.maximum(last - first, 0)
    across = np.minimum(high[kept, 0], width) - np.maximum(low[kept, 0], 0.0)
    for part in chunks((rows * (across + 1.0)).astype(np.intp)):
        which, number = spread(rows[part])
        which += part.start
        row = first[which] + number
        sides, level = tips[which], (row + 0.5)[:, None]
        # In each row the long side, from the topmost corner to the last, and a short one.
        short = np.where(
            level < sides[:, 1, 1:2], _crossing(sides, level, 0, 1), _crossing(sides, level, 1, 2)
        )
        (xa, na), (xb, nb) = _crossing(sides, level, 0, 2).T, short.T
        left = np.clip(np.ceil(np.minimum(xa, xb) - 0.5), 0, width).astype(np.intp)
        right = np.clip(np.ceil(np.maximum(xa, xb) - 0.5), 0, width).astype(np.intp)
        span, number = spread(np.maximum(right - left, 0))
        near: Floats | None = None
        if nearness is not None:
            slope = (nb - na) / np.where(xa == xb, 1.0, xb - xa)
            start = na + slope * (left + 0.5 - xa)
            near = (start[span] + slope[span] * number).astype(np.float32)
        yield Fragments((row * width + left)[span] + number, kept[which[span]], None, near)


def _crossing(sides: npt.NDArray[Any], level: npt.NDArray[Any], a: int, b: int) -> npt.NDArray[Any]:
    """Return x and nearness at the intersection of a side with a row, shape (rows, 2)."""
    begin, end = sides[:, a], sides[:, b]
    way = np.where(begin[:, 1:2] == end[:, 1:2], 1.0, end[:, 1:2] - begin[:, 1:2])
    share = np.clip((level - begin[:, 1:2]) / way, 0.0, 1.0)
    return begin[:, ::2] + share * (end[:, ::2] - begin[:, ::2])
