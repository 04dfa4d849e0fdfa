"""Serial loops in parallel ones: rows, convolutions, and elements that iterations share."""

import taichi as ti

from tests.harness import floats, program


@program(a=floats(6, 4), x=floats(6), y=floats(4))
def vector_times_matrix(a, x, y):
    for i in x:
        for j in range(y.shape[0]):
            y[j] += a[i, j] * x[i] * x[i]


@program(x=floats(7), m=floats(7), y=floats(7))
def pairs(x, m, y):
    for i in x:
        total = 1.0 * x[i]
        for j in range(x.shape[0]):
            d = x[j] - x[i]
            total -= m[j] * d / (d * d + 0.5)
        y[i] = total


@program(x=floats(9), w=floats(3), y=floats(7))
def convolution(x, w, y):
    for i in y:
        total = 0.0
        for k in range(w.shape[0]):
            total += w[k] * x[i + k]
        y[i] = total


@program(x=floats(7, 9), w=floats(3, 2), y=floats(5, 4))
def convolution_of_an_image(x, w, y):
    for i, j in y:
        total = 0.0
        for u in range(w.shape[0]):
            for v in range(w.shape[1]):
                total += w[u, v] * w[u, v] * x[i + u, 2 * v + j + 1]
        y[i, j] = total


@program(x=floats(2, 9), w=floats(3), y=floats(2, 5))
def convolution_that_runs_backwards(x, w, y):
    for b, i in y:
        total = 0.0
        for k in range(1, w.shape[0]):
            total += w[k] * x[b, i - 2 * k + 4]
        y[b, i] = total


@program(x=floats(5, 6), w=floats(4), y=floats(5, 6))
def padded_convolution(x, w, y):
    for i, j in x:
        for k in range(w.shape[0]):
            p = j + k - 2
            if p >= 0 and p < x.shape[1]:
                y[i, p] += w[k] * x[i, j]


@program(x=floats(4, 6), w=floats(3), y=floats(4, 6))
def elements_that_a_branch_keeps_inside(x, w, y):
    for i, j in x:
        for k in range(2 * j):
            if k < w.shape[0]:
                y[i, j] += w[k] * x[i, j]


@program(x=floats(5, 4, 3), w=floats(3), y=floats(5, 4, 3))
def scaled_channels(x, w, y):
    for i, j in ti.ndrange(5, 4):
        for c in range(w.shape[0]):
            y[i, j, c] = x[i, j, c] * w[c]


@program(x=floats(4, 7), g=floats(7), y=floats(4, 7))
def normalised_rows(x, g, y):
    for i in range(x.shape[0]):
        mean = 0.0
        for j in range(x.shape[1]):
            mean += x[i, j] / x.shape[1]
        square = 0.25
        for j in range(x.shape[1]):
            square += (x[i, j] - mean) ** 2
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * g[j] / ti.sqrt(square)


@program(a=floats(5), x=floats(6), y=floats(5, 6), z=floats(6, 5))
def outer_products(a, x, y, z):
    for i in a:
        s = a[i] * 2.0
        for j in range(x.shape[0]):
            y[i, j] = s * x[j]
            z[j, i] += s - x[j]


@program(x=floats(5, 6), y=floats(5), loss=floats())
def rows_that_one_lane_writes(x, y, loss):
    for i in range(x.shape[0]):
        if y[i] > 0.0:
            total = y[i]
            low = y[i]
            for j in range(1, x.shape[1]):
                if x[i, j] > 0.1:
                    total += x[i, j] * x[i, j - 1]
                low = ti.min(low, x[i, j])
            y[i] = total * low
            loss[None] += total
