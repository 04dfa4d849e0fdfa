"""Linear algebra of small matrices: errors where they are ill-conditioned, and singular ones.

A solution is as good as it can be where its residual is a few rounding errors, however large the
condition number: Higham 2002, Accuracy and Stability of Numerical Algorithms, section 7.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt

COUNT = 400


@dt.kernel
def solved(a, b, x, inverse, lower, upper):
    for i in a:
        x[i] = dt.solve(a[i], b[i])
        inverse[i] = dt.inverse(a[i])
        lower[i] = dt.solve_triangular(a[i], b[i])
        upper[i] = dt.solve_triangular(a[i], b[i], lower=False)


@dt.kernel
def factored(a, low):
    for i in a:
        low[i] = dt.cholesky(a[i])


def _field(values: Any, dtype: Any) -> Any:
    data = np.asarray(values, dtype)
    scalar = ti.f32 if dtype == np.float32 else ti.f64
    rows, *columns = data.shape[1:]
    element = dt.mat(rows, columns[0], scalar) if columns else dt.vec(rows, scalar)
    return dt.from_numpy(data, dtype=element, grad=True)


def _conditioned(rng: np.random.Generator, n: int, digits: float) -> npt.NDArray[Any]:
    """Return matrices whose singular values fall from 1 to 10^-digits."""
    u, v = (np.linalg.qr(rng.normal(size=(COUNT, n, n)))[0] for _ in range(2))
    return (u * 10.0 ** -np.linspace(0, digits, n)) @ v


def _size(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.sqrt(np.sum(values**2, axis=tuple(range(1, values.ndim))))


def _backward(a: npt.NDArray[Any], x: npt.NDArray[Any], b: npt.NDArray[Any], eps: float) -> float:
    rest = np.einsum("mij,mj->mi", a, x) - b
    return float(np.max(_size(rest) / (_size(a) * _size(x) + _size(b)))) / eps


@pytest.mark.parametrize("n", [2, 3, 4, 8])
@pytest.mark.parametrize(("dtype", "digits"), [(np.float32, 5), (np.float64, 12)])
def test_residuals_are_rounding_errors(n: int, dtype: Any, digits: float) -> None:
    rng = np.random.default_rng(n)
    a, b = _conditioned(rng, n, digits).astype(dtype), rng.normal(size=(COUNT, n)).astype(dtype)
    zero, eps = np.zeros_like(b), float(np.finfo(dtype).eps)
    fields = [_field(v, dtype) for v in (a, b, zero, np.zeros_like(a), zero, zero)]
    solved(*fields)
    x, inverse, lower, upper = (f.to_numpy().astype(np.float64) for f in fields[2:])
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    assert _backward(a64, x, b64, eps) <= 4
    assert _backward(np.tril(a64), lower, b64, eps) <= 4
    assert _backward(np.triu(a64), upper, b64, eps) <= 4
    if n >= 4:  # below it cofactors are taken
        residual = a64 @ inverse - np.eye(n)
        assert np.max(_size(residual) / (_size(a64) * _size(inverse))) <= 8 * eps


@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize(("dtype", "digits"), [(np.float32, 2), (np.float64, 6)])
def test_a_factor_multiplies_back(n: int, dtype: Any, digits: float) -> None:
    a = _conditioned(np.random.default_rng(n), n, digits)
    a = (a @ a.transpose(0, 2, 1)).astype(dtype)
    low = _field(np.zeros_like(a), dtype)
    factored(_field(a, dtype), low)
    z = low.to_numpy().astype(np.float64)
    rest = z @ z.transpose(0, 2, 1) - a
    assert np.max(_size(rest) / _size(a)) <= n * float(np.finfo(dtype).eps)
    assert not np.any(np.triu(z, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_singular_matrices_give_no_numbers(dtype: Any) -> None:
    a = np.zeros((3, 4, 4), dtype)
    a[1], a[2] = 1, np.diag([1, 2, 3, 0])
    b = np.ones((3, 4), dtype)
    fields = [_field(v, dtype) for v in (a, b, b, a, b, b)]
    with dt.Tape() as tape:
        solved(*fields)
    x, inverse = (f.to_numpy() for f in fields[2:4])
    tape.backward({fields[2]: 1.0})
    for values in (x, inverse, fields[0].grad.to_numpy(), fields[1].grad.to_numpy()):
        assert not np.any(np.all(np.isfinite(values.reshape(3, -1)), axis=1))
    indefinite = _field([[[1, 2], [2, 1]]], dtype)
    low = _field(np.zeros((1, 2, 2)), dtype)
    factored(indefinite, low)
    assert np.isnan(low.to_numpy()[0, 1, 1])


def test_python_has_the_same_functions() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(5, 5)) + 5 * np.eye(5), rng.normal(size=(5, 2))
    np.testing.assert_allclose(a @ dt.solve(a, b), b)
    np.testing.assert_allclose(np.tril(a) @ dt.solve_triangular(a, b[:, 0]), b[:, 0])
    np.testing.assert_allclose(np.triu(a) @ dt.solve_triangular(a, b, lower=False), b)
    np.testing.assert_allclose(a @ dt.inverse(a), np.eye(5), atol=1e-14)
    low = dt.cholesky([[4, 2], [2, 3]])
    np.testing.assert_allclose(low, [[2, 0], [1, np.sqrt(2)]])
    assert np.isnan(dt.solve([[0, 0], [0, 0]], [1, 1])).all()


def test_sixteen_rows() -> None:
    n = 16
    rng = np.random.default_rng(3)
    matrix, side = rng.uniform(-1, 1, (1, n, n)) + 6 * np.eye(n), rng.uniform(-1, 1, (1, n))

    @dt.kernel
    def solved(a, b, x, y):
        for i in a:
            x[i] = dt.solve(a[i], b[i])
            y[i] = ti.log(a[i].determinant())

    a = dt.from_numpy(matrix, dt.mat(n, n, ti.f64), grad=True)
    b = dt.from_numpy(side, dt.vec(n, ti.f64), grad=True)
    x, y = dt.zeros(1, dt.vec(n, ti.f64), grad=True), dt.zeros(1, ti.f64, grad=True)
    weights = rng.uniform(-1, 1, (1, n))
    with dt.Tape() as tape:
        solved(a, b, x, y)
    tape.backward({x: weights, y: np.ones(1)})
    known, back = np.linalg.solve(matrix[0], side[0]), np.linalg.solve(matrix[0].T, weights[0])
    np.testing.assert_allclose(x.to_numpy()[0], known, rtol=1e-12)
    np.testing.assert_allclose(y[0], np.linalg.slogdet(matrix[0])[1], rtol=1e-12)
    np.testing.assert_allclose(b.grad.to_numpy()[0], back, rtol=1e-12)
    slope = np.linalg.inv(matrix[0]).T - np.outer(back, known)
    np.testing.assert_allclose(a.grad.to_numpy()[0], slope, rtol=1e-11, atol=1e-12)
