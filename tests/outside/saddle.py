"""A saddle point, as the minimum of maxima: GradBench's `saddle`.

Both searches follow derivatives, so that the outer ones are derivatives of a search (Siskind and
Pearlmutter, Using Programming Language Theory to Make Automatic Differentiation Sound and
Efficient, 2008). The inner search is a loop inside a kernel.
"""

from __future__ import annotations

import taichi as ti

import difftile as dt
from tests.outside.descent import PATIENCE, STEP, TOLERANCE


@dt.func
def height(x, y):
    return x.norm_sqr() - y.norm_sqr()


@dt.func
def slope_forward(x, y):
    zero = 0.0 * y
    return ti.Vector(
        [
            dt.fwd_diff(height)(x, y, zero, ti.Vector([1.0, 0.0])),
            dt.fwd_diff(height)(x, y, zero, ti.Vector([0.0, 1.0])),
        ]
    )


@dt.func
def slope_reverse(x, y):
    _, by_y = dt.bwd_diff(height)(x, y, 1.0)
    return by_y


@dt.kernel
def highest(x, start, slope: ti.template(), found):
    """Return the largest height over y, which is sought from the start on, and store that y."""
    at, y = ti.Vector([x[0], x[1]]), ti.Vector([start[0], start[1]])
    value, along = height(at, y), slope(at, y)
    eta, gains, going = STEP, 0, True
    while going and along.norm() > TOLERANCE:
        if gains == PATIENCE:
            eta *= 2.0
            gains = 0
        elif (eta * along).norm() <= TOLERANCE:
            going = False
        elif height(at, y + eta * along) > value:
            y += eta * along
            value, along = height(at, y), slope(at, y)
            gains += 1
        else:
            eta *= 0.5
            gains = 0
    found[0], found[1] = y[0], y[1]
    return value
