"""Loads, stores, updates and aliases with their expected numbers.

Rows of the conformance table: BA for buffers, MU for mutation.
"""

import taichi as ti

from tests.harness import array, floats, ints, program, same


@program(
    x=array([1, 2, 3, 4]),
    y=floats(4),
    expected={"y": [9, 23, 41, 63]},
    gradients={"x": [12, 16, 20, 24]},
    seeds={"y": 1},
)
def every_form_of_reading(x, y):  # BA4, BA6
    """One gradient, however an element is read."""
    for p in ti.grouped(x):
        i = p[0]
        y[p] = 2.0 * x[p] * x[i] + 8.0 * x[ti.Vector([i])] - 1.0


@program(
    buf=array([3, 5]),
    s=array([1, 2, 3, 4, 5, 6]),
    out=floats(6),
    gradients={"buf": [9, 12], "s": [3, 5, 3, 5, 3, 5]},
    seeds={"out": 1},
)
def loads_of_shared_elements(buf, s, out):  # BA1
    for i in s:
        out[i] = buf[i % 2] * s[i]


@program(
    x=array([1, 5, 7]),
    y=floats(3),
    expected={"y": [2, 10, 14]},
    gradients={"x": [2, 4, 6], "y": [0, 0, 0]},
    seeds={"y": [1, 2, 3]},
)
def stores_take_the_gradient(x, y):  # BA2
    for i in x:
        y[i] = 2 * x[i]


@program(
    x=array(2.7),
    y=floats(),
    expected={"y": 5.4},
    gradients={"x": 2},
    seeds={"y": 1},
    smooth=False,
)
def whole_part_as_a_factor(x, y):  # BA5
    y[None] = x[None] * float(int(x[None]))


@program(
    x=floats(4),
    table=array([[1, 2], [3, 4], [5, 6]]),
    at=ints([2, 0, 2, 1]),
    y=floats(4),
    gradients={"table": [[1, 0], [1, 0], [2, 0]]},
    seeds={"y": 1},
)
def looked_up_values_have_gradients_and_indices_none(x, table, at, y):  # BA5
    for i in at:
        y[i] = table[at[i], 0] + x[int(x[i]) * 0]


@program(w=array([3]), y=floats(4), gradients={"w": [60]}, seeds={"y": 1})
def read_by_every_iteration(w, y):  # BA7
    for i in y:
        y[i] = w[0] * w[0] * (i + 1)


@program(
    x=array([1, 2, 3, 4]),
    expected={"x": [2, 4, 6, 8]},
    gradients={"x": [2, 2, 2, 2]},
)
def scaled_in_place(x):  # MU1
    for i in x:
        x[i] = x[i] * 2


@program(
    x=array([1, 2, 3, 4, -2, 0]),
    expected={"x": [1, 4, 9, 16, 4, 0]},
    gradients={"x": [2, 4, 6, 8, -4, 0]},
)
def squared_in_place(x):  # MU2
    for i in x:
        x[i] = x[i] * x[i]


@program(
    x=array([1, 2]),
    v=array([3, -1]),
    r=floats(2),
    expected={"x": [6, 12], "r": [6, -2]},
    gradients={"x": [6, 6], "v": [2, 2], "r": [0, 0]},
)
def the_last_store_wins(x, v, r):  # MU4, MU5
    for i in x:
        x[i] = x[i] * 2
        x[i] = x[i] * 3
        r[i] = 5 * v[i]
        r[i] = 2 * v[i]


@program(
    x=array([1, -2, 3]),
    t=floats(3),
    y=floats(3),
    expected={"t": [1, 4, 9], "y": [3, 12, 27]},
    gradients={"x": [6, -12, 18], "t": [0, 0, 0]},
    seeds={"y": 1},
)
def through_a_scratch_field(x, t, y):  # MU6
    for i in x:
        t[i] = x[i] * x[i]
        y[i] = 3 * t[i]


@program(
    x=array([[1, 2, 3], [4, 5, 6]], element=(3,)),
    v=array([[1, 2, 3, 4]], element=(4,)),
    k=1,
    s=floats(2),
    p=floats(1),
    expected={"s": [7, 19], "p": [14]},
    gradients={"x": [[2, 1, 1], [2, 1, 1]], "v": [[1, 3, 3, 1]]},
    seeds={"s": 1, "p": 1},
)
def local_vectors_that_change(x, v, k: int, s, p):  # MU7, MU8
    for i in x:
        y = x[i]
        y[0] *= 2
        s[i] = y.sum()
    for i in v:
        y = v[i]
        y[k] = y[k] * y[k + 1]
        p[i] = y.sum()


@program(
    x=array([1, 2, 3]),
    expected={"x": [3, 12, 27]},
    gradients={"x": [6, 12, 18]},
)
def another_name_for_a_field(x):  # MU9
    """`y = x` is another name: a store through it is a store in the field."""
    y = x
    for i in x:
        y[i] = x[i] * x[i]
        x[i] = 3 * y[i]


@program(
    s=array([[5, 7], [1, 3]], element=(2,)),
    expected={"s": [[7, 7], [3, 3]]},
    gradients={"s": [[0, 2], [0, 2]]},
)
def one_component_from_another(s):  # MU11
    for i in s:
        s[i].x = s[i].y


@program(
    x=array([1, 2, 3]),
    y=same("x"),
    z=floats(3),
    gradients={"x": [2, 4, 6]},
    seeds={"z": 1},
)
def one_field_as_two_arguments(x, y, z):  # BA9
    for i in x:
        z[i] = x[i] * y[i]


@program(
    x=array([8, -7, 2.5, 5]),
    n=ints([7, -7, 7, 9]),
    v=array([[2, 3], [4, 5]], element=(2,)),
    expected={
        "x": [1, 0, 0.25, 25],
        "n": [3, -4, 1, 81],
        "v": [[1, 9], [2, 25]],
    },
    smooth=False,
)
def every_way_to_update(x, n, v):
    x[0] -= 1
    x[0] *= 4
    x[0] /= 28
    x[1] //= 2
    x[1] += 4
    x[2] %= 0.75
    x[3] **= 2
    n[0] //= 2
    n[1] //= 2
    n[2] %= 2
    n[3] **= 2
    for i in v:
        v[i].x /= 2
        v[i][1] **= 2


@program(x=floats(5, low=0.5, high=1.5), v=floats(5, element=(3,)), m=floats(2, element=(2, 2)))
def updates_of_elements_and_components(x, v, m):
    for i in x:
        x[i] += x[i] * x[i]
        x[i] *= v[i].y
        x[i] /= 1.5 + x[i] * x[i]
        v[i] -= v[i] * x[i]
        v[i].z *= v[i].x
        v[i][0] /= 2.0 + v[i].y * v[i].y
        v[i].xy += v[i].yz
    for i in m:
        m[i][0, 1] **= 2
        m[i] *= m[i][1, 0]


@program(x=floats(5), y=floats(5), t=floats(5), total=floats(2), launches=2)
def stores_over_stores(x, y, t, total):
    """An element is stored, read, stored again, cleared and summed, in and out of branches."""
    for i in x:
        t[i] = 0.0
        t[i] = x[i] * y[i]
        if x[i] > 0:
            t[i] = ti.sin(t[i]) + x[i]
            y[i] = t[i]
        y[i] = y[i] * t[i]
        t[i] *= t[i]
        total[0] += t[i]
        t[i] = 0.5 * y[i]
    for i in x:
        x[i] = t[i] + y[i]
    total[1] = total[0] * total[0]
    total[0] = 0.0
