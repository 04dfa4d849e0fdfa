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


@dt.func
def drawn_twice(y):
    for k in range(2):
        y[k] = dt.rand(ti.f64)


@dt.kernel
def draws_after_a_func(y):
    drawn_twice(y)
    y[2] = dt.rand(ti.f64)
    if y[2] >= 0.0:
        drawn_thrice(y)
    y[6] = dt.rand(ti.f64)


@dt.func
def drawn_thrice(y):
    for k in range(3, 6):
        y[k] = dt.rand(ti.f64)


def test_draws_of_a_func_in_a_loop_are_not_repeated_by_its_caller() -> None:
    y = dt.zeros(7, ti.f64)
    draws_after_a_func(y)
    assert len({*y.to_numpy().tolist()}) == 7


@dt.kernel
def waits(y, n):
    for i in y:
        while dt.rand(ti.f64) < 0.5:
            n[i] += 1
        y[i] = dt.rand(ti.f64)


def test_a_draw_after_a_while_is_not_the_one_of_its_last_test() -> None:
    """The last test has drawn 0.5 or more."""
    y, n = dt.zeros(40, ti.f64), dt.zeros(40, ti.i32)
    waits(y, n)
    assert n.to_numpy().max() > 1
    assert np.any(y.to_numpy() < 0.5)


@dt.kernel
def first_draw(y):
    y[None] = dt.rand(ti.f64)


@dt.func
def of_a_draw(drawn, i):
    return drawn + 0 * i


def test_seeds_draw_other_numbers_than_the_first_stream_of_launches() -> None:
    dt.init(arch="python", seed=7)
    y = dt.zeros((), ti.f64)
    first_draw(y)
    found = of_a_draw(dt.rand(7), dt.grid(3)).to_numpy()
    assert np.all(np.abs(found - y.to_numpy()) > 1e-6)  # beyond the rounding of single precision
    assert len({*found.tolist()}) == 3


@dt.kernel
def scaled(x, factor):
    for i in x:
        x[i] *= factor[None]


def test_products_of_narrow_fields_and_wide_factors_are_rounded_once() -> None:
    numbers = np.arange(1, 50, dtype=np.float32)
    x = dt.from_numpy(numbers)
    scaled(x, dt.full((), 0.1, ti.f64))
    expected = (numbers.astype(np.float64) * 0.1).astype(np.float32)
    assert np.any(expected != numbers * np.float32(0.1))
    np.testing.assert_array_equal(x.to_numpy(), expected)


@dt.kernel
def ones_unless(left: int, y):
    if left > 0:
        return
    for i in y:
        y[i] = 1.0


def test_parallel_loops_after_a_return_that_was_taken_do_not_run() -> None:
    for left, expected in ((1, 0.0), (0, 1.0)):
        y = dt.zeros(3, ti.f64)
        ones_unless(left, y)
        assert y.to_numpy().tolist() == [expected] * 3


@dt.kernel
def filled(n: int, y, z):
    for i in y:
        v, m = ti.Vector([0.5, 0.5]), ti.Matrix([[0.5, 0.5], [0.5, 0.5]])
        for k in range(n + i):
            v.fill(k + 1.0)
            m.fill(k - 1.0)
        y[i] = v
        z[i] = m


def test_vectors_that_are_filled_in_loops_keep_the_last_value() -> None:
    y, z = dt.zeros(3, dt.vec(2, ti.f64)), dt.zeros(3, dt.mat(2, 2, ti.f64))
    filled(0, y, z)
    assert y.to_numpy().tolist() == [[0.5] * 2, [1.0] * 2, [2.0] * 2]
    assert z.to_numpy()[:, 1, 0].tolist() == [0.5, -1.0, 0.0]


Polar = ti.types.struct(radius=ti.f64, angle=ti.f64)
Plane = ti.types.struct(x=ti.f64, y=ti.f64)
Placed = ti.types.struct(at=Plane, mass=ti.f64)


@dt.kernel
def placed(y):
    y[None] = Placed(at=Plane(x=1.0, y=2.0), mass=3.0).at.y


@dt.kernel
def misplaced(y):
    y[None] = Placed(at=Polar(radius=1.0, angle=2.0), mass=3.0).at.y


def test_structs_of_other_members_are_not_taken_for_a_member() -> None:
    y = dt.zeros((), ti.f64)
    placed(y)
    assert float(y[None]) == 2.0
    with pytest.raises(dt.KernelError, match="expected a struct of x, y"):
        misplaced(y)
