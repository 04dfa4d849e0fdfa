"""Triangles as fragments, row by row of the picture.

Arrays have one axis, along triangles or rows: NumPy takes ten times as long for reductions and
products along axes of two or three.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from difftile.viewer.fragments import Fragments, Indices, chunks, spread
from difftile.viewer.primitives import Floats

_Reals = npt.NDArray[np.float64]


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
    kept, tips, across = _topmost_first(size, corners, nearness)
    first, middle, last = np.clip(np.ceil(tips[:, 1] - 0.5), 0, height).astype(np.intp)
    rows = last - first
    # The long side of a triangle, from the topmost corner to the last, and the two short ones.
    long = _side(tips[0], tips[2])
    short = np.concatenate([_side(tips[0], tips[1]), _side(tips[1], tips[2])], axis=1)
    for part in chunks((rows * (across + 1.0)).astype(np.intp)):
        which, number = spread(rows[part])
        which += part.start
        row = first[which] + number
        level = row + 0.5
        xa, na = _crossing(np.repeat(long[:, part], rows[part], axis=1), level)
        lower = row >= middle[which]
        xb, nb = _crossing(np.take(short, which + lower * len(kept), axis=1), level)
        left = np.clip(np.ceil(np.minimum(xa, xb) - 0.5), 0, width).astype(np.intp)
        right = np.clip(np.ceil(np.maximum(xa, xb) - 0.5), 0, width).astype(np.intp)
        spans = np.maximum(right - left, 0)
        begins = np.cumsum(spans) - spans
        pixel = np.arange(int(spans.sum()))  # those of each row from its begin on
        near: Floats | None = None
        if nearness is not None:
            slope = (nb - na) / np.where(xa == xb, 1.0, xb - xa)
            start = na + slope * (left - begins + 0.5 - xa)
            near = (np.repeat(start, spans) + np.repeat(slope, spans) * pixel).astype(np.float32)
        at = np.repeat(row * width + left - begins, spans) + pixel
        yield Fragments(at, np.repeat(kept[which], spans), None, near)


def _topmost_first(
    size: tuple[int, int], corners: Floats, nearness: Floats | None
) -> tuple[Indices, _Reals, _Reals]:
    """Return which triangles are in the picture, their corners, and their widths in it.

    The corners are sorted by y, shape (3, 3, n): each has x, y and nearness.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    with np.errstate(invalid="ignore"):
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        seen = (high > 0.0) & (low < np.array(size, np.float32)) & np.isfinite(high - low)
    kept = np.flatnonzero(seen[:, 0] & seen[:, 1])
    tips = np.zeros((3, 3, len(kept)))
    tips[:, :2] = corners[kept].transpose(1, 2, 0)
    if nearness is not None:
        tips[:, 2] = nearness[kept].T
    for upper, lower in ((0, 1), (1, 2), (0, 1)):
        wrong = np.flatnonzero(tips[upper, 1] > tips[lower, 1])
        lifted = tips[lower][:, wrong]
        tips[lower][:, wrong] = tips[upper][:, wrong]
        tips[upper][:, wrong] = lifted
    width = np.minimum(high[kept, 0], size[0]) - np.maximum(low[kept, 0], 0.0)
    return kept, tips, width.astype(np.float64)


def _side(begin: _Reals, end: _Reals) -> _Reals:
    """Return sides between corners: x, y and nearness at the begin, and their increases, (6, n)."""
    side = np.concatenate([begin, end - begin])
    side[4, side[4] == 0.0] = 1.0  # level sides, which no row crosses
    return side


def _crossing(side: _Reals, level: _Reals) -> tuple[_Reals, _Reals]:
    """Return x and nearness at the intersections of sides, see `_side`, with rows."""
    x, y, near, across, height, nearer = side
    share = (level - y) / height
    np.clip(share, 0.0, 1.0, out=share)
    return x + share * across, near + share * nearer
