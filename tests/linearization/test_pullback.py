"""Pullbacks: a stretch of launches, differentiated in private and as often as wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.linearization.derivatives import push
from difftile.linearization.pullback import Pullback
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.uses import Keeps, Use
from difftile.substrate import current_session


@dt.kernel
def mix(x, k, y):
    for i in y:
        y[i] = ti.sin(k[None] * x[i]) * x[(i + 1) % 3]


@dt.kernel
def square(y, n: int):
    for i in range(n):
        y[i] *= y[i]


@dt.kernel
def two_stages(x, y):
    total = 0.0
    for i in x:
        total += x[i] * x[i]
    for i in x:
        y[i] += total * x[i]


X = np.array([0.4, -1.1, 0.7])
K = 0.8


def fields(grad: bool) -> tuple[dt.Field, dt.Field, dt.Field]:
    return (
        dt.from_numpy(X, grad=grad),
        dt.full((), K, ti.f64, grad=grad),
        dt.zeros(3, ti.f64, grad=grad),
    )


def work(x: dt.Field, k: dt.Field, y: dt.Field) -> None:
    mix(x, k, y)
    square(y, 2)
    y[2] = 3.0
    two_stages(x, y)
    x[1:].copy_from(y[:2])
    with dt.no_grad():
        square(y, 1)


def reference(x: npt.NDArray, k: complex, y: npt.NDArray) -> None:
    y[:] = np.sin(k * x) * np.roll(x, -1)
    y[:2] **= 2
    y[2] = 3.0
    y += np.sum(x * x) * x
    x[1:] = y[:2]
    y[:1] = (y[:1] ** 2).real


def jacobian() -> npt.NDArray:
    """Return the derivatives of x and y after by x and k before, through complex steps."""
    rows = []
    for j in range(4):
        x, k, y = X.astype(complex), complex(K), np.zeros(3, complex)
        if j < 3:
            x[j] += 1e-30j
        else:
            k += 1e-30j
        reference(x, k, y)
        rows.append(np.concatenate([x, y]).imag / 1e-30)
    return np.array(rows).T


@pytest.mark.parametrize("grad", [False, True])
def test_products_agree_with_the_complex_step_and_leave_all_alone(grad: bool) -> None:
    expected = jacobian()
    rng = np.random.default_rng(0)
    x, k, y = fields(grad)
    if grad:
        for one in (x, k, y):
            one.grad.fill(7.0)
    pullback = Pullback(lambda: work(x, k, y))
    after = x.to_numpy(), y.to_numpy()
    plain = X.copy(), np.zeros(3)
    reference(plain[0], K, plain[1])
    np.testing.assert_allclose(after, plain, rtol=1e-14)
    for _ in range(2):
        bar = rng.standard_normal(6)
        found = pullback.pull({x: bar[:3], y: bar[3:]}, (x, k))
        np.testing.assert_allclose(found[x].to_numpy(), (bar @ expected)[:3], rtol=1e-12)
        np.testing.assert_allclose(found[k].to_numpy(), (bar @ expected)[3], rtol=1e-12)
        alone = pullback.pull({x: bar[:3], y: bar[3:]}, (k,))
        assert list(alone) == [k]
        np.testing.assert_allclose(alone[k].to_numpy(), (bar @ expected)[3], rtol=1e-12)
        dot = rng.standard_normal(4)
        moved = push(pullback, {x: dot[:3], k: dot[3]}, (x, y))
        both = np.concatenate([moved[x], moved[y]])
        np.testing.assert_allclose(both, expected @ dot, rtol=1e-12)
    assert np.array_equal((x.to_numpy(), y.to_numpy()), after)
    if grad:
        assert all((one.grad.to_numpy() == 7.0).all() for one in (x, k, y))
    pullback.rewind()
    assert np.array_equal(x.to_numpy(), X)


def test_contents_may_change_meanwhile() -> None:
    x, k, y = fields(grad=True)
    pullback = Pullback(lambda: mix(x, k, y))
    expected = pullback.pull({y: 1.0}, (x,))[x].to_numpy()
    x.fill(5.0)
    k[None] = 2.0
    for wrt in ((x,), (x, k)):
        found = pullback.pull({y: 1.0}, wrt)[x].to_numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert x[0] == 5.0 and k[None] == 2.0


def test_a_tape_does_not_write_into_what_is_kept() -> None:
    x, k = dt.full(500, 0.5, ti.f64, grad=True), dt.full((), K, ti.f64, grad=True)
    y = dt.zeros(500, ti.f64, grad=True)
    pullback = Pullback(lambda: wave(x, k, y))
    expected = pullback.pull({y: 1.0}, (k,))[k][None]
    with dt.Tape() as tape:
        wave(x, k, y)
        x[3] = 100.0
        wave(x, k, y)
    assert pullback.pull({y: 1.0}, (k,))[k][None] == expected
    tape.backward({y: 1.0})


@dt.kernel
def wave(x, k, y):
    for i in y:
        y[i] = ti.sin(k[None] * x[i])


def test_an_open_tape_hears_nothing() -> None:
    x, k, y = fields(grad=True)
    with dt.Tape() as tape:
        Pullback(lambda: work(x, k, y)).rewind()
        mix(x, k, y)
    assert len(tape) == 1
    tape.backward({y: 1.0})


def test_what_is_touched_is_known() -> None:
    x, k, y = fields(grad=True)
    pullback = Pullback(lambda: work(x, k, y))
    assert set(pullback.fields) == {x, k, y}
    assert set(pullback.written) == {x, y}
    assert set(pullback.found) == {x, k}  # y is overwritten whole first


class Sine(OpaqueStep):
    """y = sin(x), in NumPy."""

    def __init__(self, x: dt.Field, y: dt.Field) -> None:
        uses = (Use(x, True, False, Keeps.BEFORE, "x"), Use(y, False, True, name="y"))
        super().__init__("sine", uses)
        self.x, self.y = x, y

    def run(self) -> None:
        self.y.from_numpy(np.sin(self.x.to_numpy()))

    def reverse(self, then: Any, saved: None) -> None:
        x, y = then[self.x], then[self.y]
        x.grad_out.from_numpy(np.cos(x.to_numpy()) * y.grad_in.to_numpy())


@pytest.mark.parametrize("grad", [False, True])
def test_steps_whose_inside_is_not_seen_are_pulled_through(grad: bool) -> None:
    x, k, y = fields(grad)
    z, w = dt.zeros(3, ti.f64), dt.zeros((), ti.f64)

    def work() -> None:
        perform(Sine(x, z))
        mix(z, k, y)
        perform(Sine(k, w))

    pullback = Pullback(work)
    bar = np.array([0.3, -0.2, 1.1])
    found = pullback.pull({y: bar, w: 2.0}, (x, k))
    expected = []
    for j in range(4):
        moved, by = X.astype(complex), complex(K)
        if j < 3:
            moved[j] += 1e-30j
        else:
            by += 1e-30j
        out = np.sin(by * np.sin(moved)) * np.roll(np.sin(moved), -1)
        expected.append((bar @ out + 2.0 * np.sin(by)).imag / 1e-30)
    np.testing.assert_allclose([*found[x].to_numpy(), found[k][None]], expected, rtol=1e-12)
    assert not push(pullback, {y: np.ones(3)}, (z,))[z].any()
    with pytest.raises(dt.TapeError, match="Tangents are not pushed through sine"):
        push(pullback, {x: np.ones(3)}, (y,))


def test_a_detached_field_is_a_constant() -> None:
    x, k, y = fields(grad=True)
    pullback = Pullback(lambda: mix(x.detach(), k, y))
    found = pullback.pull({y: 1.0}, (x, k))
    assert not found[x].to_numpy().any() and found[k].to_numpy() != 0
    plain = x.detach()
    assert Pullback(lambda: mix(plain, k, y)).pull({y: 1.0}, (plain,))[plain].to_numpy().any()


def test_memory_comes_back() -> None:
    x, k, y = fields(grad=False)
    before = current_session().pool.kept
    pullback = Pullback(lambda: work(x, k, y))
    pullback.pull({y: 1.0}, (x, k))
    assert current_session().pool.kept > before
    pullback.release()
    assert current_session().pool.kept == before
    pullback = Pullback(lambda: work(x, k, y))
    del pullback
    assert current_session().pool.kept == before
