"""Loops of any length, many launches and large sums, compared with closed forms.

These are too long for Python, which `tests/programs/` are compared with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@dt.kernel
def transmittance(x, y, n: int):
    for i in x:
        t = 1.0
        for _ in range(n):
            t *= 1 - x[i]
        y[i] = t


@dt.kernel
def iterated_sine(x, y, n: int):
    for i in x:
        s = 0.5
        for _ in range(n):
            s = ti.sin(s) * x[i] + 0.3
        y[i] = s


@dt.kernel
def nested(x, y, n: int, m: int):
    for i in x:
        s = 0.0
        for _ in range(n):
            t = 1.0
            for _ in range(m):
                t *= x[i]
            s = 0.5 * s * s + t
        y[i] = s


@dt.kernel
def rotation(v, angle, n: int):
    for i in v:
        c, s = ti.cos(angle[None] / n), ti.sin(angle[None] / n)
        u = v[i]
        for _ in range(n):
            u = ti.Vector([c * u[0] - s * u[1], s * u[0] + c * u[1]])
        v[i] = u


def _gradient(kernel: Any, x: Any, *numbers: int) -> tuple[Any, Any]:
    field = dt.from_numpy(x, grad=True)
    y = dt.zeros(x.shape, dtype=field.dtype, grad=True)
    with dt.Tape() as tape:
        kernel(field, y, *numbers)
    tape.backward({y: 1.0})
    return y.to_numpy(), field.grad.to_numpy()


# Past each multiple of 128 there is another window, past 128 * 16 and 128 * 16**2 iterations
# another level of checkpoints. For 100,000 there are not enough of them.
@pytest.mark.parametrize(
    "n", [0, 1, 2, 8, 127, 128, 129, 256, 1000, 2047, 2048, 2049, 20_000, 32_768, 32_769, 100_000]
)
def test_product_of_n_factors(n: int) -> None:
    x = np.array([0.5, 1.0, 2.0]) / max(n, 4)
    y, gradient = _gradient(transmittance, x, n)
    np.testing.assert_allclose(y, (1 - x) ** n, rtol=1e-11)
    np.testing.assert_allclose(gradient, -n * (1 - x) ** (n - 1), rtol=1e-10)


@pytest.mark.parametrize("n", [8, 64, 1000, 20_000])
def test_product_of_n_factors_in_single_precision(n: int) -> None:
    x = np.array([0.5, 1.0, 2.0], np.float32) / np.float32(n)
    y, gradient = _gradient(transmittance, x, n)
    factor = (1 - x).astype(np.float64)  # 1 - x is rounded before it is multiplied
    np.testing.assert_allclose(y, factor**n, rtol=1e-3)
    np.testing.assert_allclose(gradient, -n * factor ** (n - 1), rtol=1e-3)


@pytest.mark.parametrize("n", [40, 1100, 33_000])
def test_nonlinear_iteration(n: int) -> None:
    x = np.array([0.7, 1.3])
    s, slope = np.full(2, 0.5), np.zeros(2)
    for _ in range(n):
        s, slope = np.sin(s) * x + 0.3, np.cos(s) * slope * x + np.sin(s)
    y, gradient = _gradient(iterated_sine, x, n)
    np.testing.assert_allclose(y, s, rtol=1e-10)
    np.testing.assert_allclose(gradient, slope, rtol=1e-9)


@pytest.mark.parametrize(("n", "m"), [(40, 40), (3, 2000), (2000, 3)])
def test_loop_in_a_loop(n: int, m: int) -> None:
    x = np.array([0.2, 0.5]) ** (1 / m)
    s, slope = np.zeros(2), np.zeros(2)
    for _ in range(n):
        s, slope = 0.5 * s * s + x**m, s * slope + m * x ** (m - 1)
    y, gradient = _gradient(nested, x, n, m)
    np.testing.assert_allclose(y, s, rtol=1e-9)
    np.testing.assert_allclose(gradient, slope, rtol=1e-8)


@dt.kernel
def iterated_sine_by_a_while(x, y, n: int):
    for i in x:
        s, k = 0.5, 0
        while True:
            s = ti.sin(s) * x[i] + 0.3
            k += 1
            if k >= n:
                break
        y[i] = s


@pytest.mark.parametrize("kernel", [iterated_sine, iterated_sine_by_a_while])
@pytest.mark.parametrize("n", [10, 127, 129, 300, 2049, 5000, 200_000])
def test_one_thread(kernel: Any, n: int) -> None:
    # Only the last steps count: each one scales the earlier ones by less than 0.7.
    s, slope = 0.5, 0.0
    for _ in range(min(n, 400)):
        s, slope = math.sin(s) * 0.7 + 0.3, math.cos(s) * slope * 0.7 + math.sin(s)
    y, gradient = _gradient(kernel, np.array([0.7]), n)
    np.testing.assert_allclose(y, s, rtol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-11)


@dt.kernel
def long_vector(x, y, n: int):
    for i in range(1):
        v = ti.Vector([0.5] * 100)
        for k in range(n):
            v = 0.3 * v * v + x[k % x.shape[0]]
        for k in range(100):
            y[k] = v[k]


@pytest.mark.parametrize("n", [7, 8, 9, 16, 17, 64, 65, 130])
def test_windows_of_long_vectors_are_narrow(n: int) -> None:
    x = np.array([0.3, 0.5, 0.4])
    v, slopes = 0.5, np.zeros(3)
    for k in range(n):
        v, slopes = 0.3 * v * v + x[k % 3], 0.6 * v * slopes
        slopes[k % 3] += 1
    field, y = dt.from_numpy(x, grad=True), dt.zeros(100, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        long_vector(field, y, n)
    tape.backward({y: 0.01})
    np.testing.assert_allclose(y.to_numpy(), v, rtol=1e-12)
    np.testing.assert_allclose(field.grad.to_numpy(), slopes, rtol=1e-11)


@dt.kernel
def three_deep(x, y, n: int, m: int):
    for i in x:
        u = ti.Vector([x[i], 0.4])
        a = ti.Matrix([[1.0, 0.1], [0.0, 1.0]])
        for j in range(-1, n - 1):
            for k in range(m, 0, -2):
                t = u[0]
                c = 0
                while c * c < j + k + 2:
                    t = 0.9 * ti.sin(t) + 0.05 * t * u[1]
                    c += 1
                if t > 0.2:
                    if k > 2:
                        u = 0.5 * (a @ u) + ti.Vector([t, 0.3 * t * t])
                    else:
                        u[1] = t * u[0]
            a = 0.8 * a @ a + 0.1 * x[i] * a
        y[i] = u[0] * u[0] + u[1] * u[1] + a[0, 1]


def test_three_deep_with_vectors_and_matrices() -> None:
    x, step = np.array([0.7, 1.1]), 1e-5
    _, gradient = _gradient(three_deep, x, 7, 5)
    ends = [_gradient(three_deep, x + h, 7, 5)[0] for h in (-step, step)]
    np.testing.assert_allclose(gradient, (ends[1] - ends[0]) / (2 * step), rtol=1e-7)


def test_long_loop_of_vectors() -> None:
    n = 5000
    v = dt.from_numpy(np.array([[1.0, 0.0], [0.6, 0.8]]), dtype=dt.vec(2, ti.f64), grad=True)
    angle = dt.from_numpy(np.array(0.7), grad=True)
    with dt.Tape() as tape:
        rotation(v, angle, n)
    tape.backward({v: np.array([[1.0, 0.0], [0.0, 0.0]])})
    c, s = math.cos(0.7), math.sin(0.7)
    np.testing.assert_allclose(v.to_numpy()[0], [c, s], rtol=1e-10)
    np.testing.assert_allclose(v.grad.to_numpy(), [[c, -s], [0, 0]], atol=1e-10)
    np.testing.assert_allclose(angle.grad.to_numpy(), -s, rtol=1e-9)


@dt.kernel
def squared_in_place(x, h: float):
    for i in x:
        x[i] = x[i] - h * x[i] * x[i]


def test_many_launches_in_place() -> None:
    """Each launch needs the value that it overwrites."""
    x0, h, n = np.array([0.1, 0.9, 2.0]), 0.01, 2000
    x, slope = x0.copy(), np.ones(3)
    for _ in range(n):
        x, slope = x - h * x * x, slope * (1 - 2 * h * x)
    field = dt.from_numpy(x0, grad=True)
    with dt.Tape() as tape:
        for _ in range(n):
            squared_in_place(field, h)
    tape.backward({field: 1.0})
    np.testing.assert_allclose(field.to_numpy(), x, rtol=1e-12)
    np.testing.assert_allclose(field.grad.to_numpy(), slope, rtol=1e-11)


@dt.kernel
def read(x, y):
    for i in x:
        y[i] += x[i] * x[i]


@dt.kernel
def overwrite(x, y):
    for i in x:
        x[i] = 0.5 * y[i]


def test_overwritten_after_it_was_read() -> None:
    x0, n = np.array([0.3, 0.5]), 12
    x, y = x0.copy(), np.zeros(2)
    slope_x, slope_y = np.ones(2), np.zeros(2)
    for _ in range(n):
        y, slope_y = y + x * x, slope_y + 2 * x * slope_x
        x, slope_x = 0.5 * y, 0.5 * slope_y
    a, b = dt.from_numpy(x0, grad=True), dt.from_numpy(np.zeros(2), grad=True)
    with dt.Tape() as tape:
        for _ in range(n):
            read(a, b)
            overwrite(a, b)
    tape.backward({b: 1.0})
    np.testing.assert_allclose(b.to_numpy(), y, rtol=1e-12)
    np.testing.assert_allclose(a.grad.to_numpy(), slope_y, rtol=1e-11)


@dt.kernel
def scaled_energy(a, x, loss):
    for i in x:
        loss[None] += a[None] * x[i] * x[i]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shared_scalar_gets_the_exact_sum(dtype: Any) -> None:
    """A million threads read one element, and add to another."""
    values = np.random.default_rng(3).random(2**20).astype(dtype)
    x = dt.from_numpy(values, grad=True)
    a = dt.from_numpy(np.array(2.0, dtype), grad=True)
    loss = dt.zeros((), dtype=x.dtype, grad=True)
    with dt.Tape(loss):
        scaled_energy(a, x, loss)
    total = float(np.sum(values.astype(np.float64) ** 2))
    rtol = 1e-6 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(loss.to_numpy(), 2 * total, rtol=rtol)
    np.testing.assert_allclose(a.grad.to_numpy(), total, rtol=rtol)
    np.testing.assert_allclose(x.grad.to_numpy(), 4 * values, rtol=1e-6)
