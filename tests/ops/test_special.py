"""Special functions: their errors beside mpmath, their limits, and their derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import taichi as ti
from mpmath import mp

import difftile as dt
from difftile.ops import special
from tests.special_functions import EXACT, NAMES, arguments, computed, ulps

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_in_units_in_the_last_place(dtype: Any) -> None:
    most = 2 if dtype == np.float32 else 4
    x = arguments(250, dtype)
    y = computed(x)
    for k, name in enumerate(NAMES):
        below = 5 if name == "trigamma" and dtype == np.float64 else most
        errors = ulps(name, x[:, k], y[:, k])
        worst = int(np.argmax(errors - np.where(x[:, k] < 0, below, most)))
        assert errors[worst] <= (below if x[worst, k] < 0 else most), (name, x[worst, k])


_LIMITS = {
    "erf": {0.0: 0, 40.0: 1, -40.0: -1, INF: 1, -INF: -1, NAN: NAN},
    "erfc": {0.0: 1, 40.0: 0, -40.0: 2, INF: 0, -INF: 2, NAN: NAN},
    "erfinv": {0.0: 0, 1.0: INF, -1.0: -INF, 2.0: NAN, -2.0: NAN, INF: NAN, -INF: NAN, NAN: NAN},
    "lgamma": {0.0: INF, 1.0: 0, 2.0: 0, -1.0: INF, -40.0: INF, INF: INF, -INF: INF, NAN: NAN},
    "digamma": {0.0: -INF, -1.0: NAN, -40.0: NAN, INF: INF, -INF: NAN, NAN: NAN},
    "trigamma": {0.0: INF, -1.0: INF, -40.0: INF, INF: 0, -INF: NAN, NAN: NAN},
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fast_math", [True, False])
def test_limits_and_poles(dtype: Any, fast_math: bool, arch: str = "cpu") -> None:
    dt.init(arch=arch, fast_math=fast_math)
    points = np.array([0, 1, -1, 2, -2, 40, -40, INF, -INF, NAN], dtype)
    y = computed(np.repeat(points[:, None], len(NAMES), 1))
    for k, name in enumerate(NAMES):
        for at, found in zip(points.tolist(), y[:, k], strict=True):
            limits = {str(x): value for x, value in _LIMITS[name].items()}  # NaN is not itself
            if str(at) in limits:
                wanted = limits[str(at)]
                np.testing.assert_array_equal(found, dtype(wanted), f"{name}({at})")
                np.testing.assert_array_equal(getattr(dt, name)(at), wanted, f"{name}({at})")


def test_python_has_the_same_functions() -> None:
    x = arguments(50, np.float64)
    y = computed(x)
    for k, name in enumerate(NAMES):
        np.testing.assert_allclose(getattr(dt, name)(x[:, k]), y[:, k], rtol=1e-14, atol=1e-14)
    assert dt.erf(np.float32(0.5)).dtype == np.float32
    assert dt.lgamma([3, 4]).tolist() == pytest.approx([math.log(2), math.log(6)])


def test_logarithms_of_gamma_below_zero_are_those_of_the_c_library() -> None:
    x = np.array([-0.3, -0.75, -1.5, -2.25, -7.6, -40.4])
    expected = [math.lgamma(one) for one in x]
    np.testing.assert_allclose(special.lgamma(x), expected, rtol=1e-12)


@dt.func
def _of_vectors(v):
    return dt.erf(v) + dt.lgamma(v) * dt.erfc(0.1 * v)


def test_gradients_of_vectors_are_sums_of_exact_derivatives() -> None:
    v = dt.field(ti.types.vector(3, ti.f64), 2, grad=True)
    values = np.array([[0.3, 1.2, 2.5], [3.1, 4.0, 5.5]])
    v.from_numpy(values)
    loss = dt.zeros((), dtype=ti.f64, grad=True)

    @dt.kernel
    def total(v, loss):
        for i in v:
            loss[None] += _of_vectors(v[i]).sum()

    with dt.Tape(loss):
        total(v, loss)
    with mp.workdps(30):
        expected = [
            float(mp.diff(lambda x: mp.erf(x) + mp.loggamma(x) * mp.erfc(x / 10), x))
            for x in values.ravel()
        ]
    np.testing.assert_allclose(v.grad.to_numpy().ravel(), expected, rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_first_and_second_derivatives_in_kernels(name: str) -> None:
    function = getattr(dt, name)

    @dt.kernel
    def apply(x, y):
        for i in x:
            y[i] = function(x[i])

    points = np.array([0.3, 0.9] if name == "erfinv" else [0.3, 0.9, 1.7, 3.3, 8.0, -0.7, -2.3])

    def of(x):
        y = dt.zeros(x.shape, dtype=ti.f64)
        apply(x, y)
        return y

    ones = dt.from_numpy(np.ones_like(points))
    x = dt.from_numpy(points)
    _, slopes = dt.jvp(of, x, ones)
    _, bends = dt.jvp(lambda x: dt.jvp(of, x, ones)[1], x, ones)
    with mp.workdps(30):
        for order, found in ((1, slopes), (2, bends)):
            expected = [float(mp.diff(EXACT[name], at, order)) for at in points]
            np.testing.assert_allclose(found.to_numpy(), expected, rtol=2e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 7, 20])
def test_polygamma_of_any_order(order: int) -> None:
    x = np.array([0.01, 0.6, 1.0, 4.5, 40.0, -0.3, -1.6, -7.25])
    with mp.workdps(30):
        expected = [float(mp.psi(order, at)) for at in x]
    np.testing.assert_allclose(special.polygamma(order, x), expected, rtol=5e-15)
    assert math.isnan(special.polygamma(21, 1.0))
