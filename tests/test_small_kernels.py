"""Small kernels that run as Python, against the same lines in Python itself."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def products(v, m, y, z):
    for i in v:
        y[i] = v[i] @ m[i]
        z[i] = m[i] @ v[i]


def test_rows_times_matrices_are_no_columns() -> None:
    rng = np.random.default_rng(1)
    v, m = rng.normal(size=(3, 2)), rng.normal(size=(3, 2, 2))
    y, z = (dt.zeros(3, dt.vec(2, ti.f64)) for _ in range(2))
    products(dt.from_numpy(v, dt.vec(2, ti.f64)), dt.from_numpy(m, dt.mat(2, 2, ti.f64)), y, z)
    np.testing.assert_allclose(y.to_numpy(), np.einsum("ni,nij->nj", v, m), rtol=1e-14)
    np.testing.assert_allclose(z.to_numpy(), np.einsum("nij,nj->ni", m, v), rtol=1e-14)


@dt.kernel
def listed(x, y):
    for i in x:
        k = 10.0
        parts = [x[i] * k for k in ti.static(range(3))]
        y[i] = parts[0] + parts[1] + parts[2] + k


def test_comprehensions_leave_locals_as_they_were() -> None:
    y = dt.zeros(2, ti.f64)
    listed(dt.from_numpy(np.array([1.0, -2.0])), y)
    assert y.to_numpy().tolist() == [13.0, 4.0]


@dt.func
def first_power(x):
    n = 0
    while True:
        n += 1
        if 2.0**n > x:
            break
    return n


@dt.func
def leaves_nothing(x):
    while True:
        if x > 1.0:
            break
        return x


@dt.kernel
def powers(x, y):
    for i in x:
        y[i] = first_power(x[i])


@dt.kernel
def nothing(x, y):
    for i in x:
        y[i] = leaves_nothing(x[i])


def test_loops_that_break_return_nothing_by_themselves() -> None:
    x, y = dt.from_numpy(np.array([1.0, 5.0, 100.0])), dt.zeros(3, ti.f64)
    powers(x, y)
    assert y.to_numpy().tolist() == [1, 3, 7]
    with pytest.raises(dt.KernelError, match="return"):
        nothing(x, y)


def test_numbers_on_the_left_of_numbers_of_a_tape() -> None:
    x = dt.full((), 0.7, ti.f64, grad=True)
    for f, slope in (
        (lambda v: 2.0 - v, -1.0),
        (lambda v: 2.0 / v, -2.0 / 0.49),
        (lambda v: 2.0**v, math.log(2.0) * 2.0**0.7),
        (lambda v: v - 2.0, 1.0),
    ):
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss):
            loss.fill(f(x[None]))
        assert float(x.grad[None]) == pytest.approx(slope, rel=1e-14)


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_recorded_fields_keep_nan(name: str) -> None:
    x = dt.from_numpy(np.array([1.0, math.nan, 3.0]), grad=True)
    assert math.isnan(getattr(x, name)())
    with dt.Tape():
        found = getattr(x, name)()
        assert math.isnan(float(dt.stop_grad(found)))
