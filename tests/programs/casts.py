"""Casts between number types, and arithmetic that mixes them."""

import taichi as ti

from tests.harness import array, floats, ints, program


@program(x=array([2.7]), y=floats(1), expected={"y": [5.4]}, gradients={"x": [2]}, seeds={"y": 1})
def integer_part_is_constant(x, y):
    for i in x:
        y[i] = x[i] * ti.cast(ti.cast(x[i], ti.i32), ti.f32)


@program(x=floats(4), y=floats(4))
def to_integers_and_back(x, y):
    for i in x:
        k = int(x[i] * 3)
        y[i] = x[i] * k + float(k) * x[i] + ti.i32(x[i]) + ti.cast(x[i], int) * x[i]


@program(x=floats(4), y=floats(4))
def between_floats(x, y):
    for i in x:
        a = ti.cast(x[i], ti.f64) * x[i]
        y[i] = ti.f64(a) + ti.cast(a, float) * x[i]


@program(x=floats(4), n=ints([3, -2, 0, 7]), y=floats(4))
def integers_with_floats(x, n, y):
    for i in x:
        y[i] = n[i] * x[i] + n[i] / 2 + x[i] * (n[i] // 2) + x[i] * (n[i] % 3) - i


@program(x=floats(4), y=floats(4))
def bools_as_numbers(x, y):
    for i in x:
        positive = x[i] > 0
        y[i] = x[i] * positive + ti.cast(positive, ti.f32) * x[i] * x[i]
        y[i] += int(positive) + (i == 2) * x[i]


@program(n=ints([0, 0, 0, 0]), x=floats(4), y=floats(4))
def integers_stored(n, x, y):
    for i in x:
        n[i] = int(x[i] * 10) + i
    for i in x:
        y[i] = x[i] * n[i]
        n[i] += 1


@program(x=floats(3, element=(2,)), y=floats(3, element=(2,)))
def vectors(x, y):
    for i in x:
        k = ti.cast(x[i] * 3, ti.i32)
        v = ti.Vector([1, 2])
        y[i] = x[i] * k + v * x[i] + ti.cast(k, ti.f32) + x[i].cast(ti.i32)


@program(x=floats(5, low=-3.0, high=3.0), y=floats(5))
def whole_numbers_of_floats(x, y):
    for i in x:
        y[i] = x[i] // 1.0 * x[i] + x[i] % 1.0 + x[i] * (x[i] // 2)


@program(x=floats(4), y=floats(4))
def literals(x, y):
    for i in x:
        a = 1
        b = 2.0
        c = a / 2
        y[i] = x[i] * a + b * c * x[i] * x[i] + 1e-3 + 3 // 2 + 7 % 4 + 2**3 + a * 2
