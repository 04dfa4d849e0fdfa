"""`kernel.bwds` and `kernel.fwds`: derivatives of single launches without a tape."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@dt.kernel
def poly(a, x, y):
    for i in x:
        y[i] = a[None] * x[i] * x[i] + 8.0 * x[i] - 1.0


@dt.kernel
def double(d):
    for i in d:
        d[i] *= 2


@dt.kernel
def squared(d):
    for i in d:
        d[i] = d[i] * d[i]


@dt.kernel
def two_stages(x, t, y):
    for i in x:
        t[i] = x[i] * x[i]
    for i in x:
        y[i] = ti.sin(t[(i + 1) % 4]) * x[i]


@dt.kernel
def first_two(x, y):
    for i in range(2):
        y[i] = 3 * x[i]


@dt.kernel
def noisy(x, y):
    for i in x:
        y[i] = x[i] * dt.randn()


def field(values: list[float]) -> dt.Field:
    return dt.from_numpy(np.array(values, np.float64), grad=True)


def ones(x: dt.Field) -> None:
    x.grad.fill(1.0)


def test_gradients_of_what_is_read_add_up_and_seeds_stay() -> None:
    a, x, y = dt.full((), 2.0, ti.f64, grad=True), field([1, 2, 3, 4]), field([0, 0, 0, 0])
    poly(a, x, y)
    assert y.to_numpy().tolist() == [9, 23, 41, 63]
    ones(y)
    poly.bwds(a, x, y)
    assert x.grad.to_numpy().tolist() == [12, 16, 20, 24]
    assert a.grad[None] == 30
    poly.bwds(a, x, y=y)
    assert x.grad.to_numpy().tolist() == [24, 32, 40, 48]
    assert y.grad.to_numpy().tolist() == [1, 1, 1, 1]
    x.grad.clear()
    poly.bwds(a, x, y)
    assert x.grad.to_numpy().tolist() == [12, 16, 20, 24]


def test_without_a_launch_before_nothing_is_written() -> None:
    a, x, y = dt.full((), 2.0, ti.f64), field([1, 2, 3, 4]), field([5, 5, 5, 5])
    ones(y)
    poly.bwds(a, x, y)
    assert x.grad.to_numpy().tolist() == [12, 16, 20, 24]
    assert y.to_numpy().tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize("kernel", [double, squared])
def test_in_place_with_one_gradient(kernel: dt.kernel) -> None:
    d = field([1, 2, 3, 4])
    ones(d)
    kernel.bwds(d)
    assert d.to_numpy().tolist() == [1, 2, 3, 4]
    wanted = [2, 2, 2, 2] if kernel is double else [2, 4, 6, 8]
    assert d.grad.to_numpy().tolist() == wanted


def test_in_place_with_two_gradients_leaves_the_one_that_comes_in() -> None:
    d = dt.from_numpy(np.array([1.0, 2.0, 3.0, 4.0]))
    seeds, found = dt.ones(4, ti.f64), dt.full(4, 10.0, ti.f64)
    d = d.with_grads(grad_in=seeds, grad_out=found)
    squared.bwds(d)
    assert seeds.to_numpy().tolist() == [1, 1, 1, 1]
    assert found.to_numpy().tolist() == [12, 14, 16, 18]


def test_elements_that_the_launch_did_not_write_pass_through() -> None:
    x = field([1, 2, 3, 4])
    seeds, passed = dt.full(4, 5.0, ti.f64), dt.zeros(4, ti.f64)
    y = dt.zeros(4, ti.f64).with_grads(grad_in=seeds, grad_out=passed)
    first_two.bwds(x, y)
    assert x.grad.to_numpy().tolist() == [15, 15, 0, 0]
    assert passed.to_numpy().tolist() == [0, 0, 5, 5]


def test_several_stages_run_again_in_other_memory() -> None:
    x, t, y = field([0.1, 0.2, 0.3, 0.4]), field([7, 7, 7, 7]), field([0, 0, 0, 0])
    ones(y)
    two_stages.bwds(x, t, y)
    v = np.array([0.1, 0.2, 0.3, 0.4])
    wanted = np.sin(np.roll(v, -1) ** 2) + 2 * v * np.roll(v, 1) * np.cos(v**2)
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-14)
    assert t.to_numpy().tolist() == [7, 7, 7, 7]


def test_random_numbers_are_those_of_the_last_launch() -> None:
    x, y = field([1, 1, 1, 1]), field([0, 0, 0, 0])
    noisy(x, y)
    noisy(x, y)
    ones(y)
    noisy.bwds(x, y)
    np.testing.assert_array_equal(x.grad.to_numpy(), y.to_numpy())


def test_misuse() -> None:
    x, y = field([1, 2]), dt.zeros(2, ti.f64)
    with pytest.raises(dt.LaunchError, match="'y' has none"):
        first_two.bwds(x, y)
    with dt.Tape(), pytest.raises(dt.LaunchError, match="and one is open"):
        first_two.bwds(x, field([0, 0]))
    with pytest.raises(dt.LaunchError, match="missing a required argument: 'y'"):
        first_two.bwds(x)


# Forward


def test_tangents_are_pushed_with_the_launch() -> None:
    a, x, y = dt.full((), 2.0, ti.f64, grad=True), field([1, 2, 3, 4]), field([0, 0, 0, 0])
    x.grad.from_numpy([1, 0, 2, 0])
    a.grad[None] = 10
    poly.fwds(a, x, y)
    assert y.to_numpy().tolist() == [9, 23, 41, 63]
    assert y.grad.to_numpy().tolist() == [12 + 10, 40, 2 * 20 + 90, 160]
    poly.fwds(a, x, y)  # set, not added to
    assert y.grad.to_numpy().tolist() == [22, 40, 130, 160]


def test_tangents_in_place() -> None:
    d = field([1, 2, 3, 4])
    ones(d)
    squared.fwds(d)
    assert d.to_numpy().tolist() == [1, 4, 9, 16]
    assert d.grad.to_numpy().tolist() == [2, 4, 6, 8]
    before, after = dt.ones(4, ti.f64), dt.zeros(4, ti.f64)
    e = dt.from_numpy(np.array([1.0, 2.0, 3.0, 4.0])).with_grads(grad_in=after, grad_out=before)
    squared.fwds(e)
    assert before.to_numpy().tolist() == [1, 1, 1, 1]
    assert after.to_numpy().tolist() == [2, 4, 6, 8]


def test_tangents_of_several_stages_and_the_dot_product() -> None:
    rng = np.random.default_rng(0)
    x, t, y = (field(rng.normal(size=4).tolist()) for _ in range(3))
    start = x.to_numpy()
    v, w = rng.normal(size=4), rng.normal(size=4)
    x.grad.from_numpy(v)
    two_stages.fwds(x, t, y)
    left = float(w @ y.grad.to_numpy())
    assert x.to_numpy().tolist() == start.tolist()
    for one in (x, t):
        one.grad.clear()
    y.grad.from_numpy(w)
    two_stages.bwds(x, t, y)
    assert abs(left - float(v @ x.grad.to_numpy())) < 1e-14


def test_a_tangent_that_has_no_place_is_reported() -> None:
    x, y = field([1, 2]), dt.zeros(2, ti.f64)
    with pytest.warns(dt.GradientCut, match="field 'y' has no gradient buffer"):
        first_two.fwds(x, y)
    with pytest.raises(dt.LaunchError, match="no field has one"):
        first_two.fwds(x.detach(), y)
    with dt.Tape(), pytest.raises(dt.LaunchError, match="and one is open"):
        first_two.fwds(x, y)
