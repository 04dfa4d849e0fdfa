"""Every function of one and two floats, of `ti`, `ti.math` and `math`."""

import math

import taichi as ti

from tests.harness import floats, program


@program(x=floats(3), y=floats(3, 8))
def of_any_float(x, y):
    for i in x:
        y[i, 0] = ti.sin(x[i])
        y[i, 1] = ti.cos(x[i])
        y[i, 2] = ti.tan(0.8 * x[i])
        y[i, 3] = ti.tanh(x[i])
        y[i, 4] = ti.exp(x[i])
        y[i, 5] = ti.abs(x[i]) + abs(x[i])
        y[i, 6] = ti.atan2(x[i], 0.7) + ti.atan2(0.7, x[i])
        y[i, 7] = ti.floor(x[i]) + ti.ceil(x[i]) + ti.round(x[i]) + round(x[i]) + x[i]


@program(x=floats(3, low=0.2, high=3.0), y=floats(3, 5))
def of_positive_floats(x, y):
    for i in x:
        y[i, 0] = ti.log(x[i])
        y[i, 1] = ti.sqrt(x[i])
        y[i, 2] = ti.rsqrt(x[i])
        y[i, 3] = ti.pow(x[i], 1.7) + pow(x[i], -0.3)
        y[i, 4] = x[i] ** x[i]


@program(x=floats(3, low=-0.9, high=0.9), y=floats(3, 4))
def of_the_unit_interval(x, y):
    for i in x:
        y[i, 0] = ti.asin(x[i])
        y[i, 1] = ti.acos(x[i])
        y[i, 2] = math.asin(x[i])
        y[i, 3] = math.acos(x[i])


@program(x=floats(3, low=0.3, high=0.9), z=floats(3, low=1.2, high=2.0), y=floats(3, 16))
def of_ti_math(x, z, y):
    for i in x:
        y[i, 0] = ti.math.clamp(z[i], 0.1, x[i])
        y[i, 1] = ti.math.mix(x[i], z[i], x[i])
        y[i, 2] = ti.math.fract(z[i])
        y[i, 3] = ti.math.sign(x[i]) * z[i]
        y[i, 4] = ti.math.degrees(x[i])
        y[i, 5] = ti.math.radians(x[i])
        y[i, 6] = ti.math.mod(z[i], x[i])
        y[i, 7] = ti.math.step(x[i], z[i]) * x[i]
        y[i, 8] = ti.math.log2(x[i])
        y[i, 9] = ti.math.atan2(x[i], z[i])
        y[i, 10] = ti.math.pow(x[i], z[i])
        y[i, 11] = ti.select(ti.math.isnan(x[i]), 0.0, x[i] * z[i])
        y[i, 12] = ti.select(ti.math.isinf(x[i]), 0.0, z[i])
        y[i, 13] = ti.math.pi * x[i]
        y[i, 14] = ti.math.e * z[i]
        y[i, 15] = ti.max(x[i], z[i], 0.5) + ti.min(x[i], 2.0, z[i]) + max(x[i], 0.1)


@program(x=floats(3, low=0.3, high=0.9), z=floats(3, low=1.2, high=2.0), y=floats(3, 24))
def of_math(x, z, y):
    for i in x:
        y[i, 0] = math.sin(x[i])
        y[i, 1] = math.cos(x[i])
        y[i, 2] = math.tan(x[i])
        y[i, 3] = math.atan(x[i])
        y[i, 4] = math.atan2(x[i], z[i])
        y[i, 5] = math.tanh(x[i])
        y[i, 6] = math.sinh(x[i])
        y[i, 7] = math.cosh(x[i])
        y[i, 8] = math.exp(x[i])
        y[i, 9] = math.log(x[i])
        y[i, 10] = math.sqrt(x[i])
        y[i, 11] = math.floor(z[i]) * x[i]
        y[i, 12] = math.ceil(z[i]) * x[i]
        y[i, 13] = math.log2(x[i])
        y[i, 14] = math.log10(x[i])
        y[i, 15] = math.pow(x[i], z[i])
        y[i, 16] = math.radians(x[i])
        y[i, 17] = math.degrees(x[i])
        y[i, 18] = math.fabs(-x[i])
        y[i, 19] = math.fmod(z[i], x[i])
        y[i, 20] = math.hypot(x[i], z[i])
        y[i, 21] = ti.select(math.isnan(x[i]), 0.0, x[i])
        y[i, 22] = ti.select(math.isinf(x[i]), 0.0, x[i])
        y[i, 23] = -x[i] + (+z[i])


@program(x=floats(3), y=floats(3, 9))
def powers(x, y):
    for i in x:
        y[i, 0] = x[i] ** 2
        y[i, 1] = x[i] ** 3
        y[i, 2] = x[i] ** -2
        y[i, 3] = x[i] ** 2.0
        y[i, 4] = x[i] ** 0
        y[i, 5] = x[i] ** 16
        y[i, 6] = ti.pow(x[i], 4)
        y[i, 7] = 2.0 ** x[i]
        y[i, 8] = ti.abs(x[i]) ** 0.5


@program(x=floats(3), y=floats(3), z=floats(3))
def operators(x, y, z):
    for i in x:
        a = x[i] + y[i] * 2 - 3 / (1.5 + y[i] * y[i])
        b = -(a - (x[i] - y[i])) / (2 + a * a) / 1.5
        z[i] = a - (b - a * (x[i] + y[i])) * (-b) - -a
