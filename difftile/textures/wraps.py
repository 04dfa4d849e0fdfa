"""Wraps: which texel stands for an index outside the texture, on an axis of n texels.

All of them give an index inside for any integer, so that no position reads other memory.
"""

from __future__ import annotations

from difftile.runtime.funcs import func


@func
def clamp(i, n):
    """Return the nearest texel."""
    return max(0, min(i, n - 1))


@func
def repeat(i, n):
    """Return the texel of the repeated texture."""
    return i % n


@func
def mirror(i, n):
    """Return the texel of the texture that is repeated back and forth, its edges twice."""
    m = i % (2 * n)
    return min(m, 2 * n - 1 - m)


# The border takes the weight of the texels outside (`lookup`); the index is one of no weight.
WRAPS = {"clamp": clamp, "repeat": repeat, "mirror": mirror, "border": clamp}
