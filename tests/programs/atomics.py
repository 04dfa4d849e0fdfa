"""Atomic operations: on owned elements, on shared ones, and their returned values."""

import taichi as ti

from tests.harness import array, floats, ints, program


@program(
    x=array([1, 5, 2, 5, 3]),
    m=array(0),
    expected={"m": 5},
    gradients={"x": [0, 0.5, 0, 0.5, 0], "m": 0},
    seeds={"m": 1},
    smooth=False,
)
def ties_of_a_maximum_share(x, m):
    for i in x:
        ti.atomic_max(m[None], x[i])


@program(
    x=array([1, -2, 4, -2]),
    low=array([-2, 9]),
    high=array([7, 9]),
    expected={"low": [-2, -3], "high": [7, 8]},
    gradients={"x": [0, 1 / 3, 1, 1 / 3], "low": [1 / 3, 0], "high": [1, 0]},
    smooth=False,
)
def what_was_there_is_a_contender(x, low, high):
    high[1] = 0.0
    for i in x:
        ti.atomic_min(low[0], x[i])
        ti.atomic_max(high[0], ti.abs(x[i]))
        ti.atomic_min(low[1], -x[i] + 1.0)
        ti.atomic_max(high[1], x[i] * 2.0)


@program(x=floats(9), group=ints([2, 0, 1, 1, 0, 2, 2, 1, 0]), m=floats(3), y=floats(9), launches=2)
def maxima_of_groups(x, group, m, y):
    for i in x:
        ti.atomic_max(m[group[i]], x[i])
    for i in x:
        y[i] = ti.exp(x[i] - m[group[i]])


@program(x=floats(6, 5), m=floats(6), top=floats(), loss=floats())
def maxima_along_rows(x, m, top, loss):
    """The rows are owned, the last maximum is shared, and the sum reads it."""
    for i in m:
        m[i] = -10.0
        for j in range(5):
            ti.atomic_max(m[i], x[i, j])
    for i in m:
        if m[i] > -5.0:
            ti.atomic_max(top[None], m[i])
    for i in m:
        loss[None] += (top[None] - m[i]) * (top[None] - m[i])


@program(x=floats(4, 3), m=floats(3), v=floats(4, element=(3,)), box=floats(element=(3,)))
def maxima_in_inner_loops_and_of_vectors(x, m, v, box):
    for i in v:
        for j in range(3):
            if j != i:
                ti.atomic_min(m[j], x[i, j] + v[i][j])
        ti.atomic_max(box[None], v[i])


@program(
    x=array([2, 3, 4]),
    z=array([2, 0, 4]),
    zz=array([0, 0, 4]),
    p=array([10, 10, 10]),
    expected={"p": [240, 0, 0]},
    gradients={
        "x": [120, 80, 60],
        "z": [0, 80, 0],
        "zz": [0, 0, 0],
        "p": [24, 0, 0],
    },
    seeds={"p": 1},
)
def products_with_zeros(x, z, zz, p):
    for i in x:
        ti.atomic_mul(p[0], x[i])
        ti.atomic_mul(p[1], z[i])
        ti.atomic_mul(p[2], zz[i])


@program(x=array([2, 3]), p=array([0]), gradients={"x": [0, 0], "p": [6]}, seeds={"p": 1})
def product_into_zero(x, p):
    for i in x:
        ti.atomic_mul(p[0], x[i])


@program(x=floats(8), p=floats(3), q=floats(), y=floats(8), launches=2)
def products_of_groups(x, p, q, y):
    for i in x:
        ti.atomic_mul(p[i % 3], 1.0 + 0.1 * ti.sin(x[i]))
    for i in x:
        y[i] = p[i % 3] * x[i]
        q[None] += y[i] * p[(i + 1) % 3]


@program(x=floats(6), y=floats(6), z=floats(6, element=(2,)), last=floats())
def old_values_of_owned_elements(x, y, z, last):
    """Each iteration has its own element: the value before is exact, and differentiable."""
    for i in x:
        a = ti.atomic_add(x[i], 0.5 * y[i])
        b = ti.atomic_sub(y[i], a * a)
        c = ti.atomic_mul(x[i], b)
        d = ti.atomic_max(z[i][0], c)
        e = ti.atomic_min(z[i].y, d)
        y[i] += a * b + c * d - e
    old = ti.atomic_add(last[None], x[0] * x[0])
    last[None] *= old


@program(
    n=ints([0, 0]),
    x=array([1, -1, 2, 3, -4, 5]),
    slot=ints([-1, -1, -1, -1, -1, -1]),
    y=floats(6),
    smooth=False,
    expected={"n": [4, 6]},
)
def slots(n, x, slot, y):
    """The order of the slots is open, not the sum over them."""
    for i in x:
        if x[i] > 0:
            slot[i] = ti.atomic_add(n[0], 1)
        ti.atomic_add(n[1], 1)
    for i in x:
        if slot[i] >= 0:
            slot[i] = 0
    for i in y:
        y[i] = 0.0
    for i in x:
        if slot[i] >= 0:
            y[slot[i]] += x[i] * x[i]


@program(
    n=ints([12, 10, 6, 1, 3, 9]),
    x=ints([3, 5, 6, 7, 1, 2, 4, 8]),
    expected={"n": [0, 15, 14, 40320, 8, 1]},
)
def integers(n, x):
    for i in x:
        ti.atomic_and(n[0], x[i])
        ti.atomic_or(n[1], x[i])
        ti.atomic_xor(n[2], x[i])
        ti.atomic_mul(n[3], x[i])
        ti.atomic_max(n[4], x[i])
        ti.atomic_min(n[5], x[i])


@program(
    x=array([2, 4, 5]),
    p=array([1, 1000]),
    n=ints([1]),
    k=ints([2, 3, 4]),
    expected={"p": [40, 25], "n": [24]},
    gradients={"x": [20 - 12.5, 10 - 6.25, 8 - 5], "p": [40, 0.025]},
    seeds={"p": 1},
)
def products_by_assignment(x, p, n, k):
    for i in x:
        p[0] *= x[i]
        p[1] /= x[i]
        n[0] *= k[i]


@program(
    x=floats(6),
    p=floats(2, element=(2, 2)),
    y=floats(6, low=0.5, high=1.5),
    at=ints([3, 5, 1, 0, 2, 4]),
)
def products_of_matrices_and_permuted(x, p, y, at):
    for i in x:
        p[i % 2] *= 1.0 + x[i] * x[i]
        p[1][0, 1] /= y[i]
    for i in at:
        y[at[i]] *= x[i]
    for i in at:
        x[at[i]] *= y[i]


@program(x=floats(5), y=floats(5), n=floats(5))
def atomics_on_locals(x, y, n):
    """A local belongs to one thread: the value before flows on like any other."""
    for i in x:
        a, v, count = x[i], ti.Vector([x[i], 0.5, y[i]]), 0
        old = ti.atomic_add(a, y[i] * y[i])
        ti.atomic_mul(a, old)
        for k in range(3):
            ti.atomic_sub(v[k], 0.3 * a)
            top = ti.atomic_max(v[(k + 1) % 3], ti.sin(a) * v[k])
            ti.atomic_min(a, top + 0.25)
            ti.atomic_add(count, 1)
        ti.atomic_or(count, 4)
        ti.atomic_add(v, x[i])
        n[i] = a * v.norm_sqr() + count * old


@program(x=array([1, -2, 4, 0.5]), y=floats(), top=floats(), expected={"top": 16, "y": 3.5})
def atomics_on_locals_outside_the_loop(x, y, top):
    """Iterations of a parallel loop share it, as they share a field."""
    most, total = -100.0, 0.0
    for i in x:
        ti.atomic_max(most, x[i])
        ti.atomic_add(total, x[i])
    top[None] = most * most
    y[None] = total


@program(
    x=floats(7),
    w=floats(4),
    v=floats(9, element=(3,)),
    m=array(-9),
    low=floats(3),
    y=floats(7),
    launches=2,
)
def maxima_of_computed_values(x, w, v, m, low, y):
    """The adjoint takes them again; one value takes a loop, and is stored as well."""
    for i in v:
        ti.atomic_max(m[None], v[i].norm())
        if v[i].x > 0.0:
            ti.atomic_max(m[None], ti.exp(v[i].y) * x[i % 7])
    for i in x:
        s = x[i]
        for j in w:
            s = ti.sin(s * w[j]) + 0.3 * s
        y[i] = s
        ti.atomic_min(low[i % 3], s)
    for i in x:
        r, k = x[i], 0
        while r < 4.0 and k < 9:
            r = r * r + ti.tanh(w[k % 4])
            k += 1
            ti.atomic_max(low[1], r * r)
    for i in x:
        y[i] += m[None] * low[i % 3] * x[i]


@program(
    x=array([1.5, -2, 0.5, 2, -0.5]),
    m=array(16),
    expected={"m": 16},
    gradients={"x": [0, -32 / 3, 0, 32 / 3, 0], "m": 1 / 3},
    seeds={"m": 1},
    smooth=False,
)
def ties_of_computed_values_share(x, m):
    for i in x:
        ti.atomic_max(m[None], x[i] * x[i] * (x[i] * x[i]))


@program(x=floats(5, 4), group=ints([2, 0, 1, 1, 0]), speed=floats(3), step=floats())
def a_time_step_from_a_maximum(x, group, speed, step):
    """As a simulation takes it from the fastest particle, with a local that iterations share."""
    most = 0.1
    for i in group:
        v = ti.Vector([x[i, 0], x[i, 1]])
        ti.atomic_max(most, v.norm() + ti.sqrt(x[i, 2] * x[i, 2] + 1.0))
        ti.atomic_max(speed[group[i]], v.dot(v))
    step[None] = 0.3 / most
    for i in group:
        x[i, 3] += step[None] * x[i, 0] * speed[group[i]]
