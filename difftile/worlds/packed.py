"""Linear systems of one thread.

Symmetric matrices are packed lower triangles: entry (i, j), j <= i, is at i (i + 1) / 2 + j.
"""

from __future__ import annotations

import difftile as dt


@dt.func
def factor(a, n):
    """Replace a positive definite matrix by its factors L D L^T, L with a unit diagonal."""
    for i in range(n):
        row = i * (i + 1) // 2
        diagonal = a[row + i]
        for j in range(i):
            column = j * (j + 1) // 2
            total = a[row + j]
            for k in range(j):
                total -= a[row + k] * a[column + k]
            a[row + j] = total  # L_ij D_j for now
        for j in range(i):
            scaled = a[row + j]
            entry = scaled / a[j * (j + 1) // 2 + j]
            diagonal -= scaled * entry
            a[row + j] = entry
        a[row + i] = diagonal


@dt.func
def solve(factors, x, n):
    """Replace x by the solution of A y = x, with the factors of A."""
    for i in range(n):
        row = i * (i + 1) // 2
        total = x[i]
        for j in range(i):
            total -= factors[row + j] * x[j]
        x[i] = total
    for i in range(n):
        x[i] /= factors[i * (i + 1) // 2 + i]
    for back in range(n):
        i = n - 1 - back
        row = i * (i + 1) // 2
        value = x[i]
        for j in range(i):
            x[j] -= factors[row + j] * value


@dt.func
def multiply(a, x, y, n):
    """Set y to A x."""
    for i in range(n):
        row = i * (i + 1) // 2
        total = 0.0
        for j in range(i):
            total += a[row + j] * x[j]
            y[j] += a[row + j] * x[i]
        y[i] = total + a[row + i] * x[i]


@dt.func
def eliminate(a, x, n):
    """Replace x by the solution of A y = x, and the square matrix A, near a positive one, by U."""
    for k in range(n):
        for i in range(k + 1, n):
            ratio = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= ratio * a[k, j]
            x[i] -= ratio * x[k]
    for back in range(n):
        i = n - 1 - back
        total = x[i]
        for j in range(i + 1, n):
            total -= a[i, j] * x[j]
        x[i] = total / a[i, i]


@dt.func
def factored(a, factors, n):
    """Set factors to those of a packed matrix, without a derivative; see `solution_of`."""
    for e in range(n * (n + 1) // 2):
        factors[e] = a[e]
    factor(factors, n)


@factored.backward
def _(a, factors, n):
    pass


@dt.func
def solution_of(a, factors, b, x, n):
    """Set x to A^-1 b, with the factors of A, and the derivative by A and b."""
    for i in range(n):
        x[i] = b[i]
    solve(factors, x, n)


@solution_of.backward
def _(a, factors, b, x, n):
    y = dt.local(b.shape)
    for i in range(n):
        y[i] = x.grad_in[i]
    solve(factors, y, n)
    for i in range(n):
        b.grad_out[i] += y[i]
        for j in range(i):
            a.grad_out[i * (i + 1) // 2 + j] -= y[i] * x[j] + y[j] * x[i]
        a.grad_out[i * (i + 1) // 2 + i] -= y[i] * x[i]
