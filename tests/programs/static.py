"""Loops and branches decided while compiling."""

import taichi as ti

from tests.harness import floats, program

DIM = 2
USE_SQUARE = True


@program(x=floats(3), y=floats(3))
def unrolled_range(x, y):
    for i in x:
        s = 1.0
        for k in ti.static(range(4)):
            s = s * x[i] + k
        for k in ti.static(range(5, 0, -2)):
            s += k * x[i]
        y[i] = s


@program(x=floats(3), y=floats(3))
def static_branch(x, y):
    for i in x:
        if ti.static(USE_SQUARE):
            y[i] = x[i] * x[i]
        else:
            y[i] = x[i].does_not_exist()


@program(x=floats(3), y=floats(3))
def static_branch_in_unrolled_loop(x, y):
    for i in x:
        s = x[i]
        for k in ti.static(range(4)):
            if ti.static(k % 2 == 0):
                s = s * s
            elif k == 3:
                s = ti.sin(s)
            else:
                s += k
        y[i] = s


@program(x=floats(4, 4), y=floats(4, 4))
def unrolled_ndrange(x, y):
    for i, j in ti.ndrange((1, 3), (1, 3)):
        s = 0.0
        for di, dj in ti.static(ti.ndrange((-1, 2), (-1, 2))):
            s += x[i + di, j + dj] * (1 + di * dj)
        y[i, j] = s * s


@program(x=floats(3, element=(2,)), y=floats(3))
def unrolled_components(x, y):
    for i in x:
        v = x[i]
        for k in ti.static(range(DIM)):
            v[k] = v[k] * v[1 - k]
        y[i] = v[0] + v[1]


@program(x=floats(3), y=floats(3))
def unrolled_tuple(x, y):
    for i in x:
        for factor in ti.static((1.0, 2.0, -0.5)):
            y[i] += factor * x[i] * x[i]


@program(x=floats(3), y=floats(3))
def unrolled_around_a_loop(x, y):
    for k in ti.static(range(2)):
        for i in x:
            y[i] += x[i] * x[i] * (k + 1)


@program(x=floats(3), y=floats(3))
def lists_of_values(x, y):
    for i in x:
        terms = (x[i], x[i] * x[i], ti.sin(x[i]))
        s = 0.0
        for k in ti.static(range(3)):
            s += terms[k] * (k + 1)
        y[i] = s * terms[2]


@program(x=floats(4), y=floats(4, 4))
def unrolled_cells_as_vectors(x, y):
    for i in range(3):
        w = [x[i], 0.5 * x[i + 1], 2.0]
        for at in ti.static(ti.grouped(ti.ndrange(2, (1, 3)))):
            y[ti.Vector([i, 0]) + at] += w[at[0]] * w[at.y] * (at + 0.5).norm()


@program(x=floats(4), y=floats(4, 3))
def names_of_static_values(x, y):
    """A name that `ti.static` gives its value is known while compiling, until it is changed."""
    n, half = ti.static(3, 0.5)
    for i in x:
        for b in ti.static(range(n)):
            j = ti.static(n - b)
            w = half
            if ti.static(j > 1):
                w = x[i]
            for k in ti.static(range(j)):
                y[i, b] += w * x[i] ** (k + j)
        count = ti.static(2)
        v = x[i]
        while count < 4:
            v *= x[i]
            count += 1
        y[i, 0] += v


@program(x=floats(4), y=floats(4))
def types_made_in_a_kernel(x, y):
    n = ti.static(2)
    pair, square = ti.types.vector(n, ti.f64), ti.types.matrix(n=n, m=n, dtype=ti.f64)
    for i in x:
        P = ti.types.struct(at=pair, mass=ti.f64)
        p = P(at=pair(x[i], 1.0), mass=0.5)
        turn: square = square(x[i], -1.0, 1.0, x[i] * x[i])
        y[i] = p.mass * (turn @ p.at).norm_sqr() + ti.types.vector(3, ti.f64)(x[i]).sum()
