"""Common factors leave sums, and only where that saves a product."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@dt.kernel
def products(a, u, v, y):
    for i in u:
        y[i] = a[i] @ u[i] - (a[i] @ v[i] - a[i] @ (u[i] * v[i]))


@dt.kernel
def scaled(a, u, v, y):
    for i in u:
        s = a[i][0, 0]
        y[i] = u[i] * s + v[i] * s - (u[i] * v[i]) * s


@dt.kernel
def two_uses(a, u, v, y):
    for i in u:
        first = a[i] @ u[i]
        y[i] = first + a[i] @ v[i]
        v[i] = first


@pytest.mark.parametrize(
    ("kernel", "sign", "count"), [(products, " @ ", 1), (scaled, " * ", 2), (two_uses, " @ ", 2)]
)
def test_products_that_are_left(kernel: dt.Kernel, sign: str, count: int) -> None:
    rng = np.random.default_rng(0)
    a = dt.from_numpy(rng.normal(size=(4, 2, 2)), dtype=dt.mat(2, 2, ti.f64))
    u, v = (dt.from_numpy(rng.normal(size=(4, 2)), dtype=dt.vec(2, ti.f64)) for _ in range(2))
    y = dt.zeros_like(u)
    m, p, q = a.to_numpy(), u.to_numpy(), v.to_numpy()
    kernel(a, u, v, y)
    assert kernel.source().count(sign) == count, kernel.source()
    by = {
        products: np.einsum("nij,nj->ni", m, p - q + p * q),
        scaled: m[:, :1, 0] * (p + q - p * q),
        two_uses: np.einsum("nij,nj->ni", m, p + q),
    }
    np.testing.assert_allclose(y.to_numpy(), by[kernel], rtol=1e-12)
