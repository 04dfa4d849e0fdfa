"""Integers and bools among floats: values that carry a gradient, and values that only decide."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, ints, program


@program(x=floats(6), n=ints([3, -2, 0, 5, 7, -7]), y=floats(6, 4))
def integers_beside_floats(x, n, y):
    for i in x:
        y[i, 0] = x[i] * (n[i] // 2) + x[i] ** (n[i] & 3) * (n[i] % 3)
        y[i, 1] = x[i] * (n[i] ** 2 + 2 ** (n[i] & 3)) - (~n[i] ^ 5) * x[i]
        y[i, 2] = (x[i] + (n[i] << 2)) * ti.cast(n[i] >> 1, ti.i8) + ti.raw_div(n[i], 2) * x[i]
        y[i, 3] = x[i] * x[i] / n[i] if n[i] != 0 and x[i] / n[i] < 3 else n[i] - x[i]


@program(x=floats(6), n=ints([3, -2, 0, 5, 7, -7]), y=floats(6, 3))
def comparisons_decide(x, n, y):
    for i in x:
        inside = -1 < x[i] <= 0.8 < y.shape[0]
        y[i, 0] = x[i] * x[i] if inside else 3 * x[i]
        y[i, 1] = x[i] * ((x[i] > 0) * 1 + (n[i] > 0)) + x[i] * int(not inside)
        if (i > 0 and x[i - 1] * n[i - 1] > 0) or n[i] == 7:
            y[i, 2] = x[i] * x[i - 1 if i > 0 else 0]


@program(x=floats(4, low=-3.0, high=3.0), v=floats(4, element=(2,)), y=floats(4))
def sigmoids(x, v, y):
    for i in x:
        y[i] = dt.sigmoid(x[i]) * dt.sigmoid(v[i]).sum()
        y[i] += ti.select(x[i] > 0, dt.sigmoid(8 * x[i]), 0)


@program(
    x=array([5.5, -5.5, 5.5, -5.5]),
    d=array([2, 2, -2, -2]),
    y=floats(4),
    expected={"y": [1.5, -1.5, 1.5, -1.5]},
    gradients={"x": [1, 1, 1, 1], "d": [-2, 2, 2, -2]},
    seeds={"y": 1},
)
def remainders_of_floats_as_in_c(x, d, y):
    for i in x:
        y[i] = ti.raw_mod(x[i], d[i])
