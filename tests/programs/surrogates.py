"""Functions with a chosen derivative: the numbers are known, as are their parts."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, program

TABLE = array([0, 1, 4, 9])


@program(
    x=array([1.7, -0.3, 2.0]),
    y=floats(3),
    expected={"y": [2, 2, 8]},
    gradients={"x": [4, -4, 8]},
    seeds={"y": 1},
    smooth=False,
)
def straight_through_a_floor(x, y):  # SU1
    for i in x:
        y[i] = 2 * dt.straight_through(ti.floor, x[i]) ** 2


@program(
    x=array([1.7, -0.3, 2.0]),
    y=floats(3),
    gradients={"x": [1, -1, 2]},
    seeds={"y": 1},
    smooth=False,
)
def floors_that_are_constant(x, y):  # SU2
    for i in x:
        y[i] = x[i] * dt.stop_grad(ti.floor(x[i]))


@dt.func
def hard_step(x):
    return 1.0 if x > 0.5 else 0.0


@dt.func
def soft_step(x):
    return dt.sigmoid(10 * (x - 0.5))


step = dt.surrogate(hard=hard_step, soft=soft_step)
rounded = dt.surrogate(hard=ti.round, soft=soft_step)


@program(
    x=array([0.5, 1.5]),
    y=floats(2),
    expected={"y": [1, 3]},
    gradients={"x": [5.0, 20 * 4.5395807735e-5]},
    seeds={"y": 1},
    smooth=False,
)
def steps_with_a_soft_slope(x, y):  # SU4
    for i in x:
        y[i] = step(x[i]) + rounded(x[i])


@program(
    table=TABLE,
    x=array([1.3, -1.0, 2.6, 3.0]),
    y=floats(4),
    expected={"y": [1, 0, 9, 9]},
    gradients={"x": [3, 0, 5, 0], "table": [1, 1, 0, 2]},
    seeds={"y": 1},
    smooth=False,
)
def entries_of_a_table(table, x, y):  # SU5
    for i in x:
        y[i] = dt.lookup(table, x[i], surrogate="linear")


@program(
    table=TABLE,
    x=array([1.3, 2.6]),
    y=floats(2),
    gradients={"x": [0, 0], "table": [0, 1, 0, 1]},
    seeds={"y": 1},
    smooth=False,
)
def entries_at_fixed_positions(table, x, y):
    for i in x:
        y[i] = dt.lookup(table, x[i], "none")


@program(
    x=array([0.0, 1.0, -1.0]),
    y=floats(3),
    expected={"y": [1 + 1, 2 + 2, 1 + 1]},
    gradients={"x": [5, 2 * 4.5395807735e-4, 2 * 4.5395807735e-4]},
    seeds={"y": 1},
    smooth=False,
)
def branches_with_a_soft_edge(x, y):  # SU6
    for i in x:
        y[i] = dt.surrogate_if(x[i] > 0, 2.0, 1.0, k=10)
        y[i] += dt.surrogate_if(0.0 >= x[i], 1.0, 2.0)


@program(
    x=array([0.0, 0.3]),
    y=floats(2, 4),
    gradients={"x": [2.5 - 5.0 + 7.5 - 10.0, -20.0 * 0.04517665973]},
    seeds={"y": 1},
    smooth=False,
)
def soft_edges_of_all_comparisons(x, y):
    for i in x:
        y[i, 0] = dt.surrogate_if(x[i] > 0, 2.0, 1.0, k=10)
        y[i, 1] = dt.surrogate_if(x[i] < 0, 3.0, 1.0, k=10)
        y[i, 2] = dt.surrogate_if(x[i] >= 0, 4.0, 1.0, k=10)
        y[i, 3] = dt.surrogate_if(x[i] <= 0, 5.0, 1.0, k=10)


differenced = dt.finite_difference(ti.sin, eps=1e-3)


@dt.func
def product(v, s):
    return v * s * v.x


by_default = dt.finite_difference(product)


@program(
    x=array([0, 0.5, 1, 2, 20, 100]),
    y=floats(6),
    gradients={"x": [2.9999995, 2.63274725, 1.62090665, -1.24843968, 1.22416457, 2.58264718]},
    seeds={"y": 1},
    smooth=False,
    single=False,
)
def slopes_by_differences(x, y):  # FD1
    for i in x:
        y[i] = 3 * differenced(x[i])


@program(
    v=array([[1, 2], [3, -1]], element=(2,)),
    s=array([2, 3]),
    y=floats(2, element=(2,)),
    gradients={"v": [[8, 2], [15, 9]], "s": [3, 6]},
    seeds={"y": 1},
    smooth=False,
    single=False,
)
def vectors_by_differences(v, s, y):
    for i in v:
        y[i] = by_default(v[i], s[i])


@dt.func
def inner(x):
    return x**3 + 1


@dt.func
def outer(x):
    return dt.clip_grad(inner(x), 1.0)


@program(
    x=array([2.0]),
    y=floats(1),
    expected={"y": [10 * 9 + 2]},
    gradients={"x": [12 - 0.5]},
    seeds={"y": 1},
    smooth=False,
)
def gradients_clipped_and_scaled(x, y):  # NS2
    for i in x:
        y[i] = 10 * outer(x[i]) + dt.scale_grad(x[i], -0.5)


@program(
    x=array([1.5, -0.5]),
    y=floats(2),
    expected={"y": [1, -1]},
    gradients={"x": [1, 1]},
    seeds={"y": 1},
    smooth=False,
)
def detached_differences(x, y):  # SU3
    for i in x:
        y[i] = x[i] + dt.stop_grad(ti.floor(x[i]) - x[i])
