"""Fields of any number of dimensions, of vectors and of matrices, and loops over them."""

import taichi as ti

from tests.harness import array, floats, program, same


@program(a=floats(), b=floats(), y=floats())
def zero_dimensions(a, b, y):
    y[None] = a[None] * b[None]
    a[None] += b[None] * y[None]
    b[None] *= a[None]


@program(v=floats(element=(3,)), m=floats(element=(3, 3)), y=floats())
def zero_dimensions_of_vectors(v, m, y):
    u = m[None] @ v[None]
    y[None] = u.dot(v[None])
    v[None] = u * y[None]


@program(x=floats(3, 2, 2), y=floats(3, 2, 2))
def three_dimensions(x, y):
    for i, j, k in x:
        y[i, j, k] = x[i, j, k] * x[i, 1 - j, 1 - k] + i * k


@program(x=floats(2, 3, 2, 2), y=floats(2, 3, 2, 2), loss=floats())
def four_dimensions(x, y, loss):
    for i, j, k, m in x:
        y[i, j, k, m] = x[i, j, k, m] * x[i, j, m, k]
        loss[None] += y[i, j, k, m] * x[i, 0, 0, 0]


@program(x=floats(2, 3, element=(2, 2)), y=floats(2, 3, element=(2,)))
def matrices_in_two_dimensions(x, y):
    for i, j in x:
        y[i, j] = x[i, j] @ y[i, j]
        x[i, j] = x[i, j] @ x[i, j]


@program(x=floats(3, 4), y=floats(3, 4))
def grouped(x, y):
    for p in ti.grouped(x):
        y[p] = x[p] * x[p] * (p[0] + 2 * p.y)


@program(x=floats(3, 4), y=floats(3, 4))
def grouped_and_unpacked(x, y):
    for p in ti.grouped(ti.ndrange(3, 4)):
        i, j = p
        y[i, j] = x[2 - i, j] * x[p]


@program(x=floats(6, 6), y=floats(6, 6))
def boxes(x, y):
    for i, j in ti.ndrange((1, 4), 5):
        y[i, j] = x[i, j] * x[j, i]
    for i, j in ti.ndrange(x.shape[0], (2, x.shape[1])):
        y[i, j] += x[i, j]


@program(x=floats(5, 5, 5), y=floats(5, 5, 5))
def boxes_of_three_axes(x, y):
    for i, j, k in ti.ndrange((1, 4), (-1, 2), (2, 5)):
        y[i, j + 1, k] = x[i, j + 1, k] * x[i - 1, j + 2, 4 - k]


@program(x=floats(3, 4), y=floats(3))
def ndrange_inside_a_thread(x, y):
    for i in y:
        s = x[i, 0]
        for a, b in ti.ndrange((0, 2), 3):
            s = s * x[a, b] + 0.1 * a
        y[i] = s


@program(
    x=array([1, 2, 3]),
    y=same("x"),
    z=floats(3),
    expected={"z": [1, 4, 9]},
    gradients={"x": [2, 4, 6]},
    seeds={"z": 1},
)
def one_field_twice(x, y, z):
    for i in x:
        z[i] = x[i] * y[i]


@program(x=floats(3), y=same("x"), launches=2)
def one_field_twice_in_place(x, y):
    for i in x:
        y[i] = x[i] * y[i] + x[i]


@program(x=floats(3), y=same("x"))
def one_field_in_two_loops(x, y):
    for i in x:
        x[i] = x[i] * x[i]
    for i in y:
        y[i] = y[i] * x[i]


@program(x=floats(4), w=floats(4), y=floats(4), frozen=("w",))
def field_without_gradient(x, w, y):
    for i in x:
        y[i] = w[i] * x[i] * x[i] + w[i] * w[i]


@program(x=floats(4), w=floats(4), y=floats(4), frozen=("x", "w"))
def only_the_output_has_a_gradient(x, w, y):
    for i in x:
        y[i] = w[i] * x[i] * y[i]


@program(x=floats(3), y=floats(4))
def shapes_as_numbers(x, y):
    for i in y:
        n = x.shape[0]
        s = x[i % n] * n
        y[i] = s * s / y.shape[0]


@program(x=floats(2, 3), y=floats(2, 3))
def shape_of_a_row(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * x[i, x.shape[1] - 1 - j]
