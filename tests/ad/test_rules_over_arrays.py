"""Rules of funcs whose arguments are arrays of the thread, and derivatives by such arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.passes.last_writes import last_writes

N = 3


def of(values: Any) -> Any:
    return dt.from_numpy(np.asarray(values, float), dtype=ti.f64, grad=True)


# The root of D x + c q x^3 = r, whose gradient is that of phi, with x and its adjoint held constant


@dt.func
def phi(d, r, c, q, x, adjoint):
    total = 0.0
    for i in range(N):
        total -= adjoint[i] * (d[i] * x[i] + c * q[i] * x[i] ** 3 - r[i])
    return total


@dt.func
def find_root(d, r, c, q, x):
    for _ in range(30):
        for i in range(N):
            slope = d[i] + 3.0 * c * q[i] * x[i] ** 2
            x[i] -= (d[i] * x[i] + c * q[i] * x[i] ** 3 - r[i]) / slope


@find_root.backward
def _(d, r, c, q, x):
    adjoint = dt.local(N)
    for i in range(N):
        adjoint[i] = x.grad_in[i] / (d[i] + 3.0 * c * q[i] * x[i] ** 2)
    d_c, _, _ = dt.bwd_diff(phi)(d, r, c, q, x, adjoint, 1.0)
    return d_c


@dt.kernel
def root(a, b, k, q, y):
    d, r, x = dt.local(N), dt.local(N), dt.local(N)
    for i in range(N):
        d[i] = 1.0 + a[i] * a[i]
        r[i] = ti.sin(b[i])
    find_root(d, r, k[None] ** 2, q, x)
    for i in range(N):
        y[i] = x[i] * x[i]


def test_a_rule_by_the_implicit_function() -> None:
    """Gradients of arrays, of a number, and of a field that the worlds share."""
    rng = np.random.default_rng(3)
    at = [
        rng.normal(size=(2, N)),
        rng.normal(size=(2, N)),
        rng.uniform(1, 2, 2),
        rng.normal(size=N) ** 2,
    ]
    seed = rng.normal(size=(2, N))
    run = dt.batch(root, 2, shared="q")

    def value(values: list[Any]) -> float:
        y = of(np.zeros((2, N)))
        run(*map(of, values), y)
        return float(np.sum(seed * y.to_numpy()))

    fields, y = list(map(of, at)), of(np.zeros((2, N)))
    with dt.Tape() as tape:
        run(*fields, y)
    tape.backward({y: seed})
    for k, field in enumerate(fields):
        way = rng.normal(size=at[k].shape)
        ends = [value([*at[:k], at[k] + e * way, *at[k + 1 :]]) for e in (1e-4, -1e-4)]
        slope = float(np.sum(way * field.grad.to_numpy()))
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-4, rtol=1e-7)
        # The tangent is the transpose of the rule.
        moved = dt.jvp(lambda *some: run(*some, y) or y, tuple(fields), _along(fields, k, way))[1]
        np.testing.assert_allclose(np.sum(seed * moved.to_numpy()), slope, rtol=1e-12)


def _along(fields: list[Any], k: int, way: Any) -> tuple[Any, ...]:
    """Return tangents of fields, of which one varies."""
    return tuple(of(way if i == k else np.zeros(one.shape)) for i, one in enumerate(fields))


# A rule in both directions, of a func that changes part of an array


@dt.func
def put_products(x, y):
    for i in range(N):
        y[i] = x[i] * x[(i + 1) % N]


@put_products.backward
def _(x, y):
    for i in range(N):
        x.grad_out[i] += y.grad_in[i] * x[(i + 1) % N]
        x.grad_out[(i + 1) % N] += y.grad_in[i] * x[i]


@put_products.forward
def _(x, y):
    for i in range(N):
        j = (i + 1) % N
        y.grad_in[i] = x.grad_out[i] * x[j] + x[i] * x.grad_out[j]


@dt.kernel
def products(a, b):
    x, y = dt.local(N), dt.local(N + 1)
    y[N] = a[0]
    for i in range(N):
        x[i] = ti.exp(a[i])
    put_products(x, y)
    for i in range(N + 1):
        b[i] = y[i] ** 2 + x[i % N]


def test_a_rule_in_both_directions() -> None:
    a, way, seed = np.array([0.1, -0.4, 0.7]), np.array([1.0, 0.5, -2.0]), np.array([1, 2, 3, 4.0])

    def value(a: Any) -> Any:
        x = np.exp(a)
        return np.append(x * np.roll(x, -1), a[0]) ** 2 + np.append(x, x[0])

    slope = np.imag(value(a + 1e-30j * way)) / 1e-30

    def run(a: Any) -> Any:
        b = of(np.zeros(N + 1))
        products(a, b)
        return b

    b, tangent = dt.jvp(run, (of(a),), (of(way),))
    np.testing.assert_allclose(b.to_numpy(), value(a), rtol=1e-14)
    np.testing.assert_allclose(tangent.to_numpy(), slope, rtol=1e-14)
    _, pull = dt.vjp(run, of(a))
    (gradient,) = pull(of(seed))
    np.testing.assert_allclose(np.sum(way * gradient.to_numpy()), np.sum(seed * slope), rtol=1e-14)


# Derivatives in kernels


@dt.func
def energy(x, k):
    total = 0.0
    for i in range(N):
        total += 0.25 * k * (x[i + 1] - x[i]) ** 4
    return total


@dt.kernel
def forces(x, k, f, g):
    y, v = dt.local(N + 1), dt.local(N + 1)
    for i in range(N + 1):
        y[i] = ti.sin(x[i])
        v[i] = 1.0 * i
    d_y, d_k = dt.bwd_diff(energy)(y, k[None], 1.0)
    for i in range(N + 1):
        f[i] = d_y[i]
    g[None] = d_k + 10.0 * dt.fwd_diff(energy)(y, k[None], v, 2.0)


def test_derivatives_by_arrays_in_kernels() -> None:
    """They are arrays, and can be differentiated again."""
    rng = np.random.default_rng(5)
    at, way, seed = rng.normal(size=N + 1), rng.normal(size=N + 1), rng.normal(size=N + 1)

    def value(x: Any) -> tuple[Any, Any]:
        d = np.diff(np.sin(x))
        f = 1.5 * (np.append(0, d**3) - np.append(d**3, 0))
        return f, 0.25 * np.sum(d**4) + 10 * (f @ np.arange(N + 1) + 0.5 * np.sum(d**4))

    x, f, g = of(at), of(np.zeros(N + 1)), of(0.0)
    with dt.Tape() as tape:
        forces(x, of(1.5), f, g)
    np.testing.assert_allclose(f.to_numpy(), value(at)[0], rtol=1e-13)
    np.testing.assert_allclose(g[None], value(at)[1], rtol=1e-13)
    tape.backward({f: seed, g: 1.0})
    moved = value(at + 1e-30j * way)
    slope = np.imag(seed @ moved[0] + moved[1]) / 1e-30
    np.testing.assert_allclose(np.sum(way * x.grad.to_numpy()), slope, rtol=1e-12)


# Refusals


def test_what_rules_over_arrays_cannot_have() -> None:
    @dt.func
    def doubled(x, y):
        for i in range(N):
            x[i] = 2.0 * x[i] + y[i]

    @dt.kernel
    def run(a, b):
        x, y = dt.local(N), dt.local(N)
        for i in range(N):
            x[i] = a[i]
        doubled(x, y)
        for i in range(N):
            b[i] = x[i]

    @doubled.backward
    def _(x, y):
        for i in range(N):
            y.grad_out[i] += x.before[i]

    with pytest.raises(dt.KernelError, match="array of the thread, which keeps no contents"):
        run(of(np.ones(N)), of(np.ones(N)))


@dt.func
def doubled(a, out):
    out[0] = 2.0 * a[0]


@doubled.backward
def _(a, out):
    a.grad_out[0] += 2.0 * out.grad_in[0]


@doubled.forward
def _(a, out):
    out.grad_in[0] = 2.0 * a.grad_out[0]


@dt.kernel
def squares_doubled(x, y):
    for i in x:
        a, out = dt.local(1), dt.local(1)
        for k in range(1):
            a[k] = x[i] * x[i]
        doubled(a, out)
        y[i] = out[0]


def test_an_element_with_one_place_in_all_of_the_kernel() -> None:
    """Its value stands for it; only the rule still asks for the gradient of the array."""
    x = of([1.5, -0.7])

    def value(x: Any) -> Any:
        y = dt.zeros_like(x)
        squares_doubled(x, y)
        return y

    _, tangent = dt.jvp(value, (x,), (of([1.0, 2.0]),))
    np.testing.assert_allclose(tangent.to_numpy(), [6.0, -5.6], rtol=1e-14)
    _, pull = dt.vjp(value, x)
    np.testing.assert_allclose(pull(of([1.0, 3.0]))[0].to_numpy(), [6.0, -8.4], rtol=1e-14)


@dt.kernel
def doubled_in_turn(x, y, n: int):
    for i in x:
        a, out, t = dt.local(1), dt.local(1), 0.0
        for _ in range(n):
            doubled(a, out)
            t += out[0] * x[i]
            a[0] = ti.sin(t) + x[i] * x[i]
        y[i] = t


def test_a_rule_of_the_next_iteration_asks_for_what_this_one_stores() -> None:
    """The value is carried on, and only the rule still mentions the array."""
    call, _ = doubled_in_turn._ready((of([0.5]), of([0.0]), 3), {})
    (stage,) = call.code.stages
    assert last_writes(stage.program) == stage.program


@dt.func
def doubled_by_body(a, out):
    out[0] = 2.0 * a[0]


@dt.kernel
def doubled_in_turn_by_body(x, y, n: int):
    for i in x:
        a, out, t = dt.local(1), dt.local(1), 0.0
        for _ in range(n):
            doubled_by_body(a, out)
            t += out[0] * x[i]
            a[0] = ti.sin(t) + x[i] * x[i]
        y[i] = t


def test_a_second_derivative_through_a_rule_in_a_loop() -> None:
    """The loop is run again for a log of what it overwrites, with the rule in it."""

    def curvature(kernel: Any) -> Any:
        def value(x: Any) -> Any:
            y = dt.zeros_like(x)
            kernel(x, y, 3)
            return y

        return dt.hvp(value, (np.array([0.6]),), (np.array([1.5]),))

    np.testing.assert_allclose(curvature(doubled_in_turn), curvature(doubled_in_turn_by_body))


@dt.kernel
def sum_of_pairs(x, total):
    for i in range(x.shape[0] - 1):
        a, out = dt.local(1), dt.local(1)
        for k in range(2):
            a[0] = ti.sin(x[i] * x[i + 1]) + out[0] * x[i + k]
            doubled(a, out)
        total[None] += out[0] * out[0]


def test_a_sparse_hessian_through_a_rule() -> None:
    """Unrolled iterations have the rule of their loop."""
    pytest.importorskip("scipy")

    def value(x: Any) -> Any:
        total = dt.zeros((), dtype=ti.f64)
        sum_of_pairs(x, total)
        return total

    x = np.array([0.3, 0.7, -0.4, 0.9])
    found = dt.sparse_hessian(value)(x).toarray()
    np.testing.assert_allclose(found, np.asarray(dt.hessian(value)(x)), rtol=1e-12, atol=1e-12)
    assert np.abs(found).max() > 1.0
