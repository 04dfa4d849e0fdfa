"""Kernels of several parallel loops, with serial code between them."""

import taichi as ti

from tests.harness import floats, program


@program(x=floats(5), y=floats(5), z=floats(5))
def three_loops(x, y, z):
    for i in x:
        y[i] = x[i] * x[i]
    for i in y:
        z[i] = ti.sin(y[i]) * x[i]
    for i in x:
        x[i] = y[i] * z[i]


@program(x=floats(5), y=floats(5), loss=floats())
def serial_between(x, y, loss):
    for i in x:
        loss[None] += x[i] * x[i]
    scale = 1 / (1 + loss[None])
    k = scale * scale
    if scale > 0.1:
        k += scale
    for i in x:
        y[i] = k * x[i]
    loss[None] = loss[None] * scale


@program(x=floats(5), t=floats(5), loss=floats(), launches=2)
def cleared_and_refilled(x, t, loss):
    for i in t:
        t[i] = 0
    for i in x:
        t[i] += x[i] * x[i]
    for i in t:
        loss[None] += t[i] * t[i]
    for i in t:
        t[i] = 1.0
    for i in x:
        t[i] *= x[i]
        x[i] = t[i] * x[i]


@program(x=floats(6), y=floats(6))
def two_smoothings(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1]
    for i in range(1, x.shape[0] - 1):
        x[i] = (y[i - 1] + y[i + 1]) * y[i]


@program(x=floats(4), first=floats(), y=floats(4))
def element_kept_in_a_local(x, first, y):
    a = x[0]
    b = x[3] * a
    for i in x:
        x[i] = x[i] * a
    for i in x:
        y[i] = b * x[i] + a
    first[None] = a * b


@program(x=floats(4), y=floats(4))
def serial_code_alone(x, y):
    y[0] = x[0] * x[1]
    x[1] = y[0] * x[2]
    y[1] = x[1] * x[1]
    s = 1.0
    if y[1] > 0.01:
        s = x[3]
    y[2] = s * s


@program(x=floats(4), y=floats(4), n=35)
def serial_loop_at_the_top(x, y, n: int):
    s = x[0]
    ti.loop_config(serialize=True)
    for i in range(n):
        s = ti.sin(s) + 0.1 * x[i % 4]
    for i in y:
        y[i] = s * x[i]


@program(x=floats(4, 3), mean=floats(3), y=floats(4, 3))
def column_means(x, mean, y):
    for j in mean:
        mean[j] = 0
    for i, j in x:
        mean[j] += x[i, j] / x.shape[0]
    for i, j in x:
        y[i, j] = (x[i, j] - mean[j]) * (x[i, j] - mean[j])


@program(x=floats(4), v=floats(4), f=floats(4), loss=floats(), h=0.1, launches=5)
def time_steps(x, v, f, loss, h: float):
    for i in f:
        f[i] = 0.0
    for i in range(x.shape[0] - 1):
        d = x[i + 1] - x[i]
        force = d * d * d
        f[i] += force
        f[i + 1] -= force
    for i in x:
        v[i] = 0.99 * v[i] + h * f[i]
        x[i] += h * v[i]
    for i in x:
        loss[None] += x[i] * x[i]


@program(x=floats(3), flag=floats(), y=floats(3))
def condition_from_a_sum(x, flag, y):
    for i in x:
        flag[None] += x[i]
    s = flag[None]
    positive = s > 0
    for i in x:
        y[i] = x[i] * s if positive else x[i] - s


@program(x=floats(3, element=(2,)), centre=floats(element=(2,)), y=floats(3))
def vectors_between_tasks(x, centre, y):
    for i in x:
        centre[None] += x[i] / 3
    c = centre[None]
    d = c * c
    for i in x:
        y[i] = (x[i] - c).dot(d)


@program(x=floats(4), y=floats(4))
def a_local_that_follows_from_a_local_of_an_earlier_stage(x, y):
    for i in x:
        x[i] = x[i] * 2.0
    total = 0.0
    for i in x:
        total += x[i]
    for i in x:
        x[i] = 1.0
    turned = ti.sin(total)
    for i in x:
        y[i] = x[i]
    for i in x:
        x[i] = turned
