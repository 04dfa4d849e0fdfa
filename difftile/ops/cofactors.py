"""Determinants and cofactors of matrices above 4x4, in NumPy.

Gaussian elimination (Golub and Van Loan, Matrix Computations, 4th ed., section 3.4). Cofactors are
finite at a singular matrix, where the determinant has a derivative and the inverse does not exist:
with complete pivoting P A Q = L U, only the last pivot of a matrix of rank n - 1 is 0, and

    adj(U) = d [[u_nn U11^-1, -U11^-1 u], [0, 1]],   d = det U11,   U = [[U11, u], [0, u_nn]]

does not divide by it. `substrate.family.dense` holds the same steps for kernels. Every step is
analytic and takes its decisions by absolute values, so that the complex step goes through.
"""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy  # what its stubs know differs from version to version


def cofactors(a: Any) -> Any:
    """Return the matrix of cofactors: the derivative of the determinant."""
    n = len(a)
    u, x = np.array(a), np.eye(n, dtype=np.result_type(a))
    columns = np.arange(n)
    factor = np.ones((), np.result_type(a))
    for k in range(n - 1):
        size = np.abs(u[k:, k:].real)
        i, j = (k + at for at in np.unravel_index(np.argmax(size), size.shape))
        for one in (u, x):
            one[[k, i]] = one[[i, k]]
        u[:, [k, j]] = u[:, [j, k]]
        columns[[k, j]] = columns[[j, k]]
        factor = factor * u[k, k] * (-1 if (i != k) != (j != k) else 1)
        if u[k, k] == 0:  # the rank is below n - 1
            return np.zeros_like(u)
        for row in range(k + 1, n):
            share = u[row, k] / u[k, k]
            u[row, k:] -= share * u[k, k:]
            x[row] -= share * x[k]
    last = n - 1
    x[:last] = u[last, last] * x[:last] - np.outer(u[:last, last], x[last])
    for row in reversed(range(last)):
        for k in range(row + 1, last):
            x[row] -= u[row, k] * x[k]
        x[row] = x[row] / u[row, row]
    z = np.empty_like(x)
    z[:, columns] = (factor * x).T
    return z
