"""Rules of funcs that read and write one field, compared with central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

Launch = Callable[..., None]


@dt.kernel
def weigh(x, w, loss):
    for i in x:
        loss[None] += w[i] * x[i] * x[i]


@dt.func
def square(buf, i):
    buf[i] = buf[i] * buf[i]


@square.backward
def _(buf, i):
    buf.grad_out[i] += 2.0 * buf.before[i] * buf.grad_in[i]


@dt.kernel
def run_square(x, s):
    for i in x:
        square(x, i)


@dt.func
def grow(buf, i, s):
    buf[i] = s * ti.sin(buf[i])
    return buf[i] * s


@grow.backward
def _(buf, i, s, d_out):
    g = buf.grad_in[i] + s * d_out
    buf.grad_out[i] += s * ti.cos(buf[i]) * g
    return ti.sin(buf.before[i]) * g + s * ti.sin(buf.before[i]) * d_out


@dt.kernel
def run_grow(x, s):
    for i in x:
        s[i] = grow(x, i, s[i])


@dt.func
def bend(buf, i):
    if buf[i] > 1.0:
        if buf[i] > 1.25:
            buf[i] = buf[i] * buf[i]
        else:
            buf[i] = 3.0 * buf[i]


@bend.backward
def _(buf, i):
    v = buf.before[i]
    if v > 1.0:
        k = i + 0
        slope = 3.0
        if v > 1.25:
            slope = 2.0 * v
            buf.grad_out[k] += slope * buf.grad_in[k]
        else:
            buf.grad_out[i] += slope * buf.grad_in[i]


@dt.kernel
def run_bend(x, s):
    for i in x:
        bend(x, i)


@dt.func
def swap(x, s, i):
    left = x[i]
    x[i] = s[i] * left
    s[i] = left


@swap.backward
def _(x, s, i):
    g = x.grad_in[i]
    x.grad_out[i] += s[i] * g + s.grad_in[i]
    s.grad_out[i] += x[i] * g


@dt.kernel
def run_swap(x, s):
    for i in x:
        swap(x, s, i)


@dt.func
def spread(buf, i):
    for k in ti.static(range(2)):
        buf[2 * i + k] = buf[2 * i + k] * (k + 2.0)


@spread.backward
def _(buf, i):
    for k in ti.static(range(2)):
        buf.grad_out[2 * i + k] += (k + 2.0) * buf.grad_in[2 * i + k]


@dt.kernel
def run_spread(x, s):
    for i in range(x.shape[0] // 2):
        spread(x, i)


@dt.func
def more(buf, i, s):
    buf[i] += s * buf[i] * buf[i]


@more.backward
def _(buf, i, s):
    g = buf.grad_in[i]  # which '+=' passes on by itself
    buf.grad_out[i] += 2.0 * s * buf[i] * g
    return buf[i] * buf[i] * g


@dt.kernel
def run_more(x, s):
    for i in x:
        more(x, i, s[i])


@dt.func
def chain(buf, i):
    buf[i] = buf[i] * buf[i - 1]


@chain.backward
def _(buf, i):
    g = buf.grad_in[i]
    buf.grad_out[i] += buf.before[i - 1] * g
    buf.grad_out[i - 1] += buf.before[i] * g


@dt.kernel
def run_chain(x, s):
    for i in range(x.shape[0] // 2):
        chain(x, 2 * i + 1)


@dt.func
def double(a):
    for k in range(2):
        a[k, 0] = 2.0 * a[k, 0]


@double.backward
def _(a):
    for k in range(2):
        a.grad_out[k, 0] += 2.0 * a.grad_in[k, 0]


@dt.kernel
def run_double(x, s):
    for i in x:
        a = dt.local((2, 2))
        a[0, 0] = ti.sin(x[i])
        a[1, 0] = s[i]
        a[1, 1] = x[i]
        double(a)
        x[i] = a[0, 0] * a[1, 0] * a[1, 1]


RUNS: list[Launch] = [
    *(run_square, run_grow, run_bend, run_swap, run_spread, run_more, run_chain, run_double),
]
X = np.array([0.7, 1.1, 1.4, 0.9])
S = np.array([1.3, 0.6, 0.8, 1.2])
W = np.array([1.0, -0.5, 2.0, 0.7])


def value(run: Launch, x: Any, s: Any) -> float:
    a, b, loss = dt.from_numpy(x), dt.from_numpy(s), dt.zeros((), ti.f64)
    run(a, b)
    weigh(a, dt.from_numpy(W), loss)
    weigh(b, dt.from_numpy(W), loss)
    return loss[None]


def slopes(run: Launch) -> list[Any]:
    """Return central differences of fourth order."""
    found = [np.zeros(4), np.zeros(4)]
    for k in range(2):
        for i in range(4):
            for step, weight in ((1e-3, 8.0), (-1e-3, -8.0), (2e-3, -1.0), (-2e-3, 1.0)):
                args = [X.copy(), S.copy()]
                args[k][i] += step
                found[k][i] += weight * value(run, *args) / 12e-3
    return found


@pytest.mark.parametrize("run", RUNS)
def test_gradients_on_tapes_and_by_grad(run: Launch) -> None:
    wanted = slopes(run)
    weights = dt.from_numpy(W)
    for options in ({}, {"snapshots": 3}):
        x, s = dt.from_numpy(X, grad=True), dt.from_numpy(S, grad=True)
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss, **options):
            run(x, s)
            weigh(x, weights, loss)
            weigh(s, weights, loss)
        np.testing.assert_allclose(x.grad.to_numpy(), wanted[0], rtol=1e-8)
        np.testing.assert_allclose(s.grad.to_numpy(), wanted[1], rtol=1e-8)

    def f(x: dt.Field, s: dt.Field) -> dt.Field:
        a, b, loss = x.copy(), s.copy(), dt.zeros((), ti.f64)
        run(a, b)
        weigh(a, weights, loss)
        weigh(b, weights, loss)
        return loss

    found = dt.grad(f, argnums=(0, 1))(dt.from_numpy(X), dt.from_numpy(S))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.to_numpy(), other, rtol=1e-8)


def test_the_rule_is_the_one_that_runs() -> None:
    @dt.func
    def triple(buf, i):
        buf[i] = 3.0 * buf[i]

    @triple.backward
    def _(buf, i):
        buf.grad_out[i] += 5.0 * buf.grad_in[i]

    @dt.kernel
    def run(x):
        for i in x:
            triple(x, i)

    x = dt.from_numpy(X, grad=True)
    with dt.Tape() as tape:
        run(x)
        run(x)
    tape.backward({x: 1.0})
    assert x.grad.tolist() == [25.0] * 4
    assert not dt.check_rule(triple, dt.ones(3, ti.f64, grad=True), 1)


def test_vectors() -> None:
    @dt.func
    def scale(buf, i):
        buf[i] = buf[i] * buf[i].x

    @scale.backward
    def _(buf, i):
        v, g = buf.before[i], buf.grad_in[i]
        buf.grad_out[i] += v.x * g
        buf.grad_out[i].x += v.dot(g)

    v = dt.from_numpy(np.arange(1.0, 7.0).reshape(3, 2), dtype=ti.math.vec2, grad=True)
    assert dt.check_rule(scale, v, 1)


@pytest.mark.parametrize("run", RUNS)
def test_tangents_and_second_derivatives(run: Launch) -> None:
    weights = dt.from_numpy(W)
    args, dots = (X, S), (W[::-1].copy(), np.array([0.3, -0.8, 0.5, 1.0]))

    def ends(x: Any, s: Any) -> tuple[Any, Any]:
        a, b = x.copy(), s.copy()
        run(a, b)
        return a, b

    def loss(x: Any, s: Any) -> Any:
        found = dt.zeros((), ti.f64, grad=True)
        for one in ends(x, s):
            weigh(one, weights, found)
        return found

    def along(f: Callable[..., Any]) -> list[Any]:
        """Return central differences of fourth order along the direction."""
        total = [0.0, 0.0]
        for step, weight in ((1e-3, 8.0), (-1e-3, -8.0), (2e-3, -1.0), (-2e-3, 1.0)):
            moved = (one + step * dot for one, dot in zip(args, dots, strict=True))
            total = [a + weight * b / 12e-3 for a, b in zip(total, f(*moved), strict=True)]
        return total

    given = tuple(map(dt.from_numpy, args)), tuple(map(dt.from_numpy, dots))
    found = [one.to_numpy() for one in dt.jvp(ends, *given)[1]]
    gradient = dt.grad(loss, argnums=(0, 1))
    plain = along(lambda *moved: [one.to_numpy() for one in ends(*map(dt.from_numpy, moved))])
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
    # The dot-product test
    bars = dt.vjp(ends, *args)[1]((W, S))
    product = sum(np.dot(*pair) for pair in zip(bars, dots, strict=True))
    np.testing.assert_allclose(product, np.dot(found[0], W) + np.dot(found[1], S), rtol=1e-13)
    for one, other in zip(dt.hvp(loss, args, dots), along(gradient), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_a_rule_that_calls_a_func_with_a_rule() -> None:
    @dt.func
    def slope(v):
        return ti.cos(v)

    @slope.backward
    def _(v, d_out):
        return -ti.sin(v) * d_out

    @dt.func
    def sine(buf, i):
        buf[i] = ti.sin(buf[i])

    @sine.backward
    def _(buf, i):
        buf.grad_out[i] += slope(buf.before[i]) * buf.grad_in[i]

    assert dt.check_rule(sine, dt.zeros(3, ti.f64, grad=True), 1)
