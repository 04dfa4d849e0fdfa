"""Reads of neighbours."""

import taichi as ti

from tests.harness import floats, program


@program(x=floats(8), y=floats(8))
def laplacian(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = x[i - 1] - 2 * x[i] + x[i + 1]


@program(x=floats(8), k=floats(8), y=floats(8))
def varying_diffusion(x, k, y):
    for i in range(1, x.shape[0] - 1):
        right = 0.5 * (k[i] + k[i + 1]) * (x[i + 1] - x[i])
        left = 0.5 * (k[i] + k[i - 1]) * (x[i] - x[i - 1])
        y[i] = x[i] + 0.1 * (right - left)


@program(x=floats(5, 6), y=floats(5, 6), launches=2)
def five_points(x, y):
    for i, j in ti.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        y[i, j] = x[i, j] + 0.2 * (
            x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4 * x[i, j]
        )
    for i, j in x:
        x[i, j] = y[i, j] * y[i, j]


@program(x=floats(6), y=floats(6))
def periodic(x, y):
    for i in x:
        n = x.shape[0]
        y[i] = x[(i + 1) % n] * x[(i - 1 + n) % n]


@program(x=floats(4, 5), k=floats(4, 5), y=floats(4, 5))
def periodic_in_two_axes(x, k, y):
    n, m = x.shape[0], x.shape[1]
    for i, j in x:
        y[i, j] = x[i, j] * k[i, j] + x[(i + 1) % n, j] * x[(i - 1) % n, (j + m - 2) % m]


@program(x=floats(1, 2), y=floats(1, 2))
def periodic_and_narrower_than_the_stencil(x, y):
    for i, j in ti.ndrange(1, 2):
        y[i, j] = x[(i + 1) % 1, (j + 3) % 2] * x[(i - 1) % 1, (j - 1) % 2] + x[i, j]


@program(x=floats(5, 6), y=floats(5, 6))
def periodic_in_one_axis(x, y):
    for i, j in ti.ndrange(5, (1, 5)):
        y[i, j] = x[(i + 1) % 5, j - 1] * x[(i - 1) % 5, j + 1] + x[i, j] ** 2


@program(x=floats(6), y=floats(6))
def periodic_in_a_part(x, y):
    for i in range(1, 5):
        y[i] = x[(i + 1) % 5] * x[(i - 1) % 5] + x[(i + 2) % 6]


@program(x=floats(5, 6), y=floats(5, 6))
def periodic_where_a_condition_holds(x, y):
    for i, j in ti.ndrange((1, 4), 6):
        if x[i, j] > 0.5:
            y[i, j] = x[i - 1, j] * x[i + 1, (j + 1) % 6] + ti.sin(x[i, (j + 1) % 6])


@program(x=floats(6), y=floats(6))
def clamped_at_the_border(x, y):
    for i in x:
        left = x[max(i - 1, 0)]
        right = x[min(i + 1, x.shape[0] - 1)]
        y[i] = left * right + x[i]


@program(x=floats(7), w=floats(3), y=floats(7))
def convolution(x, w, y):
    for i in y:
        s = 0.0
        for k in range(-1, 2):
            if 0 <= i + k < x.shape[0]:
                s += w[k + 1] * x[i + k]
        y[i] = s


@program(x=floats(5, 5), w=floats(3, 3), y=floats(5, 5))
def convolution_in_two_axes(x, w, y):
    for i, j in ti.ndrange((1, 4), (1, 4)):
        s = 0.0
        for a in range(3):
            for b in range(3):
                s += w[a, b] * x[i + a - 1, j + b - 1]
        y[i, j] = s * s


@program(x=floats(4, 5, element=(2,)), y=floats(4, 5, element=(2,)))
def stencil_of_vectors(x, y):
    for i, j in ti.ndrange((1, 3), (1, 4)):
        y[i, j] = (x[i + 1, j] - x[i - 1, j]) * x[i, j + 1].dot(x[i, j])


@program(x=floats(5, 6), y=floats(5, 6))
def grouped_with_offsets(x, y):
    for p in ti.grouped(ti.ndrange((1, 4), (1, 5))):
        s = 0.0
        for d in ti.static(((1, 0), (-1, 0), (0, 1), (0, -1))):
            s += x[p + ti.Vector([d[0], d[1]])] * x[p]
        y[p] = s


@program(x=floats(12), y=floats(6))
def strided(x, y):
    for i in y:
        y[i] = x[2 * i] * x[2 * i + 1] + x[11 - i]


def _blur(x, y):
    for i in x:
        total = 2.0 * x[i]
        if i > 0:
            total += x[i - 1] * x[i - 1]
        if i < x.shape[0] - 1:
            total += 0.5 * x[i + 1]
        y[i] = total


def _cross(x, y):
    for i, j in ti.ndrange((1, x.shape[0] - 1), (2, x.shape[1] - 1)):
        y[i, j] = x[i - 1, j] * x[i, j - 2] + x[i + 1, j + 1] - x[i, j]


# Grids so small that no or hardly any cell is inside the rim.
for _n in (1, 2, 3, 4):
    program(x=floats(_n), y=floats(_n))(_blur)
for _shape in ((2, 3), (3, 3), (3, 4), (4, 6), (7, 4)):
    program(x=floats(*_shape), y=floats(*_shape))(_cross)


@program(x=floats(6), y=floats(6))
def difference_used_in_a_loop(x, y):
    for i in range(1, x.shape[0] - 1):
        left = 0.5 * (x[i] - x[i - 1])
        for k in range(3):
            y[i] = x[i] - left * k


@program(x=floats(5, 6, 7), y=floats(5, 6, 7), scale=floats())
def inside_of_a_box(x, y, scale):
    n, m, depth = x.shape[0], x.shape[1], x.shape[2]
    for i, j, k in ti.ndrange((1, n - 1), (2, m - 2), (1, depth - 1)):
        y[i, j, k] = scale[None] * (x[i - 1, j, k] + x[i, j + 2, k] * x[i, j - 2, k + 1])
    for i, j, k in ti.ndrange((4, n - 4), (5, m - 5), depth):  # empty, and twice so
        y[i, j, k] = x[i, j, k]
