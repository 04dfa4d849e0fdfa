"""Errors of accurate functions, in units in the last place, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import difftile as dt


@dt.kernel
def of_one(x, logs, exps, pluses):
    for i in x:
        logs[i] = dt.log1p(x[i])
        exps[i] = dt.expm1(x[i])
        pluses[i] = dt.softplus(x[i])


def _numbers(dtype: Any) -> npt.NDArray[Any]:
    """Return numbers of every size, many of them where a series gives way to a formula."""
    rng = np.random.default_rng(3)
    small = 10 ** rng.uniform(-30, 0, 20000)
    parts = (rng.uniform(-0.999, 3, 40000), small, -small, rng.uniform(-60, 80, 20000))
    return np.concatenate([*parts, 0.5 + 0.01 * small, [0.0, 0.5, -0.5]]).astype(dtype)


def _ulps(found: npt.NDArray[Any], exact: npt.NDArray[Any]) -> float:
    info = np.finfo(found.dtype)
    least = float(info.tiny / info.eps)  # the unit of smaller ones is flushed to 0
    unit = np.spacing(np.maximum(np.abs(exact), least).astype(found.dtype)).astype(np.longdouble)
    return float(np.max(np.abs(found - exact) / unit))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_are_two_units_in_the_last_place(dtype: Any) -> None:
    x = _numbers(dtype)
    fields = [dt.from_numpy(np.zeros_like(x)) for _ in range(3)]
    of_one(dt.from_numpy(x), *fields)
    logs, exps, pluses = (field.to_numpy() for field in fields)
    exact = x.astype(np.float64 if dtype == np.float32 else np.longdouble)
    inside = x > -1
    assert _ulps(logs[inside], np.log1p(exact[inside])) <= 2
    assert _ulps(exps, np.expm1(exact)) <= 2
    assert _ulps(pluses, np.maximum(exact, 0) + np.log1p(np.exp(-np.abs(exact)))) <= 3


def test_python_has_the_same_functions() -> None:
    x = np.array([-1000.0, -1e-20, 0.0, 0.3, 0.9, 1000.0])
    np.testing.assert_allclose(dt.softplus(x), np.logaddexp(0, x))
    np.testing.assert_allclose(dt.softplus(x, 2.0), np.logaddexp(0, 2 * x) / 2)
    np.testing.assert_allclose(dt.log1p(x[1:]), np.log1p(x[1:]))
    np.testing.assert_allclose(dt.expm1(x[:-1]), np.expm1(x[:-1]))
    np.testing.assert_allclose(dt.logit(x[3:5]), np.log(x[3:5] / (1 - x[3:5])))
    np.testing.assert_allclose(dt.logsumexp(x), 1000)
    np.testing.assert_allclose(dt.logsumexp(1, 2.0), np.logaddexp(1, 2))
    np.testing.assert_allclose(dt.safe_divide([1, 1, 1], [0, -1e-12, 4]), [1e8, -1e8, 0.25])
    assert dt.safe_norm([3, 4]) == 5 and dt.safe_norm([0, 0]) == 1e-8
    assert dt.logit(x.astype(np.float32)[3:5]).dtype == np.float32
    assert dt.logit(0.5) == 0 and dt.stop_grad(2.0) == 2


def test_a_field_is_detached_instead() -> None:
    with pytest.raises(dt.FieldError, match="detach"):
        dt.stop_grad(dt.zeros(3, grad=True))
