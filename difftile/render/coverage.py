"""Edges with derivatives: how much of a pixel a shape covers, as a function of the shape.

The value of a pixel is the mean over its square (a box filter). With hard edges each sample of it
is a step, whose derivative is zero almost everywhere, but the mean is differentiable: it changes by
what the edges sweep (Li et al., Differentiable Monte Carlo ray tracing through edge sampling, 2018,
section 3). The covered area is a formula here, of an edge across the whole square in `coverage` and
of the edges of polygons in `triangle_coverage`, so no edges are sampled. Both follow Duff, Polygon
scan conversion by exact convolution, 1989.

An edge along the border of two pixels moves into one of them; that pixel has the whole derivative.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti

vec2 = ti.math.vec2


@dt.func
def coverage(distance, slope: vec2, width=1.0):
    """Return the part of a pixel in which a linear function is negative, from 0 to 1.

    The function stands for a signed distance, negative inside. For straight edges the result and
    its derivatives are exact. For round ones the error grows with the curvature: of a disc with a
    radius of 7 pixels the derivatives of single pixels are within 4 percent, and derivatives of
    smooth sums over pixels within 1 percent.

    Args:
        distance: The function at the centre of the pixel.
        slope: Its change from pixel to pixel, to the right and downwards. The function need not be
            in pixels, nor a distance: only its ratio to the slope matters.
        width: The size of the square over which the mean is taken [pixels]. Wide ones let a shape
            feel what is far away.
    """
    a, b = abs(slope[0]) * width, abs(slope[1]) * width
    steep, flat = max(a, b), min(a, b)
    outside = distance > 0.0
    away = distance if outside else -distance  # `abs` would have the slope 0 on the edge
    reach = 0.5 * (steep + flat) - away  # how far the nearest corner is on the other side
    lesser = 0.0  # of the two parts
    if reach > 0.0 or (outside and reach == 0.0):
        lesser = 0.5 - away / steep if reach >= flat else reach * reach / (2.0 * steep * flat)
    return lesser if outside else 1.0 - lesser


@dt.func
def _mean_clamped(p, q):
    """Return the mean of clamp(x, 0, 1) for x between two numbers.

    Differences of nearly equal numbers are avoided, also in the derivatives.
    """
    low, high = min(p, q), max(p, q)
    mean = 0.0
    if low >= 1.0:
        mean = 1.0
    elif high >= 0.0:
        if low >= 0.0 and high <= 1.0:
            mean = 0.5 * (p + q)
        elif low >= 0.0:
            mean = 1.0 - 0.5 * (1.0 - low) * ((1.0 - low) / (high - low))
        elif high <= 1.0:
            mean = 0.5 * high * (high / (high - low))
        else:
            mean = (high - 0.5) / (high - low)
    return mean


@dt.func
def _beside(a, b):
    """Return the signed area between an edge and x = 0, within the square from 0 to 1."""
    area = 0.0
    above = a[1] < 0.0 and b[1] < 0.0
    below = a[1] >= 1.0 and b[1] >= 1.0
    if not (above or below):
        x0, y0, x1, y1 = a[0], a[1], b[0], b[1]
        if a[1] < 0.0 or a[1] > 1.0:
            y0 = 0.0 if a[1] < 0.0 else 1.0
            x0 = a[0] + (y0 - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
        if b[1] < 0.0 or b[1] > 1.0:
            y1 = 0.0 if b[1] < 0.0 else 1.0
            x1 = b[0] + (y1 - b[1]) / (a[1] - b[1]) * (a[0] - b[0])
        area = (y1 - y0) * _mean_clamped(x0, x1)
    return area


@dt.func
def triangle_coverage(pixel: vec2, a: vec2, b: vec2, c: vec2, width=1.0):
    """Return the part of a pixel that a triangle covers, from 0 to 1.

    Value and derivatives are exact, for triangles of any size and orientation. Coverages of
    triangles that share edges add up to the coverage of all.

    Args:
        pixel: The centre of the pixel, (column + 0.5, row + 0.5) [pixels].
        a: A vertex [pixels].
        b: A vertex.
        c: A vertex.
        width: The size of the square over which the mean is taken [pixels]. Wide ones let a
            triangle feel what is far away.
    """
    p, q, r = (a - pixel) / width + 0.5, (b - pixel) / width + 0.5, (c - pixel) / width + 0.5
    area = _beside(p, q) + _beside(q, r) + _beside(r, p)
    return area if (q - p).cross(r - p) >= 0.0 else -area
