"""Maxima over iterations of values that the loop computes: who wins, in every mode."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@dt.kernel
def best_row(x, w, m):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * w[j]
        ti.atomic_max(m[None], ti.sqrt(ti.abs(s)) * ti.sin(s))


@pytest.mark.parametrize("seed", range(8))
def test_some_contender_wins_in_single_precision(seed: int) -> None:
    """Sums under fast math are rounded as each loop is vectorised; equal rows share."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(int(rng.integers(1, 3000)), 37)).astype(np.float32)
    w = rng.normal(size=37).astype(np.float32)
    s = x.astype(np.float64) @ w.astype(np.float64)
    found = np.sqrt(np.abs(s)) * np.sin(s)
    best = int(np.argmax(found))
    twin = (best + 1) % len(x)
    x[twin] = x[best]
    rows, weights = dt.from_numpy(x, grad=True), dt.from_numpy(w, grad=True)
    m = dt.full((), -9.0, grad=True)
    with dt.Tape(m):
        best_row(rows, weights, m)
    root = np.sqrt(abs(s[best]))
    slope = root * np.cos(s[best]) + np.sin(s[best]) / (2 * root) * np.sign(s[best])
    np.testing.assert_allclose(weights.grad.to_numpy(), slope * x[best], rtol=1e-3, atol=1e-4)
    grad = rows.grad.to_numpy()
    winners = set(np.flatnonzero(grad.any(axis=1)).tolist())
    assert winners == {best, twin}
    np.testing.assert_array_equal(grad[best], grad[twin])


@dt.kernel
def tallest(x, m):
    for i, j in x:
        ti.atomic_max(m[j], ti.exp(x[i, j]) * ti.sin(x[i, j] + x[i, (j + 1) % 3]))


def tops(x: dt.Field) -> dt.Field:
    m = dt.full(3, -9.0, dtype=ti.f64)
    tallest(x, m)
    return m


def test_jacobians_and_second_derivatives() -> None:
    x = np.random.default_rng(1).uniform(-1, 1, (6, 3))
    jacobian = dt.jacrev(tops)(x)
    np.testing.assert_allclose(jacobian, dt.jacfwd(tops)(x), atol=1e-14)
    assert (np.count_nonzero(jacobian, axis=(1, 2)) == 2).all()

    def numpy_tops(x: np.ndarray) -> np.ndarray:
        return (np.exp(x) * np.sin(x + np.roll(x, -1, axis=1))).max(axis=0)

    v = np.random.default_rng(2).uniform(-1, 1, x.shape)
    along = (numpy_tops(x + 1e-6 * v) - numpy_tops(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(np.tensordot(jacobian, v, 2), along, rtol=1e-7)

    def energy(x: dt.Field) -> dt.Field:
        m, total = tops(x), dt.zeros((), dtype=ti.f64)
        squares(m, total)
        return total

    gradient = dt.grad(energy)
    slopes = (gradient(x + 1e-5 * v) - gradient(x - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(dt.hvp(energy, x, v), slopes, rtol=1e-6, atol=1e-8)


@dt.kernel
def squares(m, total):
    for i in m:
        total[None] += m[i] * m[i]
