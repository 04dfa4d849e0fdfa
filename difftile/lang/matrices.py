"""Decompositions and systems of small matrices: `ti.svd`, `ti.eig`, `ti.solve`."""

from __future__ import annotations

from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.ir.types import numpy_dtype
from difftile.lang.evaluate import evaluate, floats
from difftile.lang.type_objects import scalar_named
from difftile.lang.values import apply, array_of, wrapped


def svd(A: Any, dt: Any = None) -> tuple[Any, Any, Any]:
    """Return U, S and V of a 2x2 or 3x3 matrix A = U S V^T, with the diagonal matrix S."""
    left, values, right = _unpacked("svd", A, dt, "mvm")
    return left, wrapped(np.diag(values.to_numpy())), right


def sym_eig(A: Any, dt: Any = None) -> tuple[Any, Any]:
    """Return the eigenvalues of a symmetric 2x2 or 3x3 matrix, and the eigenvectors in columns."""
    values, vectors = _unpacked("sym_eig", A, dt, "vm")
    return values, vectors


def polar_decompose(A: Any, dt: Any = None) -> tuple[Any, Any]:
    """Return the rotation U and the symmetric P of a 2x2 or 3x3 matrix A = U P."""
    turn, stretch = _unpacked("polar", A, dt, "mm")
    return turn, stretch


def eig(A: Any, dt: Any = None) -> tuple[Any, Any]:
    """Return the eigenvalues of a 2x2 matrix as rows (re, im), and the eigenvectors in columns."""
    matrix = _matrix(A, dt)
    if matrix.shape != (2, 2):
        raise LaunchError("'ti.eig' takes a 2x2 matrix; 'ti.sym_eig' a symmetric 3x3 one too.")
    a, b, c, d = matrix.ravel()
    m, p = (a + d) / 2, (a - d) / 2
    w = p * p + b * c
    signs = (matrix.dtype.type(1), matrix.dtype.type(-1))
    values = [evaluate("eig_value", (m, w, s), shaped_arrays=True) for s in signs]
    vectors = [evaluate("eig_vector", (p, w, b, c, s), shaped_arrays=True) for s in signs]
    return wrapped(np.stack(values)), wrapped(np.stack(vectors, axis=1))


def solve(A: Any, b: Any, dt: Any = None) -> Any:
    """Return x with A @ x = b; NaN for a singular matrix."""
    return apply("solve", _matrix(A, dt), array_of(b))


def _unpacked(op: str, matrix: Any, dt: Any, kinds: str) -> list[Any]:
    """Return the results of a decomposition: "m" a matrix, "v" a vector."""
    value = _matrix(matrix, dt)
    packed = evaluate(op, (value,), shaped_arrays=True)
    n, at = len(value), 0
    found: list[Any] = []
    for kind in kinds:
        size = n * n if kind == "m" else n
        part = packed[at : at + size]
        found.append(wrapped(part.reshape(n, n) if kind == "m" else part))
        at += size
    return found


def _matrix(matrix: Any, dt: Any) -> Any:
    (value,) = floats([array_of(matrix)])
    return value if dt is None else value.astype(numpy_dtype(scalar_named(dt)))
