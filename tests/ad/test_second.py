"""Tangents of cotangents, against differences of the cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.compile.stage import Adjoint, Batched, DerivedCode, Request, Stage, TangentOnly
from difftile.ir.derived import Derived
from difftile.linearization import together
from difftile.linearization.derivatives import push_pull
from difftile.linearization.pullback import Pullback

pytestmark = pytest.mark.usefixtures("poisoned_memory")

N = 20


@dt.kernel
def step(x, v, k):
    for i in range(20):
        f = -k[None] * ti.sin(x[i])
        if i > 0:
            f += (x[i - 1] - x[i]) ** 3
        v[i] += 0.1 * f
    for i in range(20):
        x[i] += 0.1 * v[i]


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += x[i] ** 4 * 0.1 + ti.tanh(x[i])


@dt.kernel
def trajectory(x, k, loss):
    for i in x:
        s = x[i]
        for _ in range(150):  # beyond the checkpoints of a loop
            s += 0.02 * ti.sin(k[None] * s)
        loss[None] += s * s


def test_second_derivatives_of_a_stretch() -> None:
    """Updates in place, writes from Python, loops with checkpoints."""
    rng = np.random.default_rng(0)
    x0, v0, dx = (rng.uniform(-0.5, 0.5, N) for _ in range(3))
    dk = 0.7
    x, v, k, loss = (dt.zeros(shape, dtype=ti.f64) for shape in (N, N, (), ()))

    def run() -> None:
        loss.fill(0.0)
        for t in range(30):
            step(x, v, k)
            if t == 10:
                x[3] = 0.5
                v[2:4].copy_from(x[2:4])
        energy(x, loss)
        trajectory(x, k, loss)

    def stretch(along: float) -> Pullback:
        x.from_numpy(x0 + along * dx)
        v.from_numpy(v0)
        k.fill(2.0 + along * dk)
        return Pullback(run)

    def gradient(along: float) -> Any:
        found = stretch(along).pull({loss: 1.0}, (x, k))
        return np.append(found[x].to_numpy(), found[k].to_numpy())

    bars, dots = push_pull(stretch(0.0), {x: dx, k: np.array(dk)}, {loss: 1.0}, {loss: 0.5}, (x, k))
    first = np.append(bars[x].to_numpy(), bars[k].to_numpy())
    second = np.append(dots[x].to_numpy(), dots[k].to_numpy())
    np.testing.assert_allclose(first, gradient(0.0), rtol=1e-12)
    e = 1e-4
    near = gradient(e) - gradient(-e)
    far = gradient(2 * e) - gradient(-2 * e)
    numeric = (8 * near - far) / (12 * e)
    np.testing.assert_allclose(second, numeric + 0.5 * first, rtol=1e-8, atol=1e-8)


def test_constants_have_no_second_derivatives() -> None:
    x, loss = dt.ones(3, dtype=ti.f64), dt.zeros((), dtype=ti.f64)
    x_dot = np.array([1.0, 2.0, 3.0])

    def run() -> None:
        loss.fill(0.0)
        with dt.no_grad():
            energy(x, loss)
        assert loss[None] != 0.0
        energy(x, loss)
        with dt.no_grad():
            x[1] = 0.5
            halved(x)
        energy(x, loss)

    @dt.kernel
    def halved(x):
        x[2] = 0.5 * x[2]

    bars, dots = push_pull(Pullback(run), {x: x_dot}, {loss: 1.0}, {}, (x,))
    slope = 0.4 + 1 - np.tanh(1) ** 2
    curvature = 1.2 - 2 * np.tanh(1) * (1 - np.tanh(1) ** 2)
    times = np.array([2.0, 1.0, 1.0])  # the second energy sees only the first number vary
    np.testing.assert_allclose(bars[x].to_numpy(), slope * times, rtol=1e-14)
    np.testing.assert_allclose(dots[x].to_numpy(), curvature * times * x_dot, rtol=1e-14)


def test_threads_that_derive_a_stage_at_once_get_the_same_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The tangent of an adjoint names parameters of the adjoint: of two, it would miss the other's.
    x, loss = dt.ones(3, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    raced._ready((x, loss), {})
    assert raced._latest is not None
    (stage,) = raced._latest.stages
    request = Adjoint(frozenset(stage.program.arrays))
    derive, faster = Stage._derive, []

    def derive_late(self: Stage, request: Adjoint) -> Derived | None:
        made = derive(self, request)
        if not faster:
            faster.append(None)
            faster[0] = self.derived(request)  # as another thread does meanwhile
        return made

    monkeypatch.setattr(Stage, "_derive", derive_late)
    assert stage.derived(request) is faster[0]


@dt.kernel
def raced(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


@dt.kernel
def strained(x, y, k, loss):
    """Sums in locals, a maximum, a local array and two stages."""
    total = 0.0
    for i in x:
        total += x[i].norm_sqr()
    for i in x:
        near = x[(i + 1) % x.shape[0]]
        y[i] = x[i] + 0.1 * total * ti.sin(near) * k[None]
    for i in x:
        x[i] = y[i]
        ti.atomic_max(loss[1], x[i].dot(x[i]) + total)
    for i in x:
        loss[0] += ti.exp(-x[i].norm_sqr()) * total


@dt.kernel
def scanned(x, loss):
    """A serial loop that carries a value along the field."""
    for _ in range(1):
        sum = ti.Vector([0.0, 0.0])
        for i in range(x.shape[0]):
            sum = 0.5 * sum * x[i] + x[i].yx
            loss[0] += sum.x**2 * sum.y


@dt.kernel
def summed(loss, out):
    out[None] = loss[0] * loss[1] + loss[0] ** 2


def strain(x: Any, k: Any) -> Any:
    y, loss, out = dt.zeros_like(x), dt.zeros(2, ti.f64), dt.zeros((), ti.f64)
    for step in range(3):
        strained(x, y, k, loss)
        if step == 1:
            x[2:4].copy_from(x[0:2])
            x[4] = [0.3, 0.2]
    scanned(x, loss)
    summed(loss, out)
    return out


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("chunk", [None, 3])
def test_many_columns_of_a_hessian_at_once(
    monkeypatch: pytest.MonkeyPatch, chunk: int | None, wide: bool
) -> None:
    """One adjoint for all directions, or one for each, against one direction after the other."""
    start = np.random.default_rng(3).uniform(-0.6, 0.6, (5, 2))
    x = dt.from_numpy(start, dt.vec(2, ti.f64))
    expected = dt.hessian(strain, (0, 1), chunk=1)(x, 0.7)
    reached: list[bool] = []
    if wide:
        code = Stage.code

        def without(self: Stage, request: Request) -> DerivedCode | None:
            match request:
                case Batched(TangentOnly(of=Adjoint())):
                    return None
                case _:
                    return code(self, request)

        monkeypatch.setattr(Stage, "code", without)

    def counted(*args: Any) -> Any:
        found = push_pull(*args)
        reached.append(len(args) == 6)
        return found

    monkeypatch.setattr(together, "push_pull", counted)
    found = dt.hessian(strain, (0, 1), chunk=chunk)(x, 0.7)
    assert any(reached)
    for row, other in zip(found, expected, strict=True):
        for block, wanted in zip(row, other, strict=True):
            np.testing.assert_allclose(block, wanted, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][0], rtol=1e-10, atol=1e-12)


@dt.kernel
def walked(x, y, n: int):
    """One thread writes a row: the adjoint keeps the gradients that it sets to zero in a log."""
    for row in range(1):
        t = 1.0
        for i in range(n):
            y[row + i] = t * ti.sin(x[row + i])
            t = ti.cos(t * x[row + i])


def test_many_columns_of_a_hessian_where_the_adjoint_logs_gradients() -> None:
    """The log is filled on a copy in the shape of a gradient, which no launch is given."""

    def walk(x: Any) -> Any:
        y, loss = dt.zeros_like(x), dt.zeros((), ti.f64)
        walked(x, y, 5)
        energy(y, loss)
        return loss

    x = dt.from_numpy(np.random.default_rng(4).uniform(-1, 1, 5))
    expected = dt.hessian(walk, chunk=1)(x)
    np.testing.assert_allclose(dt.hessian(walk)(x), expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(expected, expected.T, rtol=1e-11, atol=1e-13)
    assert np.min(np.abs(expected[np.tril_indices(5)])) > 1e-6  # each depends on all before


def test_second_derivatives_where_first_ones_vanish() -> None:
    """A quotient is guarded against 0 * inf, and the guard must not hide its own derivative."""

    @dt.kernel
    def quotients(x, y):
        for i in x:
            u = ti.select(x[i] < 5.0, x[i] / (x[i] + 4.0), 0.0)
            if x[i] < 5.0:
                y[None] += u * u + ti.sqrt(4.0 + x[i] * x[i]) / 8.0

    def energy(x: Any) -> Any:
        y = dt.zeros((), ti.f64)
        quotients(x, y)
        return y

    def along(x: Any) -> Any:
        return dt.jvp(energy, (x,), (np.ones(3),))[1]

    x = dt.from_numpy(np.array([0.0, 1.0, 7.0]))
    # u^2: 2 u'^2 + 2 u u'' with u' = 4 / (x + 4)^2; sqrt: 4 / (4 + x^2)^1.5
    second = 2 * (4 / 25) ** 2 - 2 * (1 / 5) * 8 / 125 + 0.5 / 5**1.5
    expected = [2 / 16 + 1 / 16, second, 0.0]
    np.testing.assert_allclose(np.diag(dt.hessian(energy)(x)), expected, rtol=1e-12)
    np.testing.assert_allclose(dt.grad(along)(x), expected, rtol=1e-12)

    @dt.func
    def eighth(x):
        return x * x / 8

    @dt.func
    def slope(x):
        return dt.fwd_diff(eighth)(x, 1.0)

    @dt.kernel
    def bend(x, y):
        for i in x:
            y[i] = ti.Vector([dt.bwd_diff(slope)(x[i], 1.0), dt.fwd_diff(slope)(x[i], 1.0)])

    y = dt.zeros(3, dt.vec(2, ti.f64))
    bend(x, y)
    np.testing.assert_array_equal(y.to_numpy(), 0.25)
