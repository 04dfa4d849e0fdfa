"""Random numbers: their distributions, and that the same draw always gives the same number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.launch import prepared_launch as launches
from difftile.launch.streams import Streams
from difftile.ops.random import random_bits
from tests.harness import many_threads

N, M = 4000, 16


@dt.kernel
def uniform(y):
    for i, j in y:
        y[i, j] = dt.rand()


@dt.kernel
def normal(y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = dt.randn()


@dt.kernel
def dice(y):
    for i, j in y:
        y[i, j] = dt.randint(-2, 4)


@dt.kernel
def kinds(y, k, h):
    for i in y:
        y[i] = ti.random(ti.f32)
        k[i] = ti.random(ti.i32)
        h[i] = ti.cast(ti.random(ti.f16), ti.f32)


@dt.kernel
def by_element(x, y):
    for i in x:
        y[i] = x[i] * dt.rand()


@dt.kernel
def long_walk(x, y, n: int):
    for i in x:
        s = x[i]
        for k in range(n):
            s = s * (0.9 + 0.2 * dt.rand())
        y[i] = s


@dt.kernel
def picked(v, y):
    for i in y:
        for k in range(3):
            y[i] += v[dt.randint(5)].sum() + dt.rand()


@dt.kernel
def picked_by_name(v, y):
    for i in y:
        for k in range(3):
            at = dt.randint(5)
            y[i] += v[at].sum() + dt.rand()


def drawn(kernel: Any, dtype: Any = ti.f32, shape: Any = (N, M)) -> npt.NDArray[Any]:
    """Return the numbers that a kernel draws into a fresh field."""
    y = dt.field(dtype, shape=shape)
    kernel(y)
    return y.to_numpy()


@pytest.fixture(autouse=True)
def same_streams() -> Any:
    """Let every test begin with the first stream."""
    with mock.patch.object(launches, "STREAMS", Streams()):
        yield


def correlation(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


def check_independent(y: npt.NDArray[Any], again: npt.NDArray[Any]) -> None:
    """Check neighbours, elements farther away, draws of one thread, and launches."""
    limit = 5 / np.sqrt(y.size)
    for shift in (1, 2, 3, 64, 256, 1024):
        assert abs(correlation(y[shift:], y[:-shift])) < limit, f"threads {shift} apart"
    for shift in (1, 2, 8):
        pairs = (y[:, shift:], y[:, :-shift])
        assert abs(correlation(*pairs)) < 5 / np.sqrt(pairs[0].size), f"draws {shift} apart"
        assert abs(correlation(*(p**2 for p in pairs))) < 5 / np.sqrt(pairs[0].size)
    assert abs(correlation(y, again)) < limit, "launches"


@pytest.mark.parametrize("dtype", [ti.f32, ti.f64])
def test_uniform_numbers_are_uniform_and_independent(dtype: Any) -> None:
    y, again = drawn(uniform, dtype).astype(float), drawn(uniform, dtype).astype(float)
    assert 0 <= y.min() < 1e-3 and 1 - 1e-3 < y.max() < 1
    assert abs(y.mean() - 1 / 2) < 5 / np.sqrt(12 * y.size)
    assert abs(y.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / y.size)
    counts, _ = np.histogram(y, 64, (0, 1))
    assert np.sum((counts - y.size / 64) ** 2) / (y.size / 64) < 63 + 5 * np.sqrt(2 * 63)
    check_independent(y, again)


@pytest.mark.parametrize("dtype", [ti.f32, ti.f64])
def test_normal_numbers_are_normal_and_independent(dtype: Any) -> None:
    y, again = drawn(normal, dtype).astype(float), drawn(normal, dtype).astype(float)
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(y**power) - moment) < 5 * np.sqrt(spread / y.size), power
    assert 3.5 < np.abs(y).max() < 6
    check_independent(y, again)


def test_integers_are_as_likely_as_each_other() -> None:
    y = drawn(dice, ti.i32)
    counts = np.bincount(y.ravel() + 2)
    assert len(counts) == 6
    assert np.sum((counts - y.size / 6) ** 2) / (y.size / 6) < 5 + 5 * np.sqrt(10)
    check_independent(y.astype(float), drawn(dice, ti.i32).astype(float))


def test_a_range_of_all_integers_is_even() -> None:
    @dt.kernel
    def wide(y, low: int, high: int):
        for i in y:
            y[i] = dt.randint(low, high)

    y = dt.field(ti.i32, shape=6000)
    wide(y, -(2**31), 2**31 - 1)
    quarters = np.bincount((y.to_numpy().astype(np.int64) + 2**31) >> 30, minlength=4)
    assert np.all(np.abs(quarters - 1500) < 5 * np.sqrt(1500))
    wide(y, 7, 7)
    assert np.all(y.to_numpy() == 7)


@pytest.mark.parametrize("kernel", [uniform, dice])
def test_python_draws_the_same_bits(kernel: Any) -> None:
    for dtype in (ti.f32, ti.f64) if kernel is uniform else (ti.i32,):
        with mock.patch.object(launches, "STREAMS", Streams()):
            y = drawn(kernel, dtype, (20, 7))
        (stage,) = kernel._latest.stages
        params = kernel._latest.params
        fields, numbers = {params[0]: np.zeros_like(y)}, {params[1]: 0, params[2]: 0}
        meaning.run(stage.program, fields, numbers)
        assert np.array_equal(fields[params[0]], y)


def test_hash_is_that_of_the_paper() -> None:
    def by_hand(words: list[int]) -> list[int]:
        v = [(w * 1664525 + 1013904223) % 2**32 for w in words]
        for turn in range(2):
            for k, (a, b) in enumerate(((1, 3), (2, 0), (0, 1), (1, 2))):
                v[k] = (v[k] + v[a] * v[b]) % 2**32
            v = [w ^ (w >> 16) for w in v] if turn == 0 else v
        return v

    for words in ([0, 0, 0, 0], [1, 2, 3, 4], [-1, 2**31 - 1, -(2**31), 77]):
        assert list(random_bits(*words)) == by_hand([w % 2**32 for w in words])


def test_types_on_request() -> None:
    y, k, h = dt.field(ti.f64, 3000), dt.field(ti.i32, 3000), dt.field(ti.f32, 3000)
    kinds(y, k, h)
    assert np.all(y.to_numpy() == y.to_numpy().astype(np.float32))
    assert abs((k.to_numpy() < 0).mean() - 0.5) < 0.05
    assert np.unique(h.to_numpy()).size > 1000 and 0.0 <= h.to_numpy().min()
    assert h.to_numpy().max() < 1 and abs(h.to_numpy().mean() - 0.5) < 0.03


def numbers_of(seed: int, threads: int, serial: bool) -> npt.NDArray[Any]:
    dt.init(arch="cpu", seed=seed, cpu_max_num_threads=threads)
    with many_threads(not serial):
        first = drawn(uniform, ti.f32, (31, 5))
        return np.stack([first, drawn(uniform, ti.f32, (31, 5))])


def test_seed_decides_alone(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: dt.init(arch="cpu"))
    one = numbers_of(5, threads=1, serial=True)
    assert np.array_equal(one, numbers_of(5, threads=2, serial=False))
    assert not np.any(one == numbers_of(6, threads=2, serial=False))
    assert not np.any(one[0] == one[1])
    assert np.array_equal(numbers_of(2**40 + 3, 1, True), numbers_of(3, 1, True))


@pytest.mark.parametrize("n", [1, 31, 33, 1100])
def test_adjoint_draws_the_same_numbers(n: int) -> None:
    x = dt.from_numpy(np.linspace(0.5, 2.0, 4), grad=True)
    y = dt.zeros(4, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        long_walk(x, y, n)
        first = y.detach().to_numpy()
        long_walk(x, y, n)
    assert not np.any(first == y.to_numpy())
    tape.backward({y: 1.0})
    np.testing.assert_allclose(x.grad.to_numpy(), y.to_numpy() / x.to_numpy(), rtol=1e-12)


@dt.func
def halved(x):
    while x > 1.0:
        x *= 0.5
    total = 0.0
    for k in range(3):
        if k > 1:
            break
        total += x
    return total


@dt.kernel
def skipped_loops(y):
    for i in y:
        a = dt.rand()
        b = halved(4.0) if a > 0.5 else 0.0
        if a > 0.25 and halved(a) > 0.1:
            b += halved(a)
        while halved(b) > 100.0:
            b -= 1.0
        for k in range(2):
            b += 0.0 * halved(b)
        y[i] = a - dt.rand() + 0.0 * b


@dt.kernel
def without_loops(y):
    for i in y:
        a = dt.rand()
        y[i] = a - dt.rand()


def test_loops_that_draw_nothing_may_be_skipped_and_take_no_numbers() -> None:
    found: list[npt.NDArray[Any]] = []
    for kernel in (skipped_loops, without_loops):
        y = dt.zeros(9, dtype=ti.f64)
        with mock.patch.object(launches, "STREAMS", Streams()):
            kernel(y)
        found.append(y.to_numpy())
    np.testing.assert_array_equal(*found)


def test_methods_of_what_is_drawn_take_no_more_numbers() -> None:
    v = dt.from_numpy(np.arange(15.0).reshape(5, 3), dtype=ti.math.vec3)
    found: list[npt.NDArray[Any]] = []
    for kernel in (picked, picked_by_name):
        y = dt.zeros(4, dtype=ti.f64)
        with mock.patch.object(launches, "STREAMS", Streams()):
            kernel(v, y)
        found.append(y.to_numpy())
    np.testing.assert_array_equal(*found)


def test_each_record_keeps_its_numbers() -> None:
    x = dt.ones(5, dtype=ti.f64, grad=True)
    ys = [dt.zeros(5, dtype=ti.f64, grad=True) for _ in range(3)]
    with dt.Tape() as tape:
        for y in (*ys, *ys):
            by_element(x, y)
    tape.backward(dict.fromkeys(ys, 1.0))
    np.testing.assert_allclose(x.grad.to_numpy(), sum(y.to_numpy() for y in ys), rtol=1e-14)


def test_moments_of_a_reparameterised_sample() -> None:
    """Conformance CR7: the expectations of z**2 and of its gradients by mu and sigma."""

    @dt.kernel
    def energy(mu, sigma, loss, n: int):
        for _ in range(n):
            z = mu[None] + sigma[None] * dt.randn()
            loss[None] += z * z / n

    mu, sigma = dt.full((), 1.0, dtype=ti.f64, grad=True), dt.full((), 2.0, dtype=ti.f64, grad=True)
    loss = dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape(loss):
        energy(mu, sigma, loss, 200_000)
    assert loss[None] == pytest.approx(5, abs=0.1)
    assert mu.grad[None] == pytest.approx(2, abs=0.05)
    assert sigma.grad[None] == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("call", [dt.rand, dt.randn, lambda: dt.randint(0, 6)])
def test_drawing_in_python_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(dt.LaunchError, match=r"in Python write 'dt.from_numpy\(np.random"):
        call()


def test_draws_after_branches_that_draw_unequally_are_new() -> None:
    @dt.kernel
    def draw(y):
        for i in range(4):
            if i % 2 == 0:
                y[i, 0] = dt.rand(ti.f64)
            else:
                y[i, 0] = dt.rand(ti.f64)
                y[i, 1] = dt.rand(ti.f64)
            y[i, 2] = dt.rand(ti.f64)

    y = dt.zeros((4, 3), dtype=ti.f64)
    draw(y)
    found = y.to_numpy()
    numbers = found[found != 0]
    assert len(numbers) == 10 == len({*numbers})
