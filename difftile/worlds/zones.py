"""Zones of touch sensors: whether a ray meets the shape of a site.

Along a ray p + t u each surface is where a quadratic function of t is zero, and the ray is within
it for an interval of t; the interval of a shape is what its surfaces share (`mju_rayGeom`).
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID

_STILL = 1e-15  # the square of a speed below which a ray does not move
_FAR = 1e10  # the end of a ray [m]


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
    """Return whether a ray meets a ball around the origin."""
    low, high = within(u.dot(u), u.dot(p), p.dot(p) - radius * radius, 0.0, _FAR)
    return low <= high


@dt.func
def in_slab(p, u, half, low, high):
    """Return the part of an interval of t in which the coordinate p + t u is in -half..half."""
    return within(u * u, u * p, p * p - half * half, low, high)


@dt.func
def in_tube(p, u, size):
    """Return whether a ray meets a cylinder along z."""
    square = p[0] * p[0] + p[1] * p[1] - size[0] * size[0]
    low, high = within(u[0] * u[0] + u[1] * u[1], u[0] * p[0] + u[1] * p[1], square, 0.0, _FAR)
    low, high = in_slab(p[2], u[2], size[1], low, high)
    return low <= high


@dt.func
def meets(kind, size, p, u):
    """Return whether the ray from p along u meets a shape, or begins in it.

    Args:
        kind: The shape, as `site_type`.
        size: Its sizes, as `site_size` [m].
        p, u: Point and direction in the frame of the shape; u has length 1.
    """
    found = False
    if kind == BOX:
        low, high = 0.0, _FAR
        for k in ti.static(range(3)):
            low, high = in_slab(p[k], u[k], size[k], low, high)
        found = low <= high
    elif kind == ELLIPSOID:
        found = in_ball(p / size, u / size, 1.0)
    elif kind == CYLINDER:
        found = in_tube(p, u, size)
    elif kind == CAPSULE:
        end = ti.Vector([0.0, 0.0, size[1]])
        found = in_tube(p, u, size) or in_ball(p - end, u, size[0]) or in_ball(p + end, u, size[0])
    else:
        found = in_ball(p, u, size[0])
    return found
