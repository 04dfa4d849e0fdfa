"""Wraps: what is outside the texture, along one axis of n texels.

A position is brought near the texture before texels are counted from it, whose index no integer
may hold: where the texture repeats, into its first period, else to where all taps are outside. Then
each tap stands for a texel, so that no position reads other memory. A position that is NaN is
nowhere, and so is one at infinity on an axis that repeats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from difftile.compile.methods import data_oriented
from difftile.runtime.funcs import func
from difftile.substrate import ti

FAR = 4  # positions nearer than that, in sizes of the texture, need not be kept near
NONE = -1  # stands for the border


@func
def same(u):
    """Return a position as it is."""
    return u


# Axes that end


@func
def is_number(u):
    """Tell whether a position is somewhere."""
    return not math.isnan(u)


@func
def kept(u):
    """Return a position near the texture, from which every tap is outside as from one far away."""
    return ti.math.clamp(u, -FAR, FAR)


@func
def clamp(i, n):
    """Return the nearest texel."""
    return max(0, min(i, n - 1))


@func
def border(i, n):
    """Return the texel itself, or NONE outside."""
    return i if i >= 0 and i < n else NONE


# Axes that repeat


@func
def is_finite(u):
    """Tell whether a position is somewhere."""
    return math.isfinite(u)


@func
def first_period(u):
    """Return a position in the first period of the repeated texture."""
    return u - ti.floor(u)


@func
def first_two(u):
    """Return a position in the first two periods, a texture and its mirror image."""
    return u - 2.0 * ti.floor(0.5 * u)


@func
def repeat(i, n):
    """Return the texel of the repeated texture."""
    return i % n


@func
def mirror(i, n):
    """Return the texel of the texture that is repeated back and forth, its edges twice."""
    m = i % (2 * n)
    return min(m, 2 * n - 1 - m)


@func
def repeated_tap(i, n):
    """Return what `repeat` does for taps of a position in the first period, without a division."""
    j = i + n if i < 0 else i - n if i >= n else i
    return max(0, min(j, n - 1))  # there are more taps than a texture of one texel has periods


@func
def mirrored_tap(i, n):
    """Return what `mirror` does for taps of a position in the first two periods, likewise."""
    j = -1 - i if i < 0 else i - 2 * n if i >= 2 * n else i
    return max(0, min(j, 2 * n - 1 - j))


@data_oriented
@dataclass(frozen=True)
class Wrap:
    """Funcs that say what is outside.

    Args:
        is_somewhere: Whether there is anything at a position.
        folded: A position in the first period that gives the same.
        kept: A position near the texture that gives the same as one that is farther than FAR.
        texel: Which texel stands for an index; NONE for the border.
        tap: The same for indices of taps of a position that is folded and kept.
    """

    is_somewhere: Any
    folded: Any
    kept: Any
    texel: Any
    tap: Any


WRAPS = {
    "clamp": Wrap(is_number, same, kept, clamp, clamp),
    "repeat": Wrap(is_finite, first_period, same, repeat, repeated_tap),
    "mirror": Wrap(is_finite, first_two, same, mirror, mirrored_tap),
    "border": Wrap(is_number, same, kept, border, border),
}
