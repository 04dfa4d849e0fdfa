"""Rays and shapes: which zones of touch sensors they meet, and what rangefinders see.

Along a ray p + t u each surface is where a quadratic function of t is zero, and the line is within
it for an interval of t; the interval of a shape is what its surfaces share (`mju_rayGeom`).
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE

_STILL = 1e-15  # the square of a speed below which a ray does not move
_FAR = 1e10  # the ends of a line [m]


@dt.func
def within(a, b, c, low, high):
    """Return the part of an interval of t in which a t² + 2 b t + c <= 0, low > high if none."""
    root = b * b - a * c
    if a > _STILL and root > 0.0:
        root = ti.sqrt(root)
        low = max(low, (-b - root) / a)
        high = min(high, (-b + root) / a)
    elif a > _STILL or c > 0.0:
        low, high = 1.0, 0.0
    return low, high


@dt.func
def in_ball(p, u, radius):
    """Return the part of a line in a ball around the origin."""
    return within(u.dot(u), u.dot(p), p.dot(p) - radius * radius, -_FAR, _FAR)


@dt.func
def in_slab(p, u, half, low, high):
    """Return the part of an interval of t in which the coordinate p + t u is in -half..half."""
    return within(u * u, u * p, p * p - half * half, low, high)


@dt.func
def in_tube(p, u, size):
    """Return the part of a line in a cylinder along z."""
    square = p[0] * p[0] + p[1] * p[1] - size[0] * size[0]
    low, high = within(u[0] * u[0] + u[1] * u[1], u[0] * p[0] + u[1] * p[1], square, -_FAR, _FAR)
    return in_slab(p[2], u[2], size[1], low, high)


@dt.func
def joined(low, high, start, end):
    """Return the smallest interval with two, each of which may be none."""
    if start <= end:
        if low <= high:
            low, high = min(low, start), max(high, end)
        else:
            low, high = start, end
    return low, high


@dt.func
def part_in(kind, size, p, u):
    """Return the part of the line p + t u in a shape, low > high if none; see `meets`."""
    low, high = -_FAR, _FAR
    if kind == BOX:
        for k in ti.static(range(3)):
            low, high = in_slab(p[k], u[k], size[k], low, high)
    elif kind == ELLIPSOID:
        low, high = in_ball(p / size, u / size, 1.0)
    elif kind == CYLINDER:
        low, high = in_tube(p, u, size)
    elif kind == CAPSULE:
        low, high = in_tube(p, u, size)
        for k in ti.static(range(2)):
            end = ti.Vector([0.0, 0.0, (2 * k - 1) * size[1]])
            start, stop = in_ball(p - end, u, size[0])
            low, high = joined(low, high, start, stop)
    else:
        low, high = in_ball(p, u, size[0])
    return low, high


@dt.func
def meets(kind, size, p, u):
    """Return whether the ray from p along u meets a shape, or begins in it.

    Args:
        kind: The shape, as `site_type`.
        size: Its sizes, as `site_size` [m].
        p, u: Point and direction in the frame of the shape; u has length 1.
    """
    low, high = part_in(kind, size, p, u)
    return low <= high and high >= 0.0


@dt.func
def sight(kind, size, p, u):
    """Return the distance along the ray from p to the surface of a shape, -1 if it meets none.

    Of a plane only the front is seen, within its sizes if these are above 0.

    Args:
        kind, size, p, u: As for `meets`, of a geom.
    """
    found = -1.0
    if kind == PLANE:
        if u[2] < -_STILL and p[2] >= 0.0:
            t = -p[2] / u[2]
            x, y = abs(p[0] + t * u[0]), abs(p[1] + t * u[1])
            if (size[0] <= 0.0 or x <= size[0]) and (size[1] <= 0.0 or y <= size[1]):
                found = t
    else:
        low, high = part_in(kind, size, p, u)
        if low <= high and high >= 0.0:
            found = high
            if low >= 0.0:
                found = low
    return found


@dt.func
def pierced(a, b, c, p, u):
    """Return the distance along the ray from p to a triangle, from either side, -1 if it misses.

    Source: Moller and Trumbore, Fast, minimum storage ray/triangle intersection, 1997.

    Args:
        a, b, c: The corners.
        p, u: As for `meets`.
    """
    found = -1.0
    across, arm = u.cross(c - a), p - a
    det = (b - a).dot(across)
    if det != 0.0:
        turned = arm.cross(b - a)
        x, y = arm.dot(across) / det, u.dot(turned) / det
        if x >= 0.0 and y >= 0.0 and x + y <= 1.0:
            t = (c - a).dot(turned) / det
            if t >= 0.0:
                found = t
    return found
