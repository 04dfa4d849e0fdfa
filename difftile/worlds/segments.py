"""Segments of lines: where two of them are nearest to each other."""

from __future__ import annotations

import difftile as dt
from difftile import ti

# The square of the sine up to which segments are parallel, as in MuJoCo 4. It is that of the cross
# product: in single precision 1 - cos^2 loses such a small angle.
PARALLEL = 1e-8


@dt.func
def on_segments(a1, a2, apart, sharply: ti.template()):
    """Return where two segments -a1..a1 and -a2..a2, with centres apart, are nearest; not parallel.

    The results are in -1..1 (Ericson, Real-Time Collision Detection, 5.1.9).

    Args:
        a1, a2, apart: The segments, which may be points.
        sharply: Whether rounding moves both points along the segments alike, so that the direction
            between them stays perpendicular to both, however small their angle is; for more time.
    """
    aa, ab, bb = a1.norm_sqr(), -a1.dot(a2), a2.norm_sqr()
    u, v = -a1.dot(apart), a2.dot(apart)
    x1, x2 = 0.0, 0.0
    if aa > 0.0 and bb > 0.0:
        if ti.static(sharply):
            normal = a1.cross(a2)
            x1 = a2.cross(apart).dot(normal) / normal.norm_sqr()
            x2 = (v - ab * x1) / bb
        else:
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
def on_parallels(a1, a2, apart, place):
    """Return the same for parallel segments, at one end of the part where they are side by side.

    As in MuJoCo 4: an end of either segment and the point of the other that is nearest to it. Where
    the segments are not side by side, both places are those of the nearest ends.

    Args:
        a1, a2, apart: As for `on_segments`.
        place: 0 for the lower end along a1, 1 for the upper.
    """
    aa, ab, bb = a1.norm_sqr(), -a1.dot(a2), a2.norm_sqr()
    u, v = -a1.dot(apart), a2.dot(apart)
    x2 = 2.0 * place - 1.0  # the end of the second segment that comes first or last along a1
    if ab > 0.0:
        x2 = -x2
    x1 = (u - ab * x2) / aa
    if abs(x1) > 1.0:
        x1 = ti.math.clamp(x1, -1.0, 1.0)
        x2 = ti.math.clamp((v - ab * x1) / bb, -1.0, 1.0)
    return x1, x2
