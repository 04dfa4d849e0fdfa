"""`while`, `break` and `continue`."""

import taichi as ti

from tests.harness import array, floats, ints, program


@program(
    x=array([1, 3, 100, 50]),
    y=floats(4),
    expected={"y": [128, 192, 100, 100]},
    gradients={"x": [128, 64, 1, 2]},
    seeds={"y": 1},
)
def doubled_until_large(x, y):
    for i in x:
        v = x[i]
        while v < 100:
            v *= 2
        y[i] = v


@program(
    x=array([4, 1, 0.3]),
    s=floats(3),
    expected={"s": [21, 1, 0]},
    gradients={"x": [10.5, 2, 0]},
    seeds={"s": 1},
)
def squares_while_halving(x, s):
    for i in x:
        t = x[i]
        total = 0.0
        while t > 0.5:
            total += t * t
            t *= 0.5
        s[i] = total


@program(
    x=array([1, 5, 10]),
    y=floats(3),
    expected={"y": [12, 12 * 25, 2 * 1000]},
    gradients={"x": [24, 120, 600]},
    seeds={"y": 1},
)
def break_and_continue(x, y):
    for i in x:
        total = 0.0
        for k in range(1, 100):
            if k % 2 == 1:
                continue
            if k > 6:
                break
            if total > 500:
                break
            total += k * x[i] * x[i] if x[i] < 8 else 0.5 * k * x[i] * x[i] * x[i]
        y[i] = total if total < 500 else 2 * x[i] * x[i] * x[i]


@program(x=floats(4, low=0.1, high=0.9), y=floats(4), n=40)
def nonlinear_with_break(x, y, n: int):
    for i in x:
        s = 1.0
        for j in range(n):
            s = s * (1 + 0.2 * x[i]) + 0.01 * j
            if s > 4:
                break
        y[i] = s * s


@program(x=floats(3, low=0.2, high=0.8), y=floats(3))
def endless_loop_with_break(x, y):
    for i in x:
        v = x[i]
        k = 0
        while True:
            v = ti.sin(v) + 0.1 * v * v
            k += 1
            if k >= 37 or v < 0.05:
                break
        y[i] = v


@program(x=floats(5), y=floats(5))
def continue_in_a_parallel_loop(x, y):
    for i in x:
        if x[i] < 0:
            continue
        y[i] = x[i] * x[i]


@program(start=ints([0, 2, 4, 6]), x=floats(6), y=floats(3))
def while_over_a_list(start, x, y):
    for i in y:
        j = start[i]
        total = 1.0
        while j < start[i + 1]:
            total *= x[j]
            j += 1
        y[i] = total


@program(x=floats(3, low=0.3, high=0.7), y=floats(3))
def nested_jumps(x, y):
    for i in x:
        total = 0.0
        for a in range(6):
            v = x[i] + 0.1 * a
            while v < 3:
                v = v * 1.3 + 0.05 * v * v
                if v > 2.5 - 0.2 * a:
                    break
            if a == 2:
                continue
            if v > 2.6:
                break
            total += v * v
        y[i] = total


@program(x=floats(4), y=floats())
def search_in_series(x, y):
    found = 0
    k = 0
    while k < x.shape[0]:
        if x[k] > 0 and found == 0:
            found = k
        k += 1
    y[None] = x[found] * x[found]


@program(x=floats(3, low=0.5, high=1.5), y=floats(3), n=5)
def carried_and_left_as_it_was(x, y, n: int):
    """A local that a branch would change, whose branch is folded away, goes through the loop."""
    for i in x:
        a, k, s = x[i] * x[i], 3, 1.0
        for t in range(n):
            k += 2
            if ti.static(False):
                a = 0.0
            s = s * a + 0.01 * k
        while k > 0:
            k -= 3
            if ti.static(False):
                a = 0.0
            s += 0.1 * a * k * s
        y[i] = a * s


@program(x=floats(3, element=(4,)), k=ints([7, -1, 2]), y=floats(3))
def a_component_only_where_there_is_one(x, k, y):
    for i in x:
        v = x[i]
        j = k[i]
        if 0 <= j and j < 4 and v[j] < 2.0:
            y[i] = v[j] * v[j]
        else:
            y[i] = v[j] if j == 2 else v[1]
