"""The level of detail and the lookups for the footprint of a pixel.

A footprint is the image of the unit circle under M = [dx dy], where dx and dy are the movements of
the position, in texels, from a pixel to the next ones. Its half axes p_max and p_min are the
singular values of M.

Source: Direct3D 11.3 Functional Specification, 7.18.11, with the exact ellipse.
"""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti
from difftile.textures.directions import divided
from difftile.textures.mips import kept_lod

_TINY = 1e-30  # the least size of a footprint


@dt.func
def footprint_size(texture, uv, ddx, ddy):
    """Return the sum of the sizes of the entries of a footprint [texels], as a constant.

    The sum is infinite or NaN if one of them is, and infinite if it overflows.
    """
    at = dt.stop_grad(uv)
    dx = texture.moved(texture, at, dt.stop_grad(ddx))
    dy = texture.moved(texture, at, dt.stop_grad(ddy))
    return abs(dx).sum() + abs(dy).sum()


@dt.func
def divided_footprint(texture, uv, ddx, ddy, size):
    """Return the two sides of a footprint [texels] divided by its size."""
    dx, dy = texture.moved(texture, uv, ddx), texture.moved(texture, uv, ddy)
    return divided(dx, size), divided(dy, size)


@dt.func
def footprint_lod(texture, dx, dy, size):
    """Return the level of detail log2(max(p_min, p_max / max_aniso)), and log2(p_max).

    At a circle, where the axes have no direction, the derivative is the mean over all directions.

    Args:
        texture: The texture.
        dx: A side of the footprint [texels], divided by its size.
        dy: The other side, divided by the size.
        size: The size, finite.
    """
    xx, xy, yy = dx.dot(dx), dx.dot(dy), dy.dot(dy)
    difference = 0.5 * (xx - yy)
    major = max(0.5 * (xx + yy) + ti.sqrt(difference * difference + xy * xy), _TINY)
    across = major
    if ti.static(texture.max_aniso > 1 and texture.dims > 1):
        minor = (xx * yy - xy * xy) / major
        across = max(minor, major / ti.static(texture.max_aniso**2))
    shift = ti.math.log2(max(size, _TINY))
    return shift + 0.5 * ti.math.log2(across), shift + 0.5 * ti.math.log2(major)


@dt.func
def count_of(texture, lod, longer):
    """Return the number of lookups in a footprint: the texels of its level along its longer axis.

    Args:
        texture: The texture.
        lod: The level of detail.
        longer: Log2 of the longer half axis [texels of level 0].
    """
    most = math.log2(texture.max_aniso)
    along = 2.0 ** min(longer - kept_lod(texture, lod), most)
    return max(1, int(ti.ceil(along * (1.0 - 1e-5))))


@dt.func
def major_axis(dx, dy):
    """Return the components of the major axis of a footprint along dx and dy."""
    angle = 0.5 * ti.atan2(2.0 * dx.dot(dy), dx.dot(dx) - dy.dot(dy))
    return ti.cos(angle), ti.sin(angle)
