"""The documented values of derivatives at kinks (docs/kinks.md), through whole kernels."""

import taichi as ti

from tests.harness import array, floats, program


@program(
    a=array([1, 3, 2]),
    b=array([2, 2, 2]),
    y=floats(3),
    z=floats(3),
    gradients={"a": [1, 1, 1], "b": [1, 1, 1]},
    seeds={"y": 1, "z": 1},
    smooth=False,
)
def larger_and_smaller(a, b, y, z):
    for i in a:
        y[i] = ti.max(a[i], b[i])
        z[i] = min(a[i], b[i])


@program(
    x=array([-1, 0, 1]),
    y=floats(3),
    z=floats(3),
    gradients={"x": [0, 1, 2]},
    seeds={"y": 1, "z": 1},
    smooth=False,
)
def relu_of_max(x, y, z):
    for i in x:
        y[i] = ti.max(x[i], 0)
        z[i] = ti.max(0.0, x[i])


@program(
    x=array([-1, 0, 2]),
    y=floats(3),
    z=floats(3),
    gradients={"x": [1, 1, 1.5]},
    seeds={"y": 1, "z": 1},
    smooth=False,
)
def max_of_itself(x, y, z):
    for i in x:
        y[i] = ti.max(x[i], x[i])
        z[i] = ti.max(ti.max(x[i], 1), 2)


@program(
    x=array([-2, 0, -0.0, 2]),
    y=floats(4),
    expected={"y": [2, 0, 0, 2]},
    gradients={"x": [-1, 0, 0, 1]},
    seeds={"y": 1},
    smooth=False,
)
def absolute(x, y):
    for i in x:
        y[i] = abs(x[i])


@program(
    x=array([-1, 0, 0.5, 1, 2]),
    low=array([0, 0, 0, 0, 0]),
    high=array([1, 1, 1, 1, 1]),
    y=floats(5),
    expected={"y": [0, 0, 0.5, 1, 1]},
    gradients={"x": [0, 1, 1, 1, 0], "low": [1, 0, 0, 0, 0], "high": [0, 0, 0, 0, 1]},
    seeds={"y": 1},
    smooth=False,
)
def clamped(x, low, high, y):
    for i in x:
        y[i] = ti.math.clamp(x[i], low[i], high[i])


@program(
    x=array([-1.5, 0, 0.5, 1, 2.5]),
    y=floats(5, element=(4,)),
    z=floats(5),
    expected={
        "y": [[-2, -1, -2, -1], [0, 0, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1], [2, 3, 3, 1]],
        "z": [0, 0, 1, 1, 1],
    },
    gradients={"x": [0, 0, 0, 0, 0]},
    seeds={"y": 1, "z": 1},
    smooth=False,
)
def steps_are_flat(x, y, z):
    for i in x:
        y[i] = ti.Vector([ti.floor(x[i]), ti.ceil(x[i]), ti.round(x[i]), ti.math.sign(x[i])])
        z[i] = ti.math.step(0.5, x[i])


@program(
    x=array([-1, 0, 0.25, 1, 2]),
    y=floats(5),
    expected={"y": [0, 0, 0.25, 0, 0]},
    gradients={"x": [1, 1, 1, 1, 1]},
    seeds={"y": 1},
    smooth=False,
)
def fraction(x, y):
    for i in x:
        y[i] = ti.math.fract(x[i])


@program(
    x=array([[1, 2, 3]], (3,)),
    z=array([[3, 2, 1]], (3,)),
    y=floats(1, element=(3,)),
    gradients={"x": [[0, 0.5, 1]], "z": [[1, 0.5, 0]]},
    seeds={"y": 1},
    smooth=False,
)
def max_by_component(x, z, y):
    for i in x:
        y[i] = ti.max(x[i], z[i])


@program(
    a=array([2, 1]),
    b=array([6, 1]),
    t=array([0.25, 0.5]),
    y=floats(2),
    expected={"y": [3, 1]},
    gradients={"a": [0.75, 0.5], "b": [0.25, 0.5], "t": [4, 0]},
    seeds={"y": 1},
)
def mixed(a, b, t, y):
    for i in a:
        y[i] = ti.math.mix(a[i], b[i], t[i])


@program(
    a=array([1, 2]),
    b=array([1, 3]),
    y=floats(2),
    z=floats(2),
    gradients={"a": [0.5 + 1, 12 + 3 / 13], "b": [-0.5, 5.545177 - 2 / 13]},
    seeds={"y": 1, "z": 1},
)
def angle_and_power(a, b, y, z):
    for i in a:
        y[i] = ti.atan2(a[i], b[i])
        z[i] = a[i] ** b[i]
