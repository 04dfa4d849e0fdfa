"""Branches and ternaries, and which side the gradient follows."""

import taichi as ti

from tests.harness import array, floats, ints, program


@program(
    x=array([1, -2, 3, 0, 0.5, -0.5, 2, -1, 4, -3]),
    loss=floats(),
    expected={},
    gradients={"x": [2, -1, 6, -1, 1, -1, 4, -1, 8, -1]},
    seeds={"loss": 1},
)
def taken_branch(x, loss):
    for i in x:
        if x[i] > 0:
            loss[None] += x[i] * x[i]
        else:
            loss[None] += -x[i]


@program(
    x=array([1, -2]),
    y=floats(2),
    expected={"y": [3, 7]},
    gradients={"x": [0, 0]},
    seeds={"y": 1},
)
def no_path(x, y):
    for i in x:
        y[i] = 3.0 if x[i] > 0 else 7.0


@program(x=floats(6), y=floats(6))
def elif_chain(x, y):
    for i in x:
        if x[i] > 1:
            y[i] = x[i] * x[i]
        elif x[i] > 0:
            y[i] = ti.sin(x[i]) * y[i]
        elif x[i] > -1:
            y[i] += x[i]
        else:
            y[i] = 0


@program(x=floats(6), y=floats(6))
def locals_joined(x, y):
    for i in x:
        a = 0.0
        b = x[i]
        if x[i] > 0:
            a = b * b
            b = 2 * b
            c = a * b
        else:
            c = -b
        y[i] = a * b + c


@program(x=floats(6), y=floats(6))
def nested_branches(x, y):
    for i in x:
        s = x[i]
        if s > 0:
            if s > 0.7:
                s = s * s
            else:
                t = ti.cos(s)
                s = t * s
            s += 1
        elif i % 2 == 0:
            s = 0.25
        y[i] = s * s


@program(x=floats(6), y=floats(6))
def ternaries(x, y):
    for i in x:
        a = x[i] * x[i] if x[i] > 0 else -x[i]
        b = a if i % 2 else 1.0
        y[i] = (b if a > 0.5 else (a if x[i] > 0 else 2 * a)) * y[i]


@program(
    x=array([-1, 0, 1]),
    y=floats(3),
    expected={"y": [0, 0, 1]},
    gradients={"x": [0, 0, 1]},
    seeds={"y": 1},
    smooth=False,
)
def relu_strict(x, y):
    for i in x:
        y[i] = x[i] if x[i] > 0 else 0.0


@program(
    x=array([-1, 0, 1]),
    y=floats(3),
    gradients={"x": [0, 1, 1]},
    seeds={"y": 1},
    smooth=False,
)
def relu_at_least(x, y):
    for i in x:
        y[i] = x[i] if x[i] >= 0 else 0.0


@program(
    x=array([-1, 0, 2]),
    y=floats(3),
    gradients={"x": [-1, -1, 4]},
    seeds={"y": 1},
    smooth=False,
)
def selected(x, y):
    for i in x:
        y[i] = ti.select(x[i] > 0, x[i] * x[i], -x[i])


@program(x=floats(6), y=floats(6))
def conditions(x, y):
    for i in x:
        if 0 < x[i] < 1 and not y[i] > 0:
            y[i] = x[i] * x[i]
        elif x[i] < -0.5 or (i > 2 and x[i - 1] > 0) or i == 0:
            y[i] *= x[i]
        if i != 3 and i >= 1:
            y[i] -= x[i]


@program(x=floats(5), y=floats(5))
def guarded_index(x, y):
    for i in x:
        if i > 0 and x[i - 1] > -1:
            y[i] = x[i - 1] * x[i]
        s = x[i + 1] if i < 4 else 0.0
        y[i] += s * s


@program(x=floats(6), y=floats(6), n=3)
def condition_on_a_number(x, y, n: int):
    for i in x:
        if n > 2:
            y[i] = x[i] * x[i]
        else:
            y[i] = x[i]
        if n:
            y[i] += x[i]


@program(x=floats(6), y=floats(6), flags=ints([0, 1, 0, 2, -1, 0]))
def condition_on_a_field(x, y, flags):
    for i in x:
        if flags[i]:
            y[i] = x[i] * x[i]


@program(x=floats(6), y=floats(6), flags=ints([0, 1, 0, 0, 1, 0]))
def conditional_stores(x, y, flags):
    for i in x:
        if flags[i] == 1:
            y[i] = x[i] * y[i]
        if flags[i] == 0:
            x[i] = y[i] * y[i]


@program(x=floats(4), y=floats(4))
def empty_sides(x, y):
    for i in x:
        if x[i] > 0:
            pass
        else:
            y[i] = x[i] * x[i]
        if x[i] < 0:
            pass


@program(x=floats(4), y=floats(4), loss=floats())
def branch_around_a_loop(x, y, loss):
    for i in x:
        s = 0.5
        if x[i] > 0:
            for j in range(x.shape[0]):
                s = s * ti.cos(x[j]) + x[i]
        else:
            s = x[i]
        y[i] = s
        loss[None] += s * s


@program(x=floats(3, element=(3,)), y=floats(3, element=(3,)))
def vectors_joined(x, y):
    for i in x:
        v = x[i]
        if v.x > 0:
            v = v * v
        else:
            v.y = v.x * v.z
        w = v if v.y > 0 else 2 * v
        y[i] = w * v


@program(x=floats(4), y=floats(4), on=True)
def condition_on_a_flag(x, y, on):
    for i in x:
        if on:
            y[i] = x[i] * x[i]
        else:
            y[i] = x[i]


@program(x=floats(6), y=floats(6))
def integer_in_one_branch(x, y):
    for i in x:
        s = x[i] * x[i]
        if x[i] > 0:
            s = 2
        y[i] = s * x[i]
