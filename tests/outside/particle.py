"""A charge that steers a particle to the origin: GradBench's `particle`.

The force is the gradient of a potential, and the charge is found by the gradient of the path; see
`saddle` for the source.
"""

from __future__ import annotations

import taichi as ti

import difftile as dt

DT = 0.1


@dt.func
def potential(x, w):
    upper, lower = ti.Vector([10.0, 10.0 - w]), ti.Vector([10.0, 0.0])
    return 1.0 / (x - upper).norm() + 1.0 / (x - lower).norm()


@dt.func
def force_forward(x, w):
    return -ti.Vector(
        [
            dt.fwd_diff(potential)(x, w, ti.Vector([1.0, 0.0]), 0.0),
            dt.fwd_diff(potential)(x, w, ti.Vector([0.0, 1.0]), 0.0),
        ]
    )


@dt.func
def force_reverse(x, w):
    by_x, _ = dt.bwd_diff(potential)(x, w, 1.0)
    return -by_x


@dt.kernel
def miss(w, force: ti.template()):
    """Return the square of where the path crosses the axis, between two steps."""
    square = 0.0
    for i in w:
        x, v = ti.Vector([0.0, 8.0]), ti.Vector([0.75, 0.0])
        while True:
            a = force(x, w[i])
            x += DT * v
            if x.y <= 0.0:
                break
            v += DT * a
        square += (x.x - x.y / v.y * v.x) ** 2
    return square
