"""Derivatives of small programs that run as Python: each in a few milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt

Array = npt.NDArray[Any]


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def couple(x, y):
    n = x.shape[0]
    for i in x:
        y[i] = ti.sin(x[i]) * x[(i + 1) % n] ** 2


@dt.kernel
def weigh(a, b, out):
    for i in a:
        out[None] += a[i] * b[i]


def coupled(x: Any) -> Any:
    y = dt.zeros_like(x)
    couple(x, y)
    return y


def jacobian(x: Array) -> Array:
    """Return the Jacobian of `coupled`, of complex numbers as well."""
    ahead = np.roll(x, -1)
    found = np.diag(np.cos(x) * ahead**2)
    found[range(3), [1, 2, 0]] = 2 * np.sin(x) * ahead
    return found


X, S, W = np.array([0.6, -0.4, 0.9]), np.array([0.7, 1.1, -0.5]), np.array([0.3, -2.0, 1.5])
JACOBIAN = jacobian(X)


def test_what_a_pull_is_given_has_a_gradient() -> None:
    x, s, w = (dt.from_numpy(a, grad=True) for a in (X, S, W))
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        _, pull = dt.vjp(coupled, x)
        (found,) = pull(s)
        weigh(found, w, loss)
    np.testing.assert_allclose(found.to_numpy(), S @ JACOBIAN, rtol=1e-14)
    np.testing.assert_allclose(s.grad.to_numpy(), JACOBIAN @ W, rtol=1e-14)


def test_what_a_push_is_given_has_a_gradient() -> None:
    x, s, w = (dt.from_numpy(a, grad=True) for a in (X, S, W))
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        _, tangent = dt.jvp(coupled, (x,), (w,))
        weigh(tangent, s, loss)
    np.testing.assert_allclose(tangent.to_numpy(), JACOBIAN @ W, rtol=1e-14)
    np.testing.assert_allclose(w.grad.to_numpy(), S @ JACOBIAN, rtol=1e-14)


@dt.kernel
def weigh_all(a, b, out):
    for i, j in a:
        out[None] += a[i, j] * b[i, j]


def test_a_jacobian_has_the_tangents_of_each_row() -> None:
    weights = dt.from_numpy(np.arange(9.0).reshape(3, 3))

    def f(x: Any) -> Any:
        out = dt.zeros((), ti.f64)
        weigh_all(dt.jacrev(coupled)(x), weights, out)
        return out

    _, tangent = dt.jvp(f, (dt.from_numpy(X),), (dt.from_numpy(W),))
    slope = (jacobian(X + 1e-30j * W) * weights.to_numpy()).sum().imag / 1e-30
    np.testing.assert_allclose(float(tangent), slope, rtol=1e-13)


@pytest.mark.parametrize("entry", np.argwhere(JACOBIAN).tolist())
def test_a_pattern_without_an_entry_is_refused(entry: list[int]) -> None:
    pattern = JACOBIAN != 0
    np.testing.assert_allclose(dt.sparse_jacobian(coupled, pattern)(X), JACOBIAN, rtol=1e-14)
    pattern[tuple(entry)] = False
    with pytest.raises(dt.LaunchError, match=rf"^Row {entry[0]} .* outside the pattern"):
        dt.sparse_jacobian(coupled, pattern)(X)


@dt.kernel
def stretch(x, k: float, energy):
    for i in range(x.shape[0] - 1):
        energy[None] += k * (x[i + 1] - x[i]) ** 4


def energies(*parts: Any) -> Any:
    """Return a sum of energies; 0 stands for a write from Python."""

    def f(x: Any) -> Any:
        total = dt.zeros((), ti.f64)
        for part in parts:
            if part:
                stretch(x, part, total)
            else:
                total.fill(0.0)
        return total

    return f


@pytest.mark.parametrize(("parts", "weight"), [((0.7,), 0.7), ((3.0, 0, 0.7), 0.7), ((2, 0), 0)])
def test_sums_that_python_overwrites_are_no_energy(parts: Any, weight: float) -> None:
    pytest.importorskip("scipy")
    d = np.diff(X)
    expected = np.zeros((3, 3))
    for k in range(2):
        expected[k : k + 2, k : k + 2] += 12 * weight * d[k] ** 2 * np.array([[1, -1], [-1, 1]])
    found = dt.sparse_hessian(energies(*parts))(dt.from_numpy(X)).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@dt.kernel
def knot(x, energy):
    for e in range(x.shape[0] - 4):
        a = x[e] - x[e + 4]
        energy[None] += a**3 + x[e + 1] * x[e + 2] * x[e + 3] * x[e + 4] + ti.sin(x[e] * x[e + 2])


def test_terms_of_many_numbers_are_made_positive_semidefinite() -> None:
    pytest.importorskip("scipy")

    def f(x: Any) -> Any:
        total = dt.zeros((), ti.f64)
        knot(x, total)
        return total

    x = dt.from_numpy(np.array([0.6, -0.4, 0.9, 1.3, -0.2]))
    values, vectors = np.linalg.eigh(dt.sparse_hessian(f)(x).toarray())
    assert values[0] < -0.1
    expected = (vectors * np.maximum(values, 0.0)) @ vectors.T
    found = dt.sparse_hessian(f, psd=True)(x).toarray()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@dt.kernel
def draw(x, log, count):
    x[None] = ti.random(ti.f64)
    log[count[None]] = x[None]
    count[None] += 1


def test_each_period_of_a_run_draws_its_own_numbers() -> None:
    dt.init(arch="python", fuse="always")
    x, log, count = dt.zeros((), ti.f64), dt.zeros(9, ti.f64), dt.zeros((), ti.i32)
    for _ in dt.steps(9):
        draw(x, log, count)
    assert len({*log.to_numpy().tolist()}) == 9


@dt.kernel
def add_cubes(x, weight: float, loss):
    for i in x:
        loss[None] += weight * x[i] ** 3


@dt.custom_op
def doubled(x: dt.InOut):
    x.from_numpy(2.0 * x.to_numpy())


@doubled.backward
def _(x):
    x.grad_out.add_numpy(2.0 * x.grad_in.to_numpy())


@doubled.forward
def _(x):
    x.grad_in.from_numpy(2.0 * x.grad_out.to_numpy())


def cubes_around(change: Any) -> Any:
    """Return a function that adds up cubes of a copy before and after a change of it."""

    def f(x: Any) -> Any:
        y, loss = dt.zeros_like(x), dt.zeros((), ti.f64)
        y.copy_from(x)
        add_cubes(y, 1.0, loss)
        change(y)
        add_cubes(y, 0.5, loss)
        return loss

    return f


def test_tangents_after_a_custom_operation_leave_those_before_it() -> None:
    """The second derivatives are 6 x of the first sum and 0.5 * 6 * 2 x * 2^2 of the other."""
    found = dt.hvp(cubes_around(doubled), X, W)
    np.testing.assert_allclose(found, (6 + 24) * X * W, rtol=1e-13)
    np.testing.assert_allclose(dt.hessian(cubes_around(doubled))(X), np.diag(30 * X), rtol=1e-13)


@pytest.mark.parametrize("where", [None, 1])
def test_tangents_after_a_write_from_python_leave_those_before_it(where: int | None) -> None:
    def change(y: Any) -> None:
        if where is None:
            y.fill(0.25)
        else:
            y[where] = 0.25

    left = np.array([False] * 3 if where is None else [True, False, True])
    expected = 6 * X + 3 * X * left
    np.testing.assert_allclose(dt.hessian(cubes_around(change))(X), np.diag(expected), rtol=1e-13)
    np.testing.assert_allclose(dt.hvp(cubes_around(change), X, W), expected * W, rtol=1e-13)


@dt.kernel
def sum_first(x, loss):
    total = 0.0
    for i in x:
        total += x[i] ** 2
    for i in x:
        loss[None] += ti.sin(total) * x[i]


def test_tangents_of_sums_that_later_loops_read_are_counted() -> None:
    def f(x: Any) -> Any:
        loss = dt.zeros((), ti.f64)
        sum_first(x, loss)
        return loss

    def gradient(x: Array) -> Array:
        total, line = np.sum(x * x), np.sum(x)
        return np.cos(total) * 2 * x * line + np.sin(total)

    exact = [gradient(X + 1e-30j * one).imag / 1e-30 for one in np.eye(3)]
    np.testing.assert_allclose(dt.hessian(f)(X), exact, rtol=1e-13)
    np.testing.assert_allclose(dt.hvp(f, X, W), W @ exact, rtol=1e-13)


@dt.func
def growth(x):
    return ti.exp(x)


@growth.backward
def _(x, d_out):
    return 10.0 * growth(x) * d_out


@dt.kernel
def grown(x, y):
    for i in x:
        y[i] = growth(x[i])


def test_a_rule_that_calls_its_func_is_the_rule_there_too() -> None:
    """The rule has a factor 10 that the derivative has not, so that one sees which is taken."""

    def f(x: Any) -> Any:
        y = dt.zeros_like(x)
        grown(x, y)
        return y

    def total(x: Any) -> Any:
        loss = dt.zeros((), ti.f64)
        weigh(f(x), dt.from_numpy(S), loss)
        return loss

    np.testing.assert_allclose(dt.grad(total)(X), 10 * S * np.exp(X), rtol=1e-13)
    np.testing.assert_allclose(dt.hvp(total, X, W), 100 * S * np.exp(X) * W, rtol=1e-13)


@dt.kernel
def chained(a, b, c):
    for i in a:
        a[i] = a[i] ** 2
    for i in c:
        c[i] = c[i] ** 3
    for i in b:
        b[i] = ti.sin(b[i])


def test_parts_of_a_field_that_a_third_one_joins_see_writes_of_each_other() -> None:
    def values(x: Array) -> Array:
        x = x.copy()
        x[:3] **= 2
        x[2:5] **= 3
        x[3:] = np.sin(x[3:])
        return x

    start, seed = np.linspace(0.5, 1.2, 6), np.array([1.0, -2.0, 0.5, 3.0, 1.5, -1.0])
    x = dt.from_numpy(start, grad=True)
    with dt.Tape() as tape:
        chained(x[:3], x[3:], x[2:5])
    tape.backward({x: seed})
    np.testing.assert_allclose(x.to_numpy(), values(start), rtol=1e-14)
    moved = [values(start + 1e-30j * one) for one in np.eye(6)]
    np.testing.assert_allclose(x.grad.to_numpy(), np.imag(moved) @ seed / 1e-30, rtol=1e-13)


def test_a_result_returned_twice_has_a_cotangent_for_each() -> None:
    def both(x: Any) -> Any:
        y = coupled(x)
        return y, y

    value, pull = dt.vjp(both, X)
    assert len(value) == 2
    (found,) = pull((S, W))
    np.testing.assert_allclose(found, (S + W) @ JACOBIAN, rtol=1e-13)


@dt.kernel
def add_up_from_one(x, y):
    total = 0.0
    for i in x:
        total += x[i]
        ti.atomic_max(total, 1.0)
    y[None] = total


def test_a_local_that_two_operations_change_is_no_total_of_any_order() -> None:
    x, y = dt.from_numpy(np.array([0.5, 2.0, 3.0]), grad=True), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(y):
        add_up_from_one(x, y)
    assert float(y[None]) == 6.0  # max(0.5, 1) + 2 + 3
    assert x.grad.to_numpy().tolist() == [0.0, 1.0, 1.0]
