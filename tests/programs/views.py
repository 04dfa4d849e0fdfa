"""Parts of fields as arguments: slices, rows, other shapes, repeated elements."""

import taichi as ti

from tests.harness import array, floats, part, program


@program(
    x=part(array([1, 2, 3, 4]), lambda x: x[::2]),
    y=floats(2),
    expected={"y": [1, 9]},
    gradients={"x": [2, 0, 6, 0]},
    seeds={"y": 1},
)
def every_second(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@program(
    x=part(array([1, 2, 3, 4]), lambda x: x[1:3]),
    y=floats(2),
    expected={"y": [4, 9]},
    gradients={"x": [0, 4, 6, 0]},
    seeds={"y": 1},
)
def a_slice(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@program(
    x=part(array([1, 2, 3, 4]), lambda x: x.view(2, 2)),
    y=floats(2, 2),
    expected={"y": [[1, 4], [9, 16]]},
    gradients={"x": [2, 4, 6, 8]},
    seeds={"y": 1},
)
def another_shape(x, y):
    for i, j in x:
        y[i, j] = x[i, j] * x[i, j]


@program(
    x=part(array([1, 2, 3, 4]), lambda x: x.broadcast_to(3, 4)),
    y=floats(3, 4),
    gradients={"x": [6, 12, 18, 24]},
    seeds={"y": 1},
)
def repeated_rows(x, y):
    for i, j in x:
        y[i, j] = x[i, j] * x[i, j]


@program(
    x=part(array([1, 2, 3, 4, 5, 6, 7]), lambda x: x[5:0:-2]),
    y=part(floats(9), lambda y: y[1:8:3]),
    expected={"x": [1, 4, 3, 16, 5, 36, 7]},
    gradients={"x": [1, 8, 1, 16, 1, 24, 1]},
)
def backwards_in_place(x, y):
    """Lengths and sizes of a part are its own; elements outside stay."""
    for i in range(x.shape[0]):
        x[i] = x[i] * x[i]
        y[len(y) - 1 - i] += x[i]


@program(
    x=part(floats(3, 4), lambda x: x[:, 1]),
    row=part(floats(3, 4), lambda x: x[2, 1:]),
    y=part(floats(4, 5), lambda y: y[::-1, ::2][1, :]),
    z=floats(3),
)
def rows_and_columns(x, row, y, z):
    for i in x:
        z[i] = ti.sin(x[i]) * row[i]
    for i in y:
        y[i] = y[i] * x[i] * row[2 - i]


@program(
    x=part(floats(4, 5, element=(3,)), lambda x: x[1:, ::-2]),
    y=part(floats(3, element=(3,)), lambda y: y.broadcast_to(3, 3)),
    m=part(floats(2, 3, element=(2, 2)), lambda m: m.view(-1)[1:4]),
    z=floats(3, 3),
)
def elements_of_vectors(x, y, m, z):
    for p in ti.grouped(x):
        z[p] = x[p].dot(y[p]) + m[p[0]][0, 1] * x[p].y
    for i in m:
        m[i] = m[i] @ m[i]
        m[i][1, 0] *= 2.0


@program(x=floats(6), new=part("x", lambda x: x[1:]), old=part("x", lambda x: x[:-1]), y=floats(5))
def differences(x, new, old, y):
    """Two parts of one field that overlap, and the field itself: one array of the program."""
    for i in y:
        y[i] = (new[i] - old[i]) * (new[i] - old[i]) * x[i]


@program(
    red=part(floats(8), lambda x: x[::2]),
    black=part("red", lambda x: x[1::2]),
    launches=3,
)
def red_and_black(red, black):
    """Parts without a common element are no race, whichever is written."""
    for i in red:
        red[i] = ti.sin(red[i]) * black[i]
    for i in black:
        black[i] = black[i] * red[3 - i] + 0.5


@program(
    left=part(floats(2, 6), lambda x: x[:, :3]),
    right=part("left", lambda x: x[:, 3:]),
    again=part("left", lambda x: x[:, :3]),
)
def halves(left, right, again):
    for i, j in left:
        left[i, j] = again[i, j] * right[i, j] + right[i, 2 - j]


@program(
    x=part(floats(3, 4), lambda x: x.view(4, 3)[1:, 0]),
    y=part(floats(2), lambda y: y.view(2, 1).broadcast_to(2, 3)),
    launches=2,
)
def slices_of_another_shape(x, y):
    for j in range(y.shape[1]):
        x[j] = x[j] * y[0, j] * y[1, j] + x[j]
    for i, j in y:
        y[i, j] += 0.1 * x[j]


@program(x=part(floats(9), lambda x: x[2:7]), n=70)
def recurrence_along_a_part(x, n: int):
    ti.loop_config(serialize=True)
    for i in range(1, x.shape[0]):
        x[i] = x[i] + 0.5 * x[i - 1]
    for i in x:
        s = x[i]
        for _ in range(n):
            s = ti.sin(s) + 0.1
        x[i] = s


@program(x=part(floats(3, 7), lambda x: x[1, 1:6]), y=floats(5))
def stencil_on_a_row(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = x[i - 1] * x[i] - 2.0 * x[i + 1]
