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
