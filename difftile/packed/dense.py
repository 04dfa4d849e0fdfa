"""The elimination of wide matrices without a tree, and its adjoint.

In loops whose turns touch elements of their own, or add up numbers: lanes of a warp can share them,
and they are vector instructions on a CPU.
"""

from __future__ import annotations

import difftile as dt

WIDE = 12
"""The rows from which on vectors pay.

4,096 matrices of 8, 12, 20 and 30 rows take 1.6, 1.1, 0.8 and 0.7 times as long as with the loops
for trees, and their adjoint 1.3, 1.0, 0.6 and 0.6 (two cores, f32).
"""


@dt.func
def eliminate(F, n):
    """Replace a matrix by its factors L^T D L: see `factors.factor`."""
    w = dt.local(n)
    for step in range(n):
        k = n - 1 - step
        row = k * (k + 1) // 2
        pivot = F[row + k]
        for j in range(k):
            w[j] = F[row + j]
        for i in range(k):
            first = i * (i + 1) // 2
            entry = w[i] / pivot
            for j in range(i + 1):
                F[first + j] -= entry * w[j]
        for j in range(k):
            F[row + j] = w[j] / pivot


@dt.func
def gradient(F, G, n):
    """Replace the gradient by the factors in G by that by the entries of the matrix.

    Row k of it becomes the gradient by the entries that step k of the elimination found there; each
    is an entry of the matrix less what later rows took away.
    """
    w = dt.local(n)
    for k in range(n):
        row = k * (k + 1) // 2
        for i in range(k):
            w[i] = 0.0
        for i in range(k):  # w is the product of a symmetric matrix and row k of L
            first = i * (i + 1) // 2
            left = F[row + i]
            total = 0.0
            for j in range(i + 1):
                entry = G[first + j]
                w[j] += entry * left
                total += entry * F[row + j]
            w[i] += total
        diagonal = F[row + k]
        pivot = G[row + k]
        for i in range(k):
            entry = G[row + i] / diagonal
            pivot += F[row + i] * (0.5 * w[i] - entry)
            G[row + i] = entry - w[i]
        G[row + k] = pivot
