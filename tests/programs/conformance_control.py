"""Control flow with numbers known by hand: loops, branches, jumps, swaps, negative bounds."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, program


@program(
    x=array([1, -2, 3, 0, 0.5, -0.5, 2, -1, 4, -3]),
    y=floats(),
    expected={"y": 36.75},
    gradients={"x": [2, -1, 6, -1, 1, -1, 4, -1, 8, -1]},
    seeds={"y": 1},
)
def derivative_follows_the_branch_taken(x, y):
    s = 0.0
    for i in x:
        if x[i] > 0:
            s += x[i] * x[i]
        else:
            s -= x[i]
    y[None] = s


@program(
    x=array([2, 3]), y=floats(2), n=8, gradients={"x": [1024, 17496]}, seeds={"y": 1}, single=False
)
def power_by_a_while(x, y, n: int):
    for i in x:
        v = 1.0
        k = 0
        while k < n:
            v *= x[i]
            k += 1
        y[i] = v


@program(
    x=array([1, 5, 10]),
    y=floats(3),
    expected={"y": [12, 300, 600]},
    gradients={"x": [12, 120, 120]},
    seeds={"y": 1},
)
def even_terms_up_to_a_limit(x, y):
    for i in x:
        total = 0.0
        for k in range(1, 100):
            if k % 2 == 1:
                continue
            if k > 6 or total > 500:
                break
            total += k * (x[i] * x[i] if x[i] > 2 else x[i])
        y[i] = total


@dt.func
def nested_return(x):
    if x < 0.5:
        return x
    for k in range(4, 0, -1):
        for j in range(3):
            if k * x * x < 13 and j == 1:
                return k * x * x
    return 0


@program(
    x=array([0.1, 1, 2]),
    y=floats(3),
    expected={"y": [0.1, 4, 12]},
    gradients={"x": [1, 8, 12]},
    seeds={"y": 1},
)
def return_from_nested_loops(x, y):
    for i in x:
        y[i] = nested_return(x[i])


@program(
    a=array(1),
    b=array(2),
    y=floats(),
    n=5,
    expected={"y": 2.46534},
    gradients={"a": 0.259073, "b": 2.335806},
    seeds={"y": 1},
)
def swap_of_carried_locals(a, b, y, n: int):
    u, v = a[None], b[None]
    ti.loop_config(serialize=True)
    for _ in range(n):
        u, v = u + 0.1 * v, v - 0.1 * u
    y[None] = u * v


@program(
    x=array([1, 2, 3, 4, 5, 6, 7, 8, 9]),
    y=floats(1),
    r=2,
    gradients={"x": [0, 0, 6, 16, 30, 48, 70, 0, 0]},
    seeds={"y": 1},
)
def loop_from_a_negative_start(x, y, r: int):
    for i in y:
        s = 0.0
        for d in range(-r, r + 1):
            s += (d + 3) * x[4 + d] * x[4 + d]
        y[i] = s


@dt.func
def weighted(x):
    s = ti.Vector([0.0, 0.0, 0.0])
    for k in range(5):
        if x[k] > 2:
            return s
        s += ti.Vector([1.0, x[k], x[k] * x[k]]) * (x[k] * (k + 1))
    return s


@program(x=array([0.1, -0.4, 0.7, 1.2, -0.9]), y=floats(element=(3,)))
def loop_and_vector_return(x, y):
    y[None] = weighted(x)


@program(x=array([1, 2]), y=floats(2), gradients={"x": [0, 2]}, seeds={"y": 1})
def branch_without_a_path(x, y):
    for i in x:
        y[i] = 3.0
        if i == 1:
            y[i] = 2 * x[i]


@program(x=floats(7), b=floats(7), n=3)
def linear_sweeps(x, b, n: int):
    """Gauss-Seidel, and a recurrence that adds to elements it has written."""
    ti.loop_config(serialize=True)
    for _ in range(n):
        for i in range(1, 6):
            x[i] = 0.4 * (x[i - 1] + x[i + 1]) + b[i] * b[i]
        for i in range(1, 7):
            x[i] += 0.3 * x[i - 1]


@program(x=floats(7), b=floats(7))
def recurrence_through_a_local(x, b):
    s = x[0]
    ti.loop_config(serialize=True)
    for i in range(1, x.shape[0]):
        s = ti.sin(s) + b[i]
        x[i] = s


# Sorting: a permutation; equal entries keep their order, so the first of them is the smaller.
@program(
    x=array([[3, 1, 2], [2, 2, 1]], element=(3,)),
    y=floats(2),
    expected={"y": [1 + 20 + 300, 1 + 20 + 200]},
    gradients={"x": [[100, 1, 10], [10, 100, 1]]},
    seeds={"y": 1},
)
def sorted_and_weighed(x, y):
    for i in x:
        v = x[i]
        for end in range(2):
            for k in range(2 - end):
                if v[k] > v[k + 1]:
                    v[k], v[k + 1] = v[k + 1], v[k]
        y[i] = v[0] + 10 * v[1] + 100 * v[2]
