"""Vectors and matrices as arguments, and tuples of numbers as vectors."""

import numpy as np
import taichi as ti

from tests.harness import array, floats, ints, program


@program(
    x=floats(4, element=(2,)),
    v=array([[1, 2], [3, 4], [0, 0], [1, 1]], (2,)),
    g=ti.Vector([0, -9.8]),
    h=0.5,
    expected={"v": [[1, 2.9], [3, -0.9], [0, 4.9], [1, 3.9]]},
)
def falling(x, v, g, h: float):
    for i in x:
        v[i] += h * g
        x[i] += h * v[i] * g.norm()
    for i in v:
        if v[i].y < g.y / 4:
            v[i].y *= -1


@program(
    x=floats(4, element=(2,)), y=floats(4, element=(2,)), m=ti.Matrix([[1.0, 2.0], [0.0, -3.0]])
)
def turned(x, y, m):
    for i in x:
        y[i] = m @ ti.sin(x[i]) + m.transpose() @ x[i] * m[0, 1] - m[:, 1]


@program(x=floats(3, element=(3,)), y=floats(3, element=(2,)), m=[[1.0, 2, 0.5], [0.0, -3.0, 1]])
def narrowed(x, y, m):
    for i in x:
        y[i] = m @ (x[i] * x[i]) * m.max()


@program(x=floats(3), y=floats(3), weights=[0.5, 0.25, -1.0])
def weighted(x, y, weights):
    for i in x:
        for k in range(3):
            y[i] += weights[k] * x[i] ** (k + 1)
        for w in ti.static(range(len(weights))):
            y[i] -= weights[w]


@program(x=floats(4, element=(2,)), y=floats(4, element=(2,)), g=ti.Vector([2, 3]))
def of_integers(x, y, g):
    for i in range(g.x * 2):
        y[i] = x[i] ** 2 * g + x[i % g.y] / g.x


@program(x=floats(4, 5), y=floats(4, 5), low=np.array([1, 2]), size=(2, 3))
def in_a_box(
    x,
    y,
    low: ti.types.vector(2, int),
    size: ti.types.vector(2, ti.i32),
):
    for i, j in ti.ndrange(size[0], size[1]):
        y[low[0] + i, low[1] + j] = ti.sin(x[low + ti.Vector([i, j])])


@program(x=floats(4, element=(3,)), y=floats(4), axis=[0.0, 0.6, 0.8])
def along(x, y, axis: ti.math.vec3):
    for i in x:
        w = axis
        w[i % 3] += x[i].x
        y[i] = x[i].dot(axis) ** 2 + x[i].cross(w).norm_sqr() + axis.zy.norm() + axis[i % 3]


@program(x=floats(4, element=(2,)), g=(0.5, -1.5), h=0.25)
def pulled_by_a_tuple(x, g, h: float):
    for i in x:
        x[i] = ti.sin(x[i]) * g + h * ti.Vector(g) - g[0] * g[1]
        x[i] -= g


@program(x=floats(4, element=(2,)), y=floats(4, element=(2,)))
def tuples_of_numbers(x, y):
    for i in x:
        x[i] = x[i] * (1.0, 2.0) + (x[i].y, 0.5)
        y[i] += ((1, 2), (3, 4)) @ x[i]
        y[i] = [x[i].y, 2.0]
        y[i] -= x[i]
        x[i] *= max(0.5, x[i].x), 1.0


@program(x=ints([[1, 2], [3, 4]], (2,)), y=floats(2), lowest=(1, -7))
def tuples_of_integers(x, y, lowest):
    for i in x:
        x[i] += lowest
        y[i] *= min((2.0, y[i])) + max(lowest)
