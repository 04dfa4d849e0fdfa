"""From the footprint of a pixel to a level, and to a line of lookups.

A footprint is the ellipse that M = [dx dy] makes of the unit circle, where dx and dy are how far
the position moves, in texels, from a pixel to the next ones. Its half axes p_max and p_min are the
singular values of M.

Source: Direct3D 11.3 Functional Specification, 7.18.11, with the exact ellipse.
"""

from __future__ import annotations

from difftile.runtime.funcs import func
from difftile.substrate.language import ti

_TINY = 1e-30  # what a footprint of no size counts as, squared


@func
def footprint_lod(texture, dx, dy):
    """Return the level of detail of a footprint, and how much longer than its level it is.

    The level of detail is log2(p) of p = max(p_min, p_max / max_aniso), the other one p_max / p. At
    a circle, where the axes have no direction, the derivative is the mean over all directions.
    """
    xx, xy, yy = dx.dot(dx), dx.dot(dy), dy.dot(dy)
    difference = 0.5 * (xx - yy)
    major = 0.5 * (xx + yy) + ti.sqrt(difference * difference + xy * xy)
    across = major
    if ti.static(texture.max_aniso > 1 and texture.dims > 1):
        minor = (xx * yy - xy * xy) / max(major, _TINY)
        across = max(minor, major / ti.static(texture.max_aniso**2))
    across = max(across, _TINY)
    return 0.5 * ti.math.log2(across), ti.sqrt(major / across)


@func
def count_of(texture, ratio):
    """Return how many lookups make up a footprint that is so much longer than its level."""
    return max(1, min(int(ti.ceil(ratio * (1.0 - 1e-5))), texture.max_aniso))


@func
def major_axis(dx, dy):
    """Return how much of dx and of dy the major axis of a footprint is."""
    angle = 0.5 * ti.atan2(2.0 * dx.dot(dy), dx.dot(dx) - dy.dot(dy))
    return ti.cos(angle), ti.sin(angle)
