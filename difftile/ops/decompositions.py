"""Singular values, eigenvalues and polar factors of 2x2 and 3x3 matrices, in NumPy.

Jacobi's method: Golub and Van Loan, Matrix Computations (4th ed.), sections 8.5 and 8.6.3. Every
step is analytic and takes its decisions by real parts, so that the complex step goes through.
`substrate.family.linalg` holds the same steps for kernels; signs and order come out the same.
"""

from __future__ import annotations

from typing import Any

import numpy

np: Any = numpy  # what its stubs know differs from version to version

_SWEEPS = 16  # the tangents of the complex step converge after the values
_TINY = 1e-14


def svd(a: Any) -> Any:
    """Return U, the singular values and V in one vector, with a = U diag(s) V^T.

    V is a rotation. The singular values fall. For 2x2 they are not negative and U may reflect; for
    3x3 U is a rotation and the last singular value has the sign of the determinant.
    """
    b, v = np.array(a), np.eye(len(a), dtype=np.result_type(a))
    for _ in range(_SWEEPS):
        for p, q in _pairs(len(a)):
            turn = _turn(b[:, p] @ b[:, p], b[:, q] @ b[:, q], b[:, p] @ b[:, q])
            _rotate(b, p, q, turn)
            _rotate(v, p, q, turn)
    for p, q in _pairs(len(a)):
        if _size(b[:, p]).real < _size(b[:, q]).real:
            _swap(b, p, q)
            _swap(v, p, q)
    u = np.empty_like(b)
    u[:, 0] = _unit(b[:, 0], np.eye(len(a))[0])
    if len(a) == 2:
        u[:, 1] = -u[1, 0], u[0, 0]
        u[:, 1] *= np.where((u[:, 1] @ b[:, 1]).real < 0, -1, 1)
    else:
        normal = b[:, 1] - (u[:, 0] @ b[:, 1]) * u[:, 0]
        if _size(normal).real <= _TINY * _size(b[:, 0]).real:  # any direction normal to the first
            normal = np.cross(u[:, 0], np.eye(3)[np.argmin(np.abs(u[:, 0].real))])
        u[:, 1] = _unit(normal, np.eye(3)[1])
        u[:, 2] = np.cross(u[:, 0], u[:, 1])
    return np.concatenate([u.ravel(), np.sum(u * b, axis=0), v.ravel()])


def sym_eig(a: Any) -> Any:
    """Return the eigenvalues of (a + a^T) / 2 and its eigenvectors, as columns, in one vector.

    The eigenvectors form a rotation. As in Taichi the eigenvalues fall for 2x2 and rise for 3x3.
    """
    b, q = (a + a.T) / 2, np.eye(len(a), dtype=np.result_type(a))
    for _ in range(_SWEEPS):
        for i, j in _pairs(len(a)):
            turn = _turn(b[i, i], b[j, j], b[i, j])
            _rotate(b, i, j, turn)
            _rotate(b.T, i, j, turn)
            _rotate(q, i, j, turn)
    values = np.diag(b).copy()
    for i, j in _pairs(len(a)):
        if (values[i].real < values[j].real) == (len(a) == 2):
            values[[i, j]] = values[[j, i]]
            _swap(q, i, j)
    return np.concatenate([values, q.ravel()])


def polar(a: Any) -> Any:
    """Return U and P in one vector, with a = U P, U orthogonal and P symmetric.

    For 2x2 U reflects where the determinant is negative; for 3x3 U is a rotation and P then has a
    negative eigenvalue.
    """
    if len(a) == 2:
        sign = np.where(np.linalg.det(a.real) < 0, -1, 1)
        first = np.array([a[0, 0] + sign * a[1, 1], a[1, 0] - sign * a[0, 1]])
        c, s = _unit(first, np.array([1.0, 0.0]))
        u = np.array([[c, -sign * s], [s, sign * c]])
    elif np.linalg.det(a.real) > 0:
        # Newton's method (Higham 2008, Functions of Matrices, section 8.3): unlike the singular
        # vectors the factors are smooth where singular values are equal.
        u = a
        for _ in range(100):
            u = (u + np.linalg.inv(u).T) / 2
    else:
        parts = svd(a)
        u = parts[:9].reshape(3, 3) @ parts[12:].reshape(3, 3).T
    p = u.T @ a
    return np.concatenate([u.ravel(), ((p + p.T) / 2).ravel()])


def _pairs(n: int) -> list[tuple[int, int]]:
    return [(0, 1)] if n == 2 else [(0, 1), (0, 2), (1, 2)]


def _size(v: Any) -> Any:
    return np.sqrt(np.sum(v * v))


def _unit(v: Any, otherwise: Any) -> Any:
    return v / _size(v) if _size(v) != 0 else otherwise


def _turn(first: Any, second: Any, mixed: Any) -> tuple[Any, Any]:
    """Return the cosine and the sine of the smaller turn that makes `mixed` zero."""
    apart = second - first
    root = np.sqrt(apart * apart + 4 * mixed * mixed)
    below = apart - root if apart.real < 0 else apart + root
    tangent = 2 * mixed / below if below != 0 else 0 * mixed
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    return cosine, cosine * tangent


def _rotate(b: Any, p: int, q: int, turn: tuple[Any, Any]) -> None:
    c, s = turn
    b[:, p], b[:, q] = c * b[:, p] - s * b[:, q], s * b[:, p] + c * b[:, q]


def _swap(b: Any, p: int, q: int) -> None:
    """Swap two columns; one changes its sign, so that a rotation stays one."""
    b[:, p], b[:, q] = b[:, q].copy(), -b[:, p]
