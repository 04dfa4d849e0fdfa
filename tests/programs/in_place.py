"""Fields that are updated where they are."""

import taichi as ti

from tests.harness import array, floats, program


@program(x=array([1, 2, 3, 4]), expected={"x": [1, 4, 9, 16]}, gradients={"x": [2, 4, 6, 8]})
def square(x):
    for i in x:
        x[i] = x[i] * x[i]


@program(x=array([1, 2, 3, 4]), expected={"x": [2, 4, 6, 8]}, gradients={"x": [2, 2, 2, 2]})
def double(x):
    for i in x:
        x[i] *= 2


@program(x=array([1, 2]), gradients={"x": [6, 6]})
def twice_then_thrice(x):
    for i in x:
        x[i] = x[i] * 2
        x[i] = x[i] * 3


@program(
    x=array([1, 2, 3]),
    y=array([7, 8, 9]),
    expected={"y": [2, 4, 6]},
    gradients={"x": [2, 2, 2], "y": [0, 0, 0]},
    seeds={"y": 1},
)
def last_store_wins(x, y):
    for i in x:
        y[i] = 5 * x[i]
        y[i] = 2 * x[i]


@program(
    x=array([1, 2, 3]),
    t=floats(3),
    y=floats(3),
    expected={"y": [3, 12, 27]},
    gradients={"x": [6, 12, 18], "t": [0, 0, 0]},
    seeds={"y": 1},
)
def through_scratch(x, t, y):
    for i in x:
        t[i] = x[i] * x[i]
        y[i] = 3 * t[i]


@program(x=floats(5), v=floats(5), k=floats(), h=0.1, launches=7)
def spring(x, v, k, h: float):
    for i in x:
        v[i] -= h * k[None] * x[i] * x[i]
        x[i] += h * v[i]


@program(x=floats(4, low=0.5, high=0.9), launches=200, single=False)
def logistic(x):
    """A chaotic map: 200 launches, each of which needs the values that it overwrites."""
    for i in x:
        x[i] = 3.2 * x[i] * (1 - x[i])


@program(x=floats(4), v=floats(4), launches=200)
def damped(x, v):
    for i in x:
        v[i] = 0.99 * v[i] - 0.1 * x[i] * x[i] * x[i]
        x[i] = x[i] + 0.1 * v[i]


@program(x=floats(6), y=floats(6), launches=3)
def overwritten_after_read(x, y):
    for i in x:
        y[i] = x[i] * x[i]
    for i in x:
        x[i] = y[i] * y[i] + 0.5 * x[i]
    for i in y:
        y[i] = 0


@program(x=floats(5), total=floats(), launches=4)
def read_then_cleared(x, total):
    for i in x:
        total[None] += x[i] * x[i]
    for i in x:
        x[i] = 0.5 * x[i] + 0.1 * total[None] * x[i]
    total[None] = 0.0


@program(x=floats(4, low=0.5, high=1.5), y=floats(4, low=0.5, high=1.5))
def every_operator(x, y):
    for i in x:
        x[i] += y[i]
        x[i] -= 0.25 * y[i] * y[i]
        x[i] *= y[i]
        x[i] /= 1 + y[i] * y[i]
        x[i] **= 2
        x[i] %= 3.0


@program(x=floats(3), y=floats(3))
def swapped(x, y):
    for i in x:
        old = x[i]
        x[i] = y[i] * y[i]
        y[i] = old * old


@program(x=floats(3), y=floats(3), launches=3)
def swapped_as_tuple(x, y):
    for i in x:
        x[i], y[i] = y[i] * x[i], x[i] + y[i]


@program(x=floats(6), launches=2)
def neighbours_in_two_colours(x):
    for k in range(3):
        x[2 * k] = x[2 * k] * x[2 * k + 1]
    for k in range(3):
        x[2 * k + 1] = x[2 * k + 1] + x[2 * k] * x[2 * k]


@program(x=floats(4), y=floats(4), z=floats(4))
def accumulated_then_read(x, y, z):
    for i in x:
        y[i] += x[i] * x[i]
        z[i] = y[i] * y[i]


@program(x=floats(6), y=floats(6), z=floats(6))
def stored_in_a_branch_then_read(x, y, z):
    for i in x:
        if x[i] > 0:
            y[i] = x[i] * x[i]
        z[i] = y[i] * y[i]


@program(x=floats(5), y=floats(5))
def stored_in_both_branches_then_read(x, y):
    for i in x:
        if x[i] > 0:
            x[i] = x[i] * x[i]
        else:
            x[i] = -x[i]
        x[i] = x[i] * y[i]


@program(x=floats(3, 40), y=floats(3))
def updated_along_a_row(x, y):
    for i in range(3):
        s = 1.0
        for j in range(40):
            s = ti.sin(s) * x[i, j]
            x[i, j] = s * x[i, j]
        y[i] = s


@program(x=floats(6))
def linear_recurrence(x):
    ti.loop_config(serialize=True)
    for i in range(1, 6):
        x[i] = x[i] + 0.5 * x[i - 1]


@program(x=floats(3), y=floats(3))
def several_targets(x, y):
    for i in x:
        a = b = x[i] * x[i]
        a += 1
        y[i] = x[i] = a * b


@program(x=floats(4), y=floats(3), n=70)
def element_carried_by_a_long_loop(x, y, n: int):
    for i in y:
        for j in range(n):
            y[i] = ti.sin(y[i]) + x[j % 4]


@program(x=floats(4), y=floats(3))
def element_carried_by_a_loop(x, y):
    for i in y:
        for j in range(4):
            y[i] = y[i] * x[j] + 0.1


@program(a=floats(4, 5), x=floats(5), y=floats(4))
def element_summed_then_used(a, x, y):
    for i in y:
        y[i] = 0
        for j in range(x.shape[0]):
            y[i] += a[i, j] * x[j]
        y[i] = ti.tanh(y[i])


@program(
    x=array([1, 1, 1, 1, 1]),
    expected={"x": [1, 2, 3, 4, 5]},
    gradients={"x": [5, 4, 3, 2, 1]},
)
def prefix_sums(x):
    ti.loop_config(serialize=True)
    for i in range(1, x.shape[0]):
        x[i] += x[i - 1]


@program(x=floats(3, 6))
def prefix_sums_of_rows(x):
    for i in range(3):
        for k in range(2):
            for j in range(1, 6):
                x[i, j] += 0.5 * x[i, j - 1] * j
            for j in range(5):
                x[i, j] -= 0.1 * x[i, j + 1]


@program(y=floats(3, 4), z=floats(3, 4))
def one_element_that_stays_in_a_loop_over_all(y, z):
    for d in range(y.shape[0]):
        for i in range(y.shape[1]):
            s = y[d, 0]
            y[d, 0] = 5.0 + s
            t = y[d, i]
            y[d, i] = t * 2.0
        for i in range(z.shape[1]):
            z[d, 0] += y[d, i]
            z[d, i] += 10.0 * y[d, i]


@program(x=floats(5), y=floats(5), n=8)
def no_further_than_the_field(x, y, n: int):
    """The element is read twice and written in between, where a branch keeps it inside."""
    for i in range(n):
        if i < x.shape[0]:
            x[i] = x[i] * x[i]
            y[i] = x[i] * y[i]


@program(x=floats(5), n=8)
def no_turns_outside_of_the_field(x, n: int):
    """Loops of the iterations outside have no turns."""
    for i in range(n):
        for _ in range(x.shape[0] - i):
            x[i] = 0.5 * x[i] * x[i]


@program(x=floats(5), n=8)
def branches_one_after_the_other(x, n: int):
    """One branch writes an element that another one reads."""
    for i in range(n):
        if i < x.shape[0]:
            x[i] = x[i] * x[i]
        if i < 3:
            x[i] += x[i] * x[i]
