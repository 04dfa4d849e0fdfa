"""Filters: the texels that a position takes along one axis, and their weights.

Positions are in texels: texel i covers [i, i + 1), its centre is at i + 1/2.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti


@dt.data_oriented
class NearestFilter:
    """The texel that the position is in; constant, so that positions have no gradient."""

    taps = 1

    @staticmethod
    @dt.func
    def first(x):
        """Return the first texel taken, which may be outside."""
        return int(ti.floor(x))

    @staticmethod
    @dt.func
    def weights(x):
        """Return the weight of each texel taken; they sum to 1."""
        return ti.Vector([1.0])


@dt.data_oriented
class LinearFilter:
    """The two nearest texels; at a texel's centre the derivative is the right-hand one."""

    taps = 2

    @staticmethod
    @dt.func
    def first(x):
        """Return the first texel taken, which may be outside."""
        return int(ti.floor(x - 0.5))

    @staticmethod
    @dt.func
    def weights(x):
        """Return the weight of each texel taken; they sum to 1."""
        f = x - 0.5 - ti.floor(x - 0.5)
        return ti.Vector([1.0 - f, f])


@dt.data_oriented
class CubicFilter:
    """The uniform cubic B-spline over the four nearest texels; smooth, but not interpolating.

    Source: de Boor, A Practical Guide to Splines, 1978. Second derivatives are continuous.
    """

    taps = 4

    @staticmethod
    @dt.func
    def first(x):
        """Return the first texel taken, which may be outside."""
        return int(ti.floor(x - 0.5)) - 1

    @staticmethod
    @dt.func
    def weights(x):
        """Return the weight of each texel taken; they sum to 1."""
        f = x - 0.5 - ti.floor(x - 0.5)
        g = 1.0 - f
        low = 4.0 / 6.0 - (1.0 - 0.5 * f) * f * f
        high = 4.0 / 6.0 - (1.0 - 0.5 * g) * g * g
        return ti.Vector([g * g * g / 6.0, low, high, f * f * f / 6.0])


FILTERS = {"nearest": NearestFilter(), "linear": LinearFilter(), "cubic": CubicFilter()}
