"""Products of symmetric matrices and vectors."""

from __future__ import annotations

import difftile as dt
from difftile.packed.factors import above


@dt.func
def multiply(A, x, y, n, parent=None):
    """Add A x to y.

    Args:
        A: The lower triangle by rows, n (n + 1) / 2 entries.
        x: A vector of n entries.
        y: What the product is added to: n entries.
        n: The rows.
        parent: The tree, as for `factor`.
    """
    for i in range(n):
        row = i * (i + 1) // 2
        y[i] += A[row + i] * x[i]
        j = above(i, parent)
        while j >= 0:
            y[i] += A[row + j] * x[j]
            y[j] += A[row + j] * x[i]
            j = above(j, parent)
