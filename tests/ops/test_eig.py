"""Eigenvalues of any 2x2 matrix: in NumPy, in Taichi, and their derivatives."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt

SPECIAL = np.array(
    [
        *([[1, 0], [0, 2]], [[2, 0], [0, 1]], [[3, 0], [0, 3]], [[0, 0], [0, 0]]),
        *([[1, 5], [0, 1]], [[1, 0], [5, 1]], [[1, 2], [0, 3]], [[3, 2], [0, 1]]),
        *([[0, 1], [-1, 0]], [[1, 1e-20], [-1e-20, 3]], [[1, 1e-12], [1e-12, 2]]),
        *([[2, 1e-300], [1, 1]], [[1, -4], [1, 5]], [[1e5, 1], [1, -1e5]]),
    ],
    np.float64,
)


@dt.kernel
def eigen(a, values, vectors):
    for i in a:
        values[i], vectors[i] = ti.eig(a[i])


@ti.kernel
def of_taichi(a: ti.types.ndarray(), values: ti.types.ndarray(), vectors: ti.types.ndarray()):
    for i in range(a.shape[0]):
        m = ti.Matrix([[a[i, 0, 0], a[i, 0, 1]], [a[i, 1, 0], a[i, 1, 1]]], dt=ti.f64)
        v, w = ti.eig(m, ti.f64)
        for r, c in ti.static(ti.ndrange(2, 2)):
            values[i, r, c] = v[r, c]
        for r, c in ti.static(ti.ndrange(4, 2)):
            vectors[i, r, c] = w[r, c]


def made(a: npt.NDArray[Any], dtype: Any = ti.f64) -> tuple[dt.Field, dt.Field, dt.Field]:
    """Return fields of matrices, their eigenvalues and their eigenvectors."""
    matrices = dt.from_numpy(a, dtype=dt.mat(2, 2, dtype), grad=True)
    values = dt.zeros(len(a), dtype=dt.mat(2, 2, dtype), grad=True)
    vectors = dt.zeros(len(a), dtype=dt.mat(4, 2, dtype), grad=True)
    return matrices, values, vectors


def complex_ones(values: Any, vectors: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return pairs of numbers as complex ones."""
    v, w = np.asarray(values, np.float64), np.asarray(vectors, np.float64)
    return v[:, :, 0] + 1j * v[:, :, 1], w[:, 0::2] + 1j * w[:, 1::2]


def test_vectors_are_eigenvectors_of_length_one() -> None:
    a = np.concatenate([SPECIAL, np.random.default_rng(0).normal(size=(500, 2, 2))])
    for dtype, eps in ((ti.f64, 1e-15), (ti.f32, 5e-7)):
        matrices, values, vectors = made(a, dtype)
        eigen(matrices, values, vectors)
        held = matrices.to_numpy().astype(np.float64)
        found, w = complex_ones(values.to_numpy(), vectors.to_numpy())
        size = np.abs(held).max(axis=(1, 2)) + 1e-300
        residual = np.abs(held @ w - w * found[:, None, :]).max(axis=(1, 2))
        assert (residual <= 4 * eps * size).all()
        np.testing.assert_allclose(np.linalg.norm(w, axis=1), 1, rtol=4 * eps)


@pytest.mark.taichi
def test_signs_and_order_are_those_of_taichi() -> None:
    a = np.concatenate([SPECIAL, np.random.default_rng(1).normal(size=(500, 2, 2))])
    matrices, values, vectors = made(a)
    eigen(matrices, values, vectors)
    theirs = np.zeros((len(a), 2, 2)), np.zeros((len(a), 4, 2))
    of_taichi(a, *theirs)
    defined = np.isfinite(theirs[1]).all(axis=(1, 2))
    assert defined[len(SPECIAL) :].all()
    for mine, other in zip((values, vectors), theirs, strict=True):
        np.testing.assert_allclose(mine.to_numpy()[defined], other[defined], atol=1e-4, rtol=1e-6)


@dt.kernel
def mixed(a, w, loss):
    for i in a:
        values, vectors = ti.eig(a[i])
        loss[None] += (values * w[i]).sum() * vectors[0, 0] + (vectors @ w[i])[3, 1] ** 2
        loss[None] += vectors[1, 0] * vectors[2, 1] * values[1, 0]


def test_derivatives_are_those_of_differences() -> None:
    """Real and complex eigenvalues, triangular matrices, and ones that are not normal."""
    rng = np.random.default_rng(2)
    a = np.concatenate([SPECIAL[[0, 1, 6, 7, 8]], rng.normal(size=(40, 2, 2))])
    w = dt.from_numpy(rng.normal(size=a.shape), dtype=dt.mat(2, 2, ti.f64))

    def loss(a: dt.Field) -> dt.Field:
        total = dt.zeros((), dtype=ti.f64)
        mixed(a, w, total)
        return total

    matrices = made(a)[0]
    gradient = dt.grad(loss)(matrices).to_numpy()
    assert np.isfinite(gradient).all()
    direction = rng.normal(size=a.shape)
    direction[[2, 3], 1, 0] = 0  # triangular ones stay so: else the sign of a vector may change
    direction[:2] = 0
    step = 1e-6

    def at(h: float) -> float:
        return float(loss(made(a + h * direction)[0])[None])

    slope = (8 * (at(step) - at(-step)) - at(2 * step) + at(-2 * step)) / (12 * step)
    np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=1e-7)


def test_equal_eigenvalues_have_a_finite_gradient() -> None:
    """What splits them counts as 0, so that their mean keeps its derivative."""
    matrices, values, vectors = made(SPECIAL[[2, 3, 4, 5, 12]])
    with dt.Tape() as tape:
        eigen(matrices, values, vectors)
    tape.backward({values: np.tile([[1.0, 0.0], [0.0, 0.0]], (5, 1, 1))})
    expected = np.tile(np.eye(2) / 2, (5, 1, 1))
    np.testing.assert_array_equal(matrices.grad.to_numpy(), expected)
