"""Segments with round ends as fragments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from difftile.viewer.fragments import Fragments, Indices, chunks, spread
from difftile.viewer.primitives import Floats

_FAR = 16.0  # the margin around the picture to which segments are clipped [px]
RING = 48  # segments of a ring


def strokes(
    size: tuple[int, int],
    begins: Floats,
    ends: Floats,
    width: float,
    nearness: Floats | None = None,
) -> Iterator[Fragments]:
    """Yield the fragments of segments with round ends.

    Args:
        size: Width and height of the picture [px].
        begins: Begins of the segments, shape (n, 2); segments that are not finite are left out.
        ends: Ends of the segments, shape (n, 2).
        width: Width of the segments [px].
        nearness: At begin and end, see `Fragments`, shape (n, 2); None in the plane.
    """
    begins, ends, shares, kept = _clipped(size, begins, ends, width)
    way = ends - begins
    steep = np.abs(way[:, 1]) > np.abs(way[:, 0])
    # At each pixel along its longer axis a segment covers one run of pixels across: u counts along
    # this axis, v across.
    u0, u1 = (np.where(steep, ends_[:, 1], ends_[:, 0]) for ends_ in (begins, ends))
    v0 = np.where(steep, begins[:, 0], begins[:, 1])
    span = u1 - u0
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.nan_to_num(np.where(steep, way[:, 0], way[:, 1]) / span, nan=0.0)
    cosine = 1.0 / np.hypot(np.float32(1.0), slope)
    reach = np.float32(width / 2 + 0.5)
    low, high = np.minimum(u0, u1), np.maximum(u0, u1)
    along, across = (np.where(steep, size[k], size[1 - k]).astype(np.int32) for k in (1, 0))
    first = np.maximum(np.floor(low - reach), 0.0).astype(np.int32)
    last = np.minimum(np.ceil(high + reach).astype(np.int32), along)
    length = np.maximum(last - first, 0).astype(np.intp)
    rise, half = reach / cosine, (high - low) / (2 * cosine)
    runs = int(2.0 * rise.max(initial=0.0)) + 1
    step_u = np.where(steep, size[0], 1).astype(np.int32)
    step_v = np.where(steep, 1, size[0]).astype(np.int32)
    for part in chunks(length * runs):
        # For each pixel along: the middle of the run, its first pixel, and their distance.
        each, number = spread(length[part])
        each += part.start
        u = first[each] + number.astype(np.int32)
        place = u.astype(np.float32) + np.float32(0.5)
        middle = v0[each] + slope[each] * (place - u0[each])
        v = np.ceil(middle - rise[each] - np.float32(0.5)).astype(np.int32)
        cosines = cosine[each]
        gap = (v.astype(np.float32) + np.float32(0.5) - middle) * cosines
        # Near the ends the cover depends on the distance along the segment from its middle, too.
        caps = np.flatnonzero(np.minimum(place - low[each], high[each] - place) < reach)
        tip = each[caps]
        along_it = (place[caps] - (low[tip] + high[tip]) / 2) / cosine[tip]
        end, step = across[each], step_v[each]
        at = u * step_u[each] + v * step
        columns, covers, cells = list[Indices](), list[Floats](), list[npt.NDArray[np.int32]]()
        for _ in range(runs):
            cover = reach - np.abs(gap)
            beyond = np.abs(along_it + gap[caps] * slope[tip]) - half[tip]
            cover[caps] = reach - np.hypot(gap[caps], np.maximum(beyond, 0.0))
            found = np.flatnonzero((cover > 0.0) & (v >= 0) & (v < end))
            columns.append(found)
            covers.append(cover[found])
            cells.append(at[found])
            gap, v, at = gap + cosines, v + 1, at + step
        column = np.concatenate(columns)
        near: Floats | None = None
        if nearness is not None:
            share = (place - u0[each]) / np.where(span == 0.0, np.float32(1.0), span)[each]
            cut = shares[each, 0] + np.clip(share, 0.0, 1.0) * (shares[each, 1] - shares[each, 0])
            from_, to = nearness[kept[each]].T
            near = (from_ + cut * (to - from_))[column].astype(np.float32)
        cover = np.minimum(np.concatenate(covers), np.float32(1.0))
        yield Fragments(np.concatenate(cells).astype(np.intp), kept[each][column], cover, near)


def rings(
    size: tuple[int, int],
    centers: Floats,
    radii: Floats,
    width: float,
    nearness: Floats | None = None,
) -> Iterator[Fragments]:
    """Yield the fragments of circles as `RING` strokes each; arguments as for `discs`."""
    turns = np.linspace(0.0, 2 * np.pi, RING + 1, dtype=np.float32)
    around = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    loops = centers[:, None] + radii[:, None, None] * around
    near = None if nearness is None else np.repeat(nearness, 2 * RING).reshape(-1, 2)
    return strokes(size, loops[:, :-1].reshape(-1, 2), loops[:, 1:].reshape(-1, 2), width, near)


def _clipped(
    size: tuple[int, int], begins: Floats, ends: Floats, width: float
) -> tuple[Floats, Floats, Floats, Indices]:
    """Clip segments far outside, so that none is much longer than the picture.

    Source: Liang and Barsky, "A new concept and method for line clipping" (1984).

    Returns:
        The remaining begins and ends, shape (m, 2); their positions as shares of the segments,
        shape (m, 2); and the indices of the segments, shape (m,).
    """
    kept = np.flatnonzero(np.isfinite(begins).all(axis=1) & np.isfinite(ends).all(axis=1))
    first, last = begins[kept].astype(np.float64), ends[kept].astype(np.float64)
    low = -_FAR - width
    high = np.array(size) - low
    along = last - first
    with np.errstate(invalid="ignore", divide="ignore"):
        enters, leaves = (low - first) / along, (high - first) / along
    still = along == 0.0
    outside = still & ((first < low) | (first > high))
    t0 = np.where(still, 0.0, np.minimum(enters, leaves)).max(axis=1, initial=0.0)
    t1 = np.where(still, 1.0, np.maximum(enters, leaves)).min(axis=1, initial=1.0)
    seen = np.flatnonzero((t0 <= t1) & ~outside.any(axis=1))
    begin, way = first[seen], along[seen]
    shares = np.stack([t0, t1], axis=1)[seen].astype(np.float32)
    cut = (begin + t0[seen, None] * way, begin + t1[seen, None] * way)
    return cut[0].astype(np.float32), cut[1].astype(np.float32), shares, kept[seen]
