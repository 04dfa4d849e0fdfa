"""Segments of lines: where two of them are nearest to each other."""

from __future__ import annotations

import difftile as dt
from difftile import ti

PARALLEL = 1e-15  # the determinant below which segments are parallel


@dt.func
def on_segments(a1, a2, apart):
    """Return where two segments -a1..a1 and -a2..a2, with centres apart, are nearest; not parallel.

    The results are in -1..1 (Ericson, Real-Time Collision Detection, 5.1.9).
    """
    aa, ab, bb = a1.norm_sqr(), -a1.dot(a2), a2.norm_sqr()
    u, v = -a1.dot(apart), a2.dot(apart)
    x1, x2 = 0.0, 0.0
    if aa > 0.0 and bb > 0.0:
        det = aa * bb - ab * ab
        x1 = (bb * u - ab * v) / det
        x2 = (aa * v - ab * u) / det
        if x1 > 1.0:
            x1 = 1.0
            x2 = (v - ab) / bb
        elif x1 < -1.0:
            x1 = -1.0
            x2 = (v + ab) / bb
        if x2 > 1.0:
            x2 = 1.0
            x1 = ti.math.clamp((u - ab) / aa, -1.0, 1.0)
        elif x2 < -1.0:
            x2 = -1.0
            x1 = ti.math.clamp((u + ab) / aa, -1.0, 1.0)
    elif aa > 0.0:
        x1 = ti.math.clamp(u / aa, -1.0, 1.0)
    elif bb > 0.0:
        x2 = ti.math.clamp(v / bb, -1.0, 1.0)
    return x1, x2


@dt.func
def on_parallels(a1, a2, apart, reach, place):
    """Return the same for parallel segments: the ends, each with its nearest point, in turn.

    Args:
        reach: The distance of the axes within which an end counts [m].
        place: 0 for the first end that counts, 1 for the second.

    Returns:
        The two positions, and whether there is such an end.
    """
    aa, ab, bb = a1.norm_sqr(), -a1.dot(a2), a2.norm_sqr()
    u, v = -a1.dot(apart), a2.dot(apart)
    x1, x2 = 0.0, 0.0
    found = 0
    for end in range(4):
        sign = 1.0 - 2.0 * (end % 2)
        y1, y2 = sign, ti.math.clamp((v - sign * ab) / bb, -1.0, 1.0)
        if end > 1:
            y1, y2 = ti.math.clamp((u - sign * ab) / aa, -1.0, 1.0), sign
        if (apart + a1 * y1 - a2 * y2).norm() <= reach:
            if found == place:
                x1, x2 = y1, y2
            found += 1
    return x1, x2, found > place
