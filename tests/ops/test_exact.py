"""`dt.exact` keeps compensated arithmetic as it is written, bit by bit."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt

Floats = npt.NDArray[Any]


@dt.func
def two_sum(a, b):
    """Knuth, The Art of Computer Programming 2, 4.2.2, theorem B."""
    s = a + b
    a_part = s - b
    return s, (a - a_part) + (b - (s - a_part))


@dt.kernel
def common_factor(a, u, v, y):
    for i in u:
        y[i] = dt.exact(a[i] @ u[i] + a[i] @ v[i])


@dt.kernel
def common_factor_by_fast_math(a, u, v, y):
    for i in u:
        y[i] = a[i] @ u[i] + a[i] @ v[i]


@dt.func
def split(a, factor):
    c = factor * a
    high = c - (c - a)
    return high, a - high


@dt.func
def two_product(a, b, factor):
    """Dekker 1971, A floating-point technique for extending the available precision."""
    p = a * b
    a_high, a_low = split(a, factor)
    b_high, b_low = split(b, factor)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@dt.kernel
def sums(x, kahan, neumaier, plain, factor: float):
    """The sum of each row, in three ways."""
    for i in range(x.shape[0]):
        s = x[i, 0] * 0
        c = x[i, 0] * 0
        for j in range(x.shape[1]):
            y = dt.exact(x[i, j] - c)
            t = dt.exact(s + y)
            c = dt.exact((t - s) - y)
            s = t
        kahan[i] = s
        s = x[i, 0] * 0
        c = x[i, 0] * 0
        for j in range(x.shape[1]):
            t = dt.exact(s + x[i, j])
            if abs(s) >= abs(x[i, j]):
                c = dt.exact(c + ((s - t) + x[i, j]))
            else:
                c = dt.exact(c + ((x[i, j] - t) + s))
            s = t
        neumaier[i] = dt.exact(s + c)
        s = x[i, 0] * 0
        for j in range(x.shape[1]):
            s += x[i, j]
        plain[i] = s


@dt.kernel
def pairs(x, sum, product, factor: float):
    for i in range(x.shape[0]):
        sum[i, 0], sum[i, 1] = dt.exact(two_sum(x[i, 0], x[i, 1]))
        product[i, 0], product[i, 1] = dt.exact(two_product(x[i, 0], x[i, 1], factor))


@dt.kernel
def sum_of_one_thread(x, total):
    s = x[0, 0] * 0
    c = x[0, 0] * 0
    ti.loop_config(serialize=True)
    for j in range(x.shape[1]):
        s, e = dt.exact(two_sum(s, x[0, j]))
        c += e
    total[None] = dt.exact(s + c)


def _kahan(row: Floats) -> Any:
    s = c = row.dtype.type(0)
    for x in row:
        y = x - c
        t = s + y
        c = (t - s) - y
        s = t
    return s


def _neumaier(row: Floats) -> Any:
    s = c = row.dtype.type(0)
    for x in row:
        t = s + x
        c = c + ((s - t) + x if abs(s) >= abs(x) else (x - t) + s)
        s = t
    return s + c


@pytest.fixture(params=["fast", "debug"])
def started(request: pytest.FixtureRequest) -> Iterator[str]:
    dt.init(debug=request.param == "debug")
    yield request.param
    dt.init()


def _exact(x: Any) -> Fraction:
    return Fraction(float(x))


def _hard(dtype: Any) -> Floats:
    """Return rows whose plain sums lose most of their digits."""
    rng = np.random.default_rng(7)
    x = rng.uniform(0, 1, (5, 999)) * 10.0 ** rng.integers(-3, 3, (5, 999))
    x[1:3, 0], x[2, 500] = 1e9, -1e9
    return x.astype(dtype)


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compensated_sums_are_those_of_numpy(dtype: Any) -> None:
    x = dt.from_numpy(_hard(dtype), grad=True)
    kahan, neumaier, plain = (dt.from_numpy(np.zeros(5, dtype), grad=True) for _ in range(3))
    with dt.Tape() as tape:
        sums(x, kahan, neumaier, plain, 1.0)
    rows = x.to_numpy()
    assert kahan.to_numpy().tolist() == [_kahan(row) for row in rows]
    assert neumaier.to_numpy().tolist() == [_neumaier(row) for row in rows]
    exact = np.array([float(sum(map(_exact, row))) for row in rows])
    assert not np.array_equal(plain.to_numpy(), exact.astype(dtype))
    np.testing.assert_allclose(neumaier.to_numpy(), exact, rtol=2 * np.finfo(dtype).eps)
    total = dt.field(dt.from_numpy(rows).dtype, ())
    sum_of_one_thread(dt.from_numpy(rows[2:3]), total)
    np.testing.assert_allclose(total[None], exact[2], rtol=2 * np.finfo(dtype).eps)
    tape.backward({kahan: 1.0, neumaier: 1.0})
    np.testing.assert_array_equal(x.grad.to_numpy(), 2)  # the derivative of plain sums


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize(("dtype", "factor"), [(np.float32, 2**12 + 1), (np.float64, 2**27 + 1)])
def test_errors_of_sums_and_products_are_exact(dtype: Any, factor: float) -> None:
    rng = np.random.default_rng(3)
    given = (rng.uniform(-1, 1, (200, 2)) * 10.0 ** rng.integers(-4, 5, (200, 2))).astype(dtype)
    x = dt.from_numpy(given, grad=True)
    sum, product = (dt.from_numpy(np.zeros((200, 2), dtype), grad=True) for _ in range(2))
    with dt.Tape() as tape:
        pairs(x, sum, product, float(factor))
    columns = (given[:, 0], given[:, 1], sum.to_numpy(), product.to_numpy())
    for a, b, s, p in zip(*columns, strict=True):
        assert _exact(s[0]) + _exact(s[1]) == _exact(a) + _exact(b)
        assert _exact(p[0]) + _exact(p[1]) == _exact(a) * _exact(b)
    assert np.any(sum.to_numpy()[:, 1]) and np.any(product.to_numpy()[:, 1])
    tape.backward({product: np.ones((200, 2))})
    np.testing.assert_allclose(x.grad.to_numpy(), given[:, ::-1], rtol=1e3 * np.finfo(dtype).eps)


@pytest.mark.compiled
def test_common_factors_stay_in_sums(started: str) -> None:
    """`A @ u + A @ v` is not computed as `A @ (u + v)`, except by fast math."""
    rng = np.random.default_rng(9)
    a, u, v = (rng.uniform(-1, 1, (9, *shape)) for shape in ((2, 2), (2,), (2,)))
    mat, vec = ti.types.matrix(2, 2, ti.f64), ti.types.vector(2, ti.f64)
    fields = (dt.from_numpy(a, dtype=mat), *(dt.from_numpy(w, dtype=vec) for w in (u, v)))
    exact, plain = dt.field(vec, 9), dt.field(vec, 9)
    common_factor(*fields, exact)
    common_factor_by_fast_math(*fields, plain)
    wanted = sum(a[:, :, 0] * w[:, :1] + a[:, :, 1] * w[:, 1:] for w in (u, v))
    np.testing.assert_array_equal(exact.to_numpy(), wanted)
    assert np.array_equal(plain.to_numpy(), wanted) == (started == "debug")


def test_python_gets_it_back_as_it_is() -> None:
    assert dt.exact(1.5) == 1.5
    with pytest.raises(dt.FieldError, match="expressions in kernels"):
        dt.exact(dt.zeros(3))
