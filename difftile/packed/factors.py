"""Symmetric systems: A = L^T D L, and the solution of A x = b with these factors.

Entry (i, j) of a lower triangle, j <= i, is at i (i + 1) / 2 + j. The order of elimination, last
row first, makes no new entries where a tree says which entries are not zero (Featherstone, Rigid
Body Dynamics Algorithms, 2008, tables 6.3 and 6.5). Sizes are loops: compiling takes as long for
n = 64 as for n = 2.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.packed.dense import WIDE, eliminate, gradient


@dt.func
def above(i, parent):
    """Return the next row that row i has an entry with: its parent in the tree."""
    found = i - 1
    if ti.static(parent is not None):
        found = parent[i]
    return found


@dt.func
def factor(A, F, n, parent=None):
    """Factor a symmetric matrix: A = L^T D L, where L is lower triangular with a unit diagonal.

    There is no pivoting: A must be positive definite, or have leading minors from the end that are
    not zero. Where one is zero, the factors are infinite or NaN.

    Args:
        A: The lower triangle by rows, n (n + 1) / 2 entries.
        F: Result, in the same form: D on the diagonal, and L below it. It may be A itself where
            no gradient passes.
        n: The rows.
        parent: Of a tree: for each row i the next row j < i with which it has an entry, or a
            negative number. Entries of rows that are not above each other are zero and are
            not read. Without it all entries count.
    """
    for e in range(n * (n + 1) // 2):
        F[e] = A[e]
    if ti.static(parent is None and n >= WIDE):
        eliminate(F, n)
    else:
        eliminate_in_tree(F, n, parent)


@dt.func
def eliminate_in_tree(F, n, parent):
    """Replace the entries of rows that are above each other by their factors."""
    for step in range(n):
        k = n - 1 - step
        row = k * (k + 1) // 2
        i = above(k, parent)
        while i >= 0:
            entry = F[row + i] / F[row + k]
            j = i
            while j >= 0:
                F[i * (i + 1) // 2 + j] -= entry * F[row + j]
                j = above(j, parent)
            F[row + i] = entry
            i = above(i, parent)


@factor.backward
def _(A, F, n, parent):
    G = dt.local(n * (n + 1) // 2)
    for e in range(n * (n + 1) // 2):
        G[e] = F.grad_in[e]
    if ti.static(parent is None and n >= WIDE):
        gradient(F, G, n)
        for e in range(n * (n + 1) // 2):
            A.grad_out[e] += G[e]
    else:
        gradient_in_tree(F, G, n, parent)
        for k in range(n):
            i = k
            while i >= 0:
                A.grad_out[k * (k + 1) // 2 + i] += G[k * (k + 1) // 2 + i]
                i = above(i, parent)


@dt.func
def gradient_in_tree(F, G, n, parent):
    """Do what `dense.gradient` does for the entries of rows that are above each other."""
    w = dt.local(n)
    for k in range(n):
        row = k * (k + 1) // 2
        i = above(k, parent)
        while i >= 0:
            w[i] = 0.0
            i = above(i, parent)
        i = above(k, parent)
        while i >= 0:
            j = i
            while j >= 0:
                entry = G[i * (i + 1) // 2 + j]
                w[i] += entry * F[row + j]
                w[j] += entry * F[row + i]
                j = above(j, parent)
            i = above(i, parent)
        pivot = G[row + k]
        i = above(k, parent)
        while i >= 0:
            entry = G[row + i] / F[row + k]
            pivot += F[row + i] * (0.5 * w[i] - entry)
            G[row + i] = entry - w[i]
            i = above(i, parent)
        G[row + k] = pivot


@factor.forward
def _(A, F, n, parent):
    H, H_dot = dt.local(n * (n + 1) // 2), dt.local(n * (n + 1) // 2)
    for e in range(n * (n + 1) // 2):
        H[e] = A[e]
        H_dot[e] = A.grad_out[e]
    for step in range(n):
        k = n - 1 - step
        row = k * (k + 1) // 2
        i = above(k, parent)
        while i >= 0:
            entry = F[row + i]
            entry_dot = (H_dot[row + i] - entry * H_dot[row + k]) / F[row + k]
            j = i
            while j >= 0:
                at = i * (i + 1) // 2 + j
                H[at] -= entry * H[row + j]
                H_dot[at] -= entry_dot * H[row + j] + entry * H_dot[row + j]
                j = above(j, parent)
            i = above(i, parent)
        i = above(k, parent)
        while i >= 0:
            F.grad_in[row + i] = (H_dot[row + i] - F[row + i] * H_dot[row + k]) / F[row + k]
            i = above(i, parent)
        F.grad_in[row + k] = H_dot[row + k]


@dt.func
def solve(F, b, x, n, parent=None):
    """Solve A x = b with the factors of A.

    Args:
        F: The factors, from `factor`.
        b: The right-hand side, n entries.
        x: Result, n entries. It may be b itself where no gradient passes.
        n: The rows.
        parent: The tree, as for `factor`.
    """
    for i in range(n):
        x[i] = b[i]
    for step in range(n):  # L^-T
        k = n - 1 - step
        i = above(k, parent)
        while i >= 0:
            x[i] -= F[k * (k + 1) // 2 + i] * x[k]
            i = above(i, parent)
    for k in range(n):  # D^-1, then L^-1
        row = k * (k + 1) // 2
        total = x[k] / F[row + k]
        i = above(k, parent)
        while i >= 0:
            total -= F[row + i] * x[i]
            i = above(i, parent)
        x[k] = total


@solve.backward
def _(F, b, x, n, parent):
    # With y = L x and z = L A^-1 x_bar, the factors have the gradient of -x^T L^T D L A^-1 x_bar.
    x_bar, s = dt.local(n), dt.local(n)
    for i in range(n):
        x_bar[i] = x.grad_in[i]
    solve(F, x_bar, s, n, parent)
    for k in range(n):
        row = k * (k + 1) // 2
        y, z = x[k], s[k]
        i = above(k, parent)
        while i >= 0:
            y += F[row + i] * x[i]
            z += F[row + i] * s[i]
            i = above(i, parent)
        i = above(k, parent)
        while i >= 0:
            F.grad_out[row + i] -= F[row + k] * (z * x[i] + y * s[i])
            i = above(i, parent)
        F.grad_out[row + k] -= y * z
        b.grad_out[k] += s[k]


@solve.forward
def _(F, b, x, n, parent):
    # A x_dot = b_dot - A_dot x, where A = L^T D L and y = L x.
    r, x_dot = dt.local(n), dt.local(n)
    for k in range(n):
        r[k] = b.grad_out[k]
    for k in range(n):
        row = k * (k + 1) // 2
        y, y_dot = x[k], 0.0
        i = above(k, parent)
        while i >= 0:
            y += F[row + i] * x[i]
            y_dot += F.grad_out[row + i] * x[i]
            i = above(i, parent)
        scaled = F.grad_out[row + k] * y + F[row + k] * y_dot
        r[k] -= scaled
        i = above(k, parent)
        while i >= 0:
            r[i] -= F.grad_out[row + i] * F[row + k] * y + F[row + i] * scaled
            i = above(i, parent)
    solve(F, r, x_dot, n, parent)
    for i in range(n):
        x.grad_in[i] = x_dot[i]
