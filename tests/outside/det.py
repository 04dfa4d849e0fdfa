"""Determinants by expansion along the first row: GradBench's `det`.

Its program is recursive and computes a minor anew each time. So does `expansion`, which is unrolled
while compiling; `determinant` is a loop over sets of columns that computes each minor once.
"""

from __future__ import annotations

import taichi as ti

import difftile as dt


@dt.kernel
def expand(a, minors, y):
    """Compute the minor of each set of columns and as many of the last rows; a set is its bits."""
    n = a.shape[0]
    minors[0] = 1.0
    ti.loop_config(serialize=True)
    for columns in range(1, minors.shape[0]):
        row, sign, total = n - ti.math.popcnt(columns), 1.0, 0.0
        for j in range(n):
            if columns >> j & 1:
                total += sign * a[row, j] * minors[columns ^ (1 << j)]
                sign = -sign
        minors[columns] = total
    y[None] = minors[minors.shape[0] - 1]


def determinant(a: dt.Field) -> dt.Field:
    """Return the determinant of a matrix of at most 20 rows."""
    minors, y = dt.zeros(1 << a.shape[0], dtype=ti.f64), dt.zeros((), dtype=ti.f64)
    expand(a, minors, y)
    return y


@dt.func
def minor(a, n: ti.template(), row: ti.template(), columns: ti.template()):
    total, sign = 0.0, 1.0
    if ti.static(row == n):
        return 1.0
    for j in ti.static(range(n)):
        if ti.static(columns >> j & 1):
            total += sign * a[row, j] * minor(a, n, row + 1, columns ^ (1 << j))
            sign = -sign
    return total


@dt.kernel
def expansion(a, n: ti.template(), y):
    y[None] = minor(a, n, 0, (1 << n) - 1)


def recursive_determinant(a: dt.Field) -> dt.Field:
    """Return the determinant of a matrix of few rows."""
    y = dt.zeros((), dtype=ti.f64)
    expansion(a, a.shape[0], y)
    return y
