"""Wraps: the values outside the texture, along one axis of n texels.

A position is brought near the texture before it is converted to texels, as their indices might
overflow: where the texture repeats, into its first period, else to where all taps are outside. Each
tap is then mapped to a texel, so that no position reads other memory. NaN is not a position; on
axes that repeat, neither is infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import difftile as dt
from difftile import ti

FAR = 4  # positions nearer than this, in sizes of the texture, stay as they are
NONE = -1  # the index of the border


@dt.func
def same(u):
    """Return a position as it is."""
    return u


# Axes that end


@dt.func
def is_number(u):
    """Return whether a position is a number."""
    return not math.isnan(u)


@dt.func
def kept(u):
    """Return a position near the texture whose taps are outside exactly if the taps of `u` are."""
    return ti.math.clamp(u, -FAR, FAR)


@dt.func
def clamp(i, n):
    """Return the nearest texel."""
    return max(0, min(i, n - 1))


@dt.func
def border(i, n):
    """Return the texel itself, or NONE outside."""
    return i if i >= 0 and i < n else NONE


# Axes that repeat


@dt.func
def is_finite(u):
    """Return whether a position is finite."""
    return math.isfinite(u)


@dt.func
def first_period(u):
    """Return a position in the first period of the repeated texture."""
    return u - ti.floor(u)


@dt.func
def first_two(u):
    """Return a position in the first two periods, a texture and its mirror image."""
    return u - 2.0 * ti.floor(0.5 * u)


@dt.func
def repeat(i, n):
    """Return the texel of the repeated texture."""
    return i % n


@dt.func
def mirror(i, n):
    """Return the texel of the texture that is repeated back and forth, with its edges twice."""
    m = i % (2 * n)
    return min(m, 2 * n - 1 - m)


@dt.func
def repeated_tap(i, n):
    """Return the same as `repeat` for taps of a position in the first period, dividing nothing."""
    j = i + n if i < 0 else i - n if i >= n else i
    return max(0, min(j, n - 1))  # there are more taps than a texture of one texel has periods


@dt.func
def mirrored_tap(i, n):
    """Return the same as `mirror` for taps of a position in the first two periods."""
    j = -1 - i if i < 0 else i - 2 * n if i >= 2 * n else i
    return max(0, min(j, 2 * n - 1 - j))


@dt.data_oriented
@dataclass(frozen=True)
class Wrap:
    """The funcs of a wrap.

    Args:
        is_somewhere: Whether a position has a value.
        folded: The position in the first period with the same value.
        kept: A position near the texture with the same value as one farther than FAR.
        texel: The texel for an index; NONE for the border.
        tap: The texel for an index of a tap, at a position that is folded and kept.
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
