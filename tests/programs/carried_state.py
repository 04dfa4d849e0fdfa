"""Loops that carry state through fields inside one kernel: recurrences, sweeps in place, sorts."""

import taichi as ti

import difftile as dt
from tests.harness import array, floats, ints, program


@program(
    h=array([[0.5, 0.0, 0.0]]),
    w=array([2.0]),
    gradients={"h": [[4, 0, 0]], "w": [2]},
    seeds={"h": [[0, 0, 1]]},
)
def linear_recurrence(h, w):
    for i in w:
        for t in range(2):
            h[i, t + 1] = w[i] * h[i, t]


@program(h=floats(3, 6), x=floats(3, 5), w=floats(3))
def recurrent_rows(h, x, w):
    for i in w:
        for t in range(x.shape[1]):
            h[i, t + 1] = ti.tanh(w[i] * h[i, t] + x[i, t])


@program(h=floats(5, 3), w=floats(3, 3), x=floats(4, 2), u=floats(3, 2))
def recurrent_network(h, w, x, u):
    ti.loop_config(serialize=True)
    for t in range(x.shape[0]):
        for j in range(3):
            s = 0.0
            for k in range(3):
                s += w[j, k] * h[t, k]
            for k in range(2):
                s += u[j, k] * x[t, k]
            h[t + 1, j] = ti.tanh(s)


@program(x=floats(7), b=floats(7), sweeps=3)
def gauss_seidel(x, b, sweeps: int):
    for _ in range(1):
        for _sweep in range(sweeps):
            for i in range(1, x.shape[0] - 1):
                x[i] = ti.sin(x[i - 1]) + 0.3 * x[i] * x[i + 1] + b[i]


@program(x=floats(4, 4), sweeps=2)
def gauss_seidel_in_the_plane(x, sweeps: int):
    ti.loop_config(serialize=True)
    for _ in range(sweeps):
        for i in range(1, x.shape[0] - 1):
            for j in range(1, x.shape[1] - 1):
                around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
                x[i, j] = 0.2 * around * ti.cos(x[i, j])


@program(x=floats(5), v=floats(5), steps=7)
def time_loop(x, v, steps: int):
    ti.loop_config(serialize=True)
    for _ in range(steps):
        for i in x:
            v[i] -= 0.1 * ti.sin(x[i])
        for i in x:
            x[i] += 0.1 * v[i]


@program(x=floats(4), v=floats(4), steps=5)
def time_loop_of_each_element(x, v, steps: int):
    for i in x:
        for _ in range(steps):
            v[i] -= 0.1 * ti.sin(x[i])
            x[i] += 0.1 * v[i]


@program(x=floats(6), w=floats(6))
def bubble_sort(x, w):
    ti.loop_config(serialize=True)
    for i in range(x.shape[0]):
        for j in range(x.shape[0] - 1 - i):
            if x[j] > x[j + 1]:
                a = x[j]
                x[j] = x[j + 1] * w[j]
                x[j + 1] = a


@program(x=floats(5), key=ints([3, 1, 4, 2, 0]), y=floats(5))
def insertion_sort_by_key(x, key, y):
    for _ in range(1):
        for i in range(1, x.shape[0]):
            j = i
            while j > 0 and key[j - 1] > key[j]:
                key[j], key[j - 1] = key[j - 1], key[j]
                x[j], x[j - 1] = x[j - 1], x[j]
                j -= 1
        for i in range(x.shape[0]):
            y[i] = x[i] * x[i] * key[i]


@program(x=floats(6, element=(3,)), rest=0.3, sweeps=2)
def rope(x, rest: float, sweeps: int):
    ti.loop_config(serialize=True)
    for _ in range(sweeps):
        for i in range(x.shape[0] - 1):
            d = x[i + 1] - x[i]
            correction = 0.5 * (1 - rest / d.norm()) * d
            if i > 0:
                x[i] += correction
            x[i + 1] -= correction


@program(a=floats(2, 4, 4, low=0.5, high=1.5), b=floats(2, 4))
def elimination_with_pivots(a, b):
    for m in range(a.shape[0]):
        for k in range(4):
            pivot = k
            for i in range(k + 1, 4):
                if abs(a[m, i, k]) > abs(a[m, pivot, k]):
                    pivot = i
            for j in range(4):
                a[m, k, j], a[m, pivot, j] = a[m, pivot, j], a[m, k, j]
            b[m, k], b[m, pivot] = b[m, pivot], b[m, k]
            for i in range(k + 1, 4):
                f = a[m, i, k] / a[m, k, k]
                for j in range(k, 4):
                    a[m, i, j] -= f * a[m, k, j]
                b[m, i] -= f * b[m, k]


@program(a=array([[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]]))
def cholesky_in_place(a):
    ti.loop_config(serialize=True)
    for j in range(3):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        a[j, j] = ti.sqrt(a[j, j])
        for i in range(j + 1, 3):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]


@program(x=array([3.0, 0.5]), y=floats(2))
def halved_until_small(x, y):
    for i in x:
        while x[i] * x[i] > 0.2:
            x[i] *= 0.5 + 0.1 * y[i]
        y[i] = x[i] * y[i]


@program(x=floats(6), n=4)
def left_early(x, n: int):
    ti.loop_config(serialize=True)
    for _ in range(n):
        for i in range(1, x.shape[0]):
            if x[i - 1] > 2.0:
                break
            x[i] = x[i] * x[i - 1] + 0.5


@program(x=floats(7), q=ints([1, 2, 0, 3, 1]))
def steps_that_data_order(x, q):
    ti.loop_config(serialize=True)
    for k in q:
        x[q[k]] = x[q[k]] * x[q[k] + 1] + ti.sin(x[k])


@program(x=floats(4), s=floats())
def field_without_axes(x, s):
    ti.loop_config(serialize=True)
    for i in x:
        s[None] = ti.sin(s[None]) * x[i]
        x[i] = s[None] * s[None]


@program(x=floats(3, 4), y=floats(3, 4), steps=3)
def fields_that_swap(x, y, steps: int):
    for i in range(x.shape[0]):
        for t in range(steps):
            for j in range(1, x.shape[1]):
                if t % 2 == 0:
                    y[i, j] = x[i, j - 1] * x[i, j]
                else:
                    x[i, j] = y[i, j - 1] * y[i, j]


@dt.func
def relaxed(x, i, b):
    x[i] = ti.cos(x[i]) * x[i - 1] + b


@program(x=floats(5), b=floats(5))
def func_that_writes(x, b):
    for _ in range(1):
        for _sweep in range(2):
            for i in range(1, x.shape[0]):
                relaxed(x, i, b[i])


@program(x=floats(5), y=floats())
def running_product(x, y):
    ti.loop_config(serialize=True)
    for i in range(1, x.shape[0]):
        x[i] *= x[i - 1]
        y[None] += x[i] * x[i]
