"""Funcs: keywords, defaults, several results, early returns, functions as arguments."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, program


@dt.func
def polynomial(a, b, c, x):
    return a * x * x + b * x + c


@dt.func
def scaled(x, factor=2.0, *, offset=0.5):
    return x * factor + offset


@dt.func
def sin_and_cos(x):
    return ti.sin(x), ti.cos(x)


@dt.func
def smoothstep(x):
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    return x * x * (3 - 2 * x)


@dt.func
def early(x):
    if x > 1:
        return x * x
    elif x > 0:
        y = ti.exp(x)
        if y > 2:
            return y
    return 0.5 * x


@dt.func
def twice(f, x):
    return f(f(x))


@dt.func
def squared(x):
    return x * x


@dt.func
def element_of(x, i):
    return x[i] * x[i]


@dt.func
def accumulated(y, i, value):
    y[i] += value
    return value * value


@dt.func
def stored(y, i, value):
    y[i] = value


@dt.func
def summed(x, n):
    s = 0.0
    for j in range(n):
        s += x[j] * s + 0.1
    return s


@dt.func
def rotated(v, angle):
    s, c = sin_and_cos(angle)
    return ti.Matrix([[c, -s], [s, c]]) @ v


@dt.func
def reassigned(x):
    x = x * x
    x += 1
    return x


@program(
    x=array([1, 2, 3, 4]),
    y=floats(4),
    expected={"y": [9, 23, 41, 63]},
    gradients={"x": [12, 16, 20, 24]},
    seeds={"y": 1},
)
def by_keyword(x, y):
    for i in x:
        y[i] = polynomial(a=2, x=x[i], c=-1, b=8)


@program(
    x=array([1, 2, 3, 4]),
    a=2.0,
    b=8.0,
    c=-1.0,
    y=floats(4),
    expected={"y": [9, 23, 41, 63]},
    gradients={"x": [12, 16, 20, 24]},
    seeds={"y": 1},
)
def of_numbers(x, a: float, b: float, c: float, y):
    for i in x:
        y[i] = polynomial(a, b, c, x[i])


@program(x=floats(4), a=floats(), y=floats(4))
def of_fields(x, a, y):
    for i in x:
        y[i] = polynomial(a[None], x[i], a[None], x[i])


@program(x=floats(4), y=floats(4))
def defaults(x, y):
    for i in x:
        y[i] = (
            scaled(x[i]) * scaled(x[i], 3.0)
            + scaled(x[i], offset=x[i])
            + scaled(factor=x[i], x=2, offset=1)
        )


@program(x=floats(4), y=floats(4))
def several_results(x, y):
    for i in x:
        s, c = sin_and_cos(x[i])
        both = sin_and_cos(s)
        y[i] = s * c + both[0] * both[1]


@program(x=floats(4), y=floats(4))
def functions_as_arguments(x, y):
    for i in x:
        y[i] = twice(squared, x[i]) + twice(scaled, x[i])


@program(x=floats(4), y=floats(4), f=squared)
def function_given_to_the_kernel(x, y, f):
    for i in x:
        y[i] = f(x[i]) * x[i]


@program(x=floats(4), y=floats(4))
def of_whole_fields(x, y):
    for i in x:
        y[i] = element_of(x, i) + summed(x, 4)


@program(x=floats(4), y=floats(4))
def with_effects(x, y):
    for i in x:
        a = accumulated(y, i, x[i] * x[i])
        stored(x, i, a * x[i])


@program(x=floats(3), v=floats(3, element=(2,)))
def nested_calls(x, v):
    for i in x:
        v[i] = rotated(rotated(v[i], x[i]), squared(x[i]))


@program(x=floats(3), y=floats(3))
def parameters_are_local(x, y):
    for i in x:
        a = x[i]
        b = reassigned(a)
        y[i] = a * b


@program(
    x=array([-0.5, 0, 0.25, 0.5, 1, 1.5]),
    y=floats(6),
    expected={"y": [0, 0, 0.15625, 0.5, 1, 1]},
    gradients={"x": [0, 0, 1.125, 1.5, 0, 0]},
    seeds={"y": 1},
    smooth=False,
)
def early_returns(x, y):
    for i in x:
        y[i] = smoothstep(x[i])


@program(x=array([2, 0.2, 0.9, -1]), y=floats(4))
def early_returns_in_branches(x, y):
    for i in x:
        y[i] = early(x[i]) * early(0.5 * x[i])


@program(x=floats(3), y=floats(3), n=40)
def in_a_loop(x, y, n: int):
    for i in x:
        s = x[i]
        for _ in range(n):
            s = early(0.9 * s) * 0.5 + 0.2
        y[i] = s


@ti.func
def raised(a, n: ti.template()):
    if ti.static(n == 0):
        return 1.0
    elif ti.static(n % 2 == 1):
        return a * raised(a, n - 1)
    else:
        half = raised(a, n // 2)
        return half * half


@dt.func
def tree_sum(x, low: ti.template(), high: ti.template()):
    """Add up elements pair by pair."""
    if low == high:
        return ti.sin(x[low])
    middle = ti.static((low + high) // 2)
    return tree_sum(x, low, middle) + tree_sum(x, middle + 1, high)


@dt.func
def descend(x, total: ti.template(), i, depth: ti.template()):
    """Change the caller's local on the way down, through another func and a loop."""
    if ti.static(depth > 0):
        for k in range(2):
            total += x[(i + k) % 5] * total
            lower(x, total, i + k, depth - 1)


@dt.func
def lower(x, total: ti.template(), i, depth: ti.template()):
    total *= 0.9
    descend(x, total, i, depth)


@program(x=floats(5), y=floats(5))
def recursion_that_ends_while_compiling(x, y):
    for i in x:
        t = 1.0
        descend(x, t, i, 2)
        y[i] = raised(x[i], 5) + tree_sum(x, 0, 4) * x[i] + t
