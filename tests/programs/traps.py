"""Values that would poison a gradient if the side that was not taken took part in it."""

import math

import taichi as ti

from tests.harness import array, floats, program


@program(
    x=array([-1, 0, 2]),
    y=floats(3),
    expected={"y": [0, 0, math.log(2)]},
    gradients={"x": [0, 0, 0.5]},
    seeds={"y": 1},
)
def log_in_select(x, y):
    for i in x:
        y[i] = ti.select(x[i] > 0, ti.log(x[i]), 0.0)


@program(
    x=array([-1, 0, 2]),
    y=floats(3),
    expected={"y": [0, 0, math.log(2)]},
    gradients={"x": [0, 0, 0.5]},
    seeds={"y": 1},
)
def log_in_ternary(x, y):
    for i in x:
        y[i] = ti.log(x[i]) if x[i] > 0 else 0.0


@program(
    x=array([-1, 0, 2]),
    y=floats(3),
    expected={"y": [0, 0, math.log(2)]},
    gradients={"x": [0, 0, 0.5]},
    seeds={"y": 1},
)
def log_computed_before(x, y):
    for i in x:
        a = ti.log(x[i])
        y[i] = a if x[i] > 0 else 0.0


@program(
    x=array([-1, 0, 2]),
    y=floats(3),
    expected={"y": [0, 0, math.log(2)]},
    gradients={"x": [0, 0, 0.5]},
    seeds={"y": 1},
)
def log_in_branch(x, y):
    for i in x:
        a = ti.log(x[i])
        s = 0.0
        if x[i] > 0:
            s = a
        y[i] = s


@program(
    x=array([-1, 0, 4]),
    y=floats(3),
    expected={"y": [0, 0, 2]},
    gradients={"x": [0, 0, 0.25]},
    seeds={"y": 1},
)
def root_computed_before(x, y):
    for i in x:
        a = ti.sqrt(x[i])
        y[i] = ti.select(x[i] > 0, a, 0.0)


@program(
    x=array([0, 0, 4]),
    y=array([1, 0, 2]),
    z=floats(3),
    expected={"z": [0, 0, 0.5]},
    gradients={"x": [0, 0, -0.125], "y": [0, 0, 0.25]},
    seeds={"z": 1},
)
def division_computed_before(x, y, z):
    for i in x:
        q = y[i] / x[i]
        z[i] = q if x[i] != 0 else 0


@program(
    x=array([-1, 0, 4]),
    y=floats(3),
    gradients={"x": [0, 0, 0.03125]},
    seeds={"y": 1},
)
def chain_computed_before(x, y):
    for i in x:
        a = ti.sqrt(x[i])
        b = ti.log(a * a)
        c = ti.rsqrt(x[i]) * b + ti.pow(x[i], 0.5) * 0
        y[i] = ti.select(x[i] > 0, b / 8 + 0 * c, 0.0)


@program(
    x=array([[0, 0, 0], [3, 0, 4]], (3,)),
    y=floats(2),
    expected={"y": [0, 5.2]},
    gradients={"x": [[0, 0, 0], [0.576, 0, 0.818]]},
    seeds={"y": 1},
)
def length_guarded(x, y):
    for i in x:
        n = x[i].norm()
        unit = x[i] / n
        y[i] = n + unit.z * 0.25 if n > 0 else 0.0


@program(
    x=array([0, 4]),
    y=floats(2),
    expected={"y": [0, 2]},
    gradients={"x": [0, 0.25]},
    seeds={"y": 1},
    smooth=False,
)
def root_at_zero(x, y):
    for i in x:
        y[i] = ti.sqrt(x[i])


@program(
    a=array([0, 3]),
    b=array([0, 4]),
    y=floats(2),
    expected={"y": [0, 5]},
    gradients={"a": [0, 0.6], "b": [0, 0.8]},
    seeds={"y": 1},
    smooth=False,
)
def root_of_squares_at_zero(a, b, y):
    for i in a:
        y[i] = ti.sqrt(a[i] * a[i] + b[i] * b[i])


@program(
    a=array([[1, 2, 3], [1, 2, 3]], (3,)),
    b=array([[1, 2, 3], [1, 0, 3]], (3,)),
    y=floats(2),
    expected={"y": [0, 2]},
    gradients={"a": [[0, 0, 0], [0, 1, 0]], "b": [[0, 0, 0], [0, -1, 0]]},
    seeds={"y": 1},
    smooth=False,
)
def distance_of_equal_points(a, b, y):
    for i in a:
        y[i] = ti.math.distance(a[i], b[i])


@program(
    a=array([1e-20]),
    b=array([1e-20]),
    y=floats(1),
    expected={"y": [1]},
    gradients={"a": [1e20], "b": [-1e20]},
    seeds={"y": 1},
    smooth=False,
    single=False,
)
def quotient_of_tiny_numbers(a, b, y):
    for i in a:
        y[i] = a[i] / b[i]


@program(
    a=array([0, -2, 0, 0, 2, -1]),
    b=array([1, 2, 2, 0, 3, 0]),
    y=floats(6),
    expected={"y": [0, 4, 0, 1, 8, 1]},
    gradients={"a": [1, -4, 0, 0, 12, 0], "b": [0, 0, 0, 0, 8 * math.log(2), 0]},
    seeds={"y": 1},
    smooth=False,
)
def power_at_zero_and_below(a, b, y):
    for i in a:
        y[i] = ti.pow(a[i], b[i])


@program(
    a=array([7, -7]),
    b=array([3, 3]),
    y=floats(2),
    expected={"y": [1, 2]},
    gradients={"a": [1, 1], "b": [-2, 3]},
    seeds={"y": 1},
)
def remainder(a, b, y):
    for i in a:
        y[i] = a[i] % b[i]


@program(
    x=array([float("nan"), 2]),
    y=floats(2),
    expected={"y": [0, 2]},
    gradients={"x": [0, 1]},
    seeds={"y": 1},
    smooth=False,
)
def nan_replaced(x, y):
    for i in x:
        y[i] = 0.0 if ti.math.isnan(x[i]) else x[i]


@program(
    x=array([0, 4]),
    y=floats(2),
    expected={"y": [0, 1]},
    gradients={"x": [0, 0]},
    seeds={"y": 1},
)
def product_in_select(x, y):
    for i in x:
        inverse = 1 / x[i]
        one = x[i] * inverse
        y[i] = ti.select(x[i] != 0, one, 0.0)


@program(
    x=array([-1, 4]),
    k=array([3, 3]),
    y=floats(2),
    expected={"y": [0, 6]},
    gradients={"x": [0, 0.75], "k": [0, 2]},
    seeds={"y": 1},
)
def root_of_a_negative_in_select(x, k, y):
    for i in x:
        y[i] = ti.select(x[i] > 0, ti.sqrt(x[i]) * k[i], 0.0)


@program(
    x=array([0, 4]),
    y=floats(2),
    expected={"y": [0, 1]},
    gradients={"x": [0, 0]},
    seeds={"y": 1},
)
def product_in_branch(x, y):
    for i in x:
        inverse = 1 / x[i]
        one = x[i] * inverse
        s = 0.0
        if x[i] != 0:
            s = one
        y[i] = s


@program(
    x=array([[0, 0, 0], [3, 0, 4]], (3,)),
    w=array([[1, 2, 3], [1, 2, 3]], (3,)),
    y=floats(2),
    expected={"y": [0, 3]},
    gradients={"w": [[0, 0, 0], [0.6, 0, 0.8]]},
    seeds={"y": 1},
    smooth=False,
)
def projection_computed_before(x, w, y):
    for i in x:
        n = x[i].norm()
        unit = x[i] / n
        along = unit.dot(w[i])
        y[i] = along if n > 0 else 0.0


@program(
    x=array([1000, 0, -1000]),
    y=floats(3),
    expected={"y": [1000, math.log(2), 0]},
    gradients={"x": [1, 0.5, 0]},
    seeds={"y": 1},
)
def softplus(x, y):
    for i in x:
        small = ti.log(1 + ti.exp(x[i]))
        y[i] = x[i] if x[i] > 20 else small


@program(
    x=array([0, 2]),
    m=array([[[0, 0], [0, 0]], [[2, 0], [0, 4]]], (2, 2)),
    y=floats(2),
    expected={"y": [0, 0.75]},
    gradients={"m": [[[0, 0], [0, 0]], [[-0.25, 0], [0, -0.0625]]]},
    seeds={"y": 1},
)
def inverse_guarded(x, m, y):
    for i in x:
        inverse = m[i].inverse()
        trace = inverse.trace()
        y[i] = trace if x[i] > 0 else 0.0


@program(v=floats(4, element=(3,)), w=floats(4, element=(3,)), y=floats(4))
def component_of_a_masked_cross(v, w, y):
    for i in y:
        c = v[i].cross(w[i] / (1 + w[i] * w[i]))[2]
        y[i] = ti.abs(c)


@program(m=floats(3, element=(2, 2)), v=floats(3, element=(2,)), y=floats(3))
def component_of_a_masked_product(m, v, y):
    for i in y:
        c = (m[i] @ (v[i] / (1 + v[i] * v[i])))[0]
        y[i] = ti.max(c, 0.1) + ti.abs((m[i].inverse() @ m[i].transpose())[0, 1])
