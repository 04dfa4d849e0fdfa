"""Lambdas as functions of kernels: from outside, wrapped, as arguments, several on a line."""

import taichi as ti

import difftile as dt
from tests.harness import floats, program

gain = 1.25
step = lambda x: ti.select(x > 0, 1.0, 0.0)  # noqa: E731
first, second = (lambda x: x * x), (lambda x: gain * x * x * x)
spread = lambda x, low=-0.5, *, high=0.5: (  # noqa: E731
    low if x < low else
    high if x > high else x
)  # fmt: skip
both = dt.func(lambda x: (first(x), second(x) + spread(x, high=2.0)))


def scaled(by):
    return lambda x: by * x


double = scaled(2.0)


wave = lambda x: ti.sin(x) + first(x)  # noqa: E731


@program(x=floats(5), y=floats(5, 3), f=wave, g=both)
def called(x, y, f: ti.template(), g):
    for i in x:
        y[i, 0] = step(x[i]) * x[i] + first(x[i]) - second(x[i])
        a, b = g(x[i])
        y[i, 1] = a * b + spread(x[i], low=-0.1)
        y[i, 2] = f(double(x[i])) + f(f(x[i]))
