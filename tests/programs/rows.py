"""Loops that walk along rows of memory, which devices copy in tiles."""

from __future__ import annotations

import taichi as ti

from tests.harness import floats, program


@program(x=floats(3, 2, 70), c=floats(3, 2, 70), y=floats(3, 2))
def composited(x, c, y):
    """Two tiles and a part of a third; windows of the reverse walk backwards."""
    for i, j in y:
        total, t = 0.0, 1.0
        for k in range(x.shape[2]):
            total += t * x[i, j, k] * c[i, j, k]
            t *= 1.0 - 0.1 * x[i, j, k]
        y[i, j] = total


@program(x=floats(4, 40), y=floats(4, 40))
def scans(x, y):
    """A first and a last element stay outside, and a second walk goes backwards."""
    for i in range(1, x.shape[0]):
        t = 0.5
        for k in range(1, x.shape[1] - 1):
            t = ti.sin(t + x[i, k])
            y[i, k] += t
        for k in range(x.shape[1]):
            t = ti.cos(t * x[i, x.shape[1] - 1 - k])
        y[i, 0] = t


@program(x=floats(5, 33), w=floats(33, 5), y=floats(5, 33))
def softmax_of_rows(x, w, y):
    for i in range(x.shape[0]):
        top = -100.0
        for k in range(x.shape[1]):
            top = ti.max(top, x[i, k])
        total = 0.0
        for k in range(x.shape[1]):
            total += ti.exp(x[i, k] - top)
        for k in range(x.shape[1]):
            y[i, k] = ti.exp(x[i, k] - top) / total * w[k, i]


@program(x=floats(2, 3, 2, 35), y=floats(2, 3, 2, 35), h=floats())
def rows_of_four_axes(x, y, h):
    for i, j, k in ti.ndrange(x.shape[0], x.shape[1], x.shape[2]):
        for m in range(x.shape[3]):
            if x[i, j, k, m] > 0.0:
                y[i, j, k, m] = x[i, j, k, m] * h[None]
        for m in range(x.shape[3]):
            h_of = x[i, j, k, m] * 0.5
            y[i, j, k, m] += h_of * h_of


@program(x=floats(6, 34), y=floats(6))
def rows_of_neighbours(x, y):
    """Rows beside that of the iteration, up to ends that iterations have of their own."""
    for i in range(1, x.shape[0] - 1):
        total = 0.0
        for k in range(x.shape[1]):
            total += x[i - 1, k] * x[i + 1, k]
        for k in range(i + 20):
            total -= 0.1 * x[i, k] * x[i, k]
        y[i] = total
