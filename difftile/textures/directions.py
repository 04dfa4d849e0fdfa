"""Vectors whose length does not count: directions, and quaternions that stand for rotations.

The square of a component may overflow or vanish although the direction is valid, so vectors are
brought to a moderate length first. Gradients are still with respect to the original vectors: the
scaling factor is a constant, as a function of the direction does not depend on it.
"""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti

LONG = 2**30  # numbers above this, or below its inverse, are not moderate
_FAR = 2.0**100  # above this, and below its inverse, the inverse of an `f32` may not be exact


@dt.func
def is_direction(v):
    """Return whether a vector has a direction: it is finite and not zero."""
    finite = math.isfinite(v)
    found = v[0] != 0.0
    for k in ti.static(range(1, len(v))):
        found = found or v[k] != 0.0
    return finite.all() and found


@dt.func
def is_moderate(size):
    """Return whether a size is neither very large nor very small, nor NaN."""
    return 1.0 / LONG < size < LONG


@dt.func
def size_of(v):
    """Return the largest magnitude of a component, as a constant."""
    return dt.stop_grad(abs(v).max())


@dt.func
def divided(v, size):
    """Return a vector divided by a size, which may be any float from 0 on."""
    factor = 1.0
    if size < 1.0 / _FAR:
        factor = _FAR
    elif size > _FAR:
        factor = 1.0 / _FAR
    by = factor * size
    return factor * v / (by if by > 0.0 else 1.0)


@dt.func
def of_moderate_length(v):
    """Return a vector of the same direction whose longest component is 1 in size; 0 for 0."""
    return divided(v, size_of(v))


@dt.func
def unit(v):
    """Return the vector of length 1 in the same direction; 0 for 0."""
    u = v
    square = v.norm_sqr()
    if not is_moderate(square):
        u = of_moderate_length(v)
    return u / max(u.norm(), 1.0 / LONG)
