"""Local arrays: longer vectors, indexed at run time, and built by comprehensions."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, ints, program

N = 6


@dt.func
def tapered(v, n):
    return ti.Vector([v[k] / (k + 1) for k in range(v.n)])[0:n]


@program(
    x=array([[1, 2, 3]], element=(3,)),
    y=floats(1),
    expected={"y": [7]},
    gradients={"x": [[2, 1, 1]]},
    seeds={"y": 1},
)
def local_copies_change(x, y):  # MU7
    for i in x:
        a = x[i]
        a[0] *= 2
        y[i] = a.sum()


@program(
    x=array([[1, 2, 3, 4]], element=(4,)),
    k=ints([1]),
    y=floats(1),
    expected={"y": [14]},
    gradients={"x": [[1, 3, 3, 1]]},
    seeds={"y": 1},
)
def positions_at_run_time(x, k, y):  # MU8
    for i in x:
        v = x[i]
        j = k[i]
        v[j] = v[j] * v[j + 1]
        y[i] = v.sum()


@program(x=floats(3, 4), m=floats(3, 4, 4), y=floats(3))
def comprehensions(x, m, y):
    for i in range(3):
        v = ti.Vector([x[i, k] * k for k in range(4)])
        a = ti.Matrix([[m[i, j, k] for k in ti.static(range(4))] for j in range(4)])
        w = ti.Vector([0.0] * 2 + [x[i, 0]] + [x[i, k] for k in range(4) if k % 2 == 1])
        s = ti.Vector([p + 2.0 * q for p, q in ti.static(ti.ndrange(2, 2))])
        t = tapered(a @ v, 3)
        y[i] = t.norm_sqr() + w.dot(w) * s[3] + w[2] * w.n


@program(x=floats(4, N), y=floats(4, N))
def prefix_sums(x, y):
    for i in range(4):
        s = ti.Vector.zero(float, N)
        s[0] = x[i, 0]
        for k in range(1, N):
            s[k] = 0.5 * s[k - 1] * s[k - 1] + x[i, k]
        for k in range(N):
            y[i, k] = s[N - 1 - k]


@program(x=floats(2, element=(18,)), y=floats(2, element=(18,)))
def long_vectors(x, y):
    for i in x:
        v = x[i]
        for k in range(1, 18):
            v[k] = 0.5 * v[k - 1] * v[k] + 0.1
        y[i] = v * v
