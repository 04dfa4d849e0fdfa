"""Transformations of loops that carry state through fields: batches, second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import taichi as ti

import difftile as dt

SWEEPS = 3


@dt.kernel
def sweep(x: Any, b: Any, y: Any) -> None:
    for i in x:
        y[i] = x[i]
    ti.loop_config(serialize=True)
    for _ in range(SWEEPS):
        for i in range(1, y.shape[0] - 1):
            y[i] = ti.sin(y[i - 1]) + 0.3 * y[i] * y[i + 1] + b[i]


def relaxed(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    y = x.copy()
    for _ in range(SWEEPS):
        for i in range(1, len(y) - 1):
            y[i] = np.sin(y[i - 1]) + 0.3 * y[i] * y[i + 1] + b[i]
    return y


def jacobian(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the Jacobian with respect to x, by the complex step."""
    steps = 1e-30j * np.eye(len(x))
    return np.stack([relaxed(x + step, b.astype(complex)).imag / 1e-30 for step in steps], 1)


def inputs() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.uniform(-1, 1, 7), rng.uniform(-1, 1, 7)


def test_jacobians_of_a_sweep_in_place() -> None:
    x, b = inputs()
    given = dt.from_numpy(b)

    def f(x: dt.Field) -> dt.Field:
        y = dt.zeros_like(x)
        sweep(x, given, y)
        return y

    expected = jacobian(x, b)
    for transform in (dt.jacfwd, dt.jacrev):
        found = transform(f)(dt.from_numpy(x))
        np.testing.assert_allclose(np.asarray(found), expected, 1e-12, 1e-12)


def test_second_derivatives_go_through_the_log() -> None:
    x, b = inputs()
    given = dt.from_numpy(b)

    def f(x: dt.Field) -> dt.Field:
        y, out = dt.zeros_like(x), dt.zeros((), ti.f64)
        sweep(x, given, y)
        total(y, out)
        return out

    @dt.kernel
    def total(y: Any, out: Any) -> None:
        for i in y:
            out[None] += y[i] ** 3

    def gradient(x: np.ndarray) -> np.ndarray:
        return jacobian(x, b).T @ (3 * relaxed(x, b) ** 2)

    hessian = np.asarray(dt.hessian(f)(dt.from_numpy(x)))
    step = 1e-6 * np.eye(len(x))
    expected = np.stack([(gradient(x + s) - gradient(x - s)) / 2e-6 for s in step], 1)
    np.testing.assert_allclose(hessian, expected, 1e-7, 1e-7)
    np.testing.assert_allclose(hessian, hessian.T, 1e-12, 1e-12)
