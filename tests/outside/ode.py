"""A chain of linear equations in time, by the method of Runge and Kutta: GradBench's `ode`.

y_0' = x_0 and y_i' = x_i y_(i-1), from zero at t = 0 to t = 2.
"""

from __future__ import annotations

import taichi as ti

import difftile as dt

END = 2.0


@dt.func
def rate(x, y, i):
    return x[i] if i == 0 else x[i] * y[i - 1]


@dt.kernel
def advance(x, y, y1, y2, y3, h: float):
    """Take a step of length h; y1, y2 and y3 are where the other slopes are taken."""
    for i in x:
        y1[i] = y[i] + 0.5 * h * rate(x, y, i)
    for i in x:
        y2[i] = y[i] + 0.5 * h * rate(x, y1, i)
    for i in x:
        y3[i] = y[i] + h * rate(x, y2, i)
    for i in x:  # in terms of the three points, since y is read by its neighbour
        y[i] = (y1[i] + 2.0 * y2[i] + y3[i] - y[i] + 0.5 * h * rate(x, y3, i)) / 3.0


def solution(x: dt.Field, steps: int) -> dt.Field:
    """Return y at the end."""
    y, y1, y2, y3 = (dt.zeros(x.shape, dtype=ti.f64) for _ in range(4))
    for _ in range(steps):
        advance(x, y, y1, y2, y3, END / steps)
    return y
