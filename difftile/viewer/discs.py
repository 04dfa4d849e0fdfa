"""Discs as fragments, with smooth edges if they are few and hard edges if they are many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from difftile.viewer.fragments import Fragments, chunks, spread
from difftile.viewer.primitives import Floats

_MANY = 4000  # discs; more are drawn with hard edges, which takes a tenth of the time
_LARGEST = 16.0  # the largest radius of discs that may have hard edges [px]
_LEVELS = 65535  # of nearness, which sort many discs


def discs(
    size: tuple[int, int], centers: Floats, radii: Floats, nearness: Floats | None = None
) -> Iterator[Fragments]:
    """Yield the fragments of discs.

    Args:
        size: Width and height of the picture [px].
        centers: Shape (n, 2); discs that are not finite are left out.
        radii: Shape (n,).
        nearness: See `Fragments`, shape (n,); None in the plane.
    """
    with np.errstate(invalid="ignore"):
        reach = radii[:, None]
        inside = (centers > -reach) & (centers < np.array(size, np.float32) + reach)
    kept = np.flatnonzero(inside.all(axis=1) & np.isfinite(radii))
    centers, radii = centers[kept], radii[kept]
    nearness = None if nearness is None else nearness[kept]
    is_dense = len(kept) > _MANY and float(radii.max()) <= _LARGEST
    for part in (_hard if is_dense else _smooth)(size, centers, radii, nearness):
        yield Fragments(part.at, kept[part.which], part.cover, part.nearness)


def _smooth(
    size: tuple[int, int], centers: Floats, radii: Floats, nearness: Floats | None
) -> Iterator[Fragments]:
    width, half = size[0], np.ceil(radii + 0.5)[:, None]
    middles, ends = np.floor(centers), np.array(size, np.float32)
    # Clipped to the picture, which may show a small part of a huge disc.
    first = np.clip(middles - half, 0.0, ends).astype(np.intp)
    sides = np.clip(middles + half + 1.0, 0.0, ends).astype(np.intp) - first
    counts = sides[:, 0] * sides[:, 1]
    for part in chunks(counts):
        which, number = spread(counts[part])
        which += part.start
        x = first[which, 0] + number % sides[which, 0]
        y = first[which, 1] + number // sides[which, 0]
        gap = np.hypot(x + 0.5 - centers[which, 0], y + 0.5 - centers[which, 1])
        cover = np.minimum(radii[which] + 0.5 - gap, 1.0).astype(np.float32)
        near = None if nearness is None else nearness[which]
        yield Fragments(y * width + x, which, cover, near).of(cover > 0.0)


def _hard(
    size: tuple[int, int], centers: Floats, radii: Floats, nearness: Floats | None
) -> Iterator[Fragments]:
    """Yield the front disc at each pixel, at a cost that hardly grows with the number of discs.

    The centers are marked in a picture of ranks, the front disc with the highest. The maximum of
    this picture over all offsets within a disc is the front disc at every pixel.
    """
    width, height = size
    order = np.arange(len(centers))
    if nearness is not None:
        # Farthest first. Integers of 16 bits sort thirty times as fast as floats, and depths closer
        # than one part in 65535 of their range need no order.
        low, high = float(nearness.min()), float(nearness.max())
        levels = (nearness - low) * (_LEVELS / max(high - low, 1e-30))
        order = np.argsort(levels.astype(np.uint16), kind="stable")
    centers, squares = centers[order], np.square(radii[order])
    reach = int(np.ceil(np.sqrt(squares.max())))
    cells = np.floor(centers).astype(np.intp) + reach
    middles = np.full((height + 2 * reach, width + 2 * reach), -1, np.int32)
    at = cells[:, 1] * middles.shape[1] + cells[:, 0]
    by_size = np.argsort(-squares, kind="stable")
    done = 0
    front = np.full((height, width), -1, np.int32)
    run = range(-reach, reach + 1)
    offsets = sorted(((x * x + y * y, (x, y)) for x in run for y in run), reverse=True)
    for gap, ring in groupby(offsets, lambda o: o[0]):
        # Going inwards, discs join that do not reach the outer rings.
        upto = int(np.searchsorted(-squares[by_size], -gap, "right"))
        new = by_size[done:upto]
        np.maximum.at(middles.reshape(-1), at[new], new.astype(np.int32))
        done = upto
        if done:
            for _, (dx, dy) in ring:
                top, left = reach - dy, reach - dx
                moved = middles[top : top + height, left : left + width]
                np.maximum(front, moved, out=front)
    found = np.flatnonzero(front.reshape(-1) >= 0)
    which = order[front.reshape(-1)[found]]
    yield Fragments(found, which, None, None if nearness is None else nearness[which])
