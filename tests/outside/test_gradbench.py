"""Programs of GradBench: values and gradients against closed forms and the complex step."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from tests.outside import (
    complex_step,
    descent,
    det,
    kmeans,
    llsq,
    lse,
    ode,
    particle,
    saddle,
)

EXACT = 1e-13


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(31337).random(shape)


def test_lse() -> None:
    x = 200 * random(1000) - 100
    value, gradient = dt.value_and_grad(lse.value)(x)
    weights = np.exp(x - x.max())
    npt.assert_allclose(value, x.max() + np.log(weights.sum()), rtol=EXACT)
    npt.assert_allclose(gradient, weights / weights.sum(), rtol=EXACT, atol=1e-300)


def test_llsq() -> None:
    x, n = random(128), 64
    t = -1 + 2 * np.arange(n) / (n - 1)
    powers = t[:, None] ** np.arange(128)
    residual = powers @ x - np.sign(t)
    value, gradient = dt.value_and_grad(llsq.value)(x, n)
    npt.assert_allclose(value, 0.5 * residual @ residual, rtol=EXACT)
    npt.assert_allclose(gradient, powers.T @ residual, rtol=EXACT)


def test_kmeans() -> None:
    points = random(1000, 8)
    centres = points[-10:].copy()
    owner = np.argmin(((points[:, None] - centres) ** 2).sum(-1), axis=1)
    count = np.bincount(owner, minlength=10)[:, None]
    assert count.min() > 1
    sums = np.stack([points[owner == j].sum(0) for j in range(10)])
    fields = [dt.from_numpy(of) for of in (centres, points)]
    gradient, curvature = (of.to_numpy() for of in kmeans.direction(*fields))
    npt.assert_allclose(kmeans.cost(*fields)[None], ((points - centres[owner]) ** 2).sum(), EXACT)
    npt.assert_allclose(gradient, 2 * (count * centres - sums), rtol=EXACT, atol=EXACT)
    npt.assert_allclose(curvature, np.broadcast_to(2.0 * count, centres.shape), rtol=EXACT)


def runge_kutta(x: np.ndarray, steps: int) -> np.ndarray:
    def rate(y: np.ndarray) -> np.ndarray:
        return x * np.concatenate([[1.0], y[:-1]])

    y, h = np.zeros_like(x), ode.END / steps
    for _ in range(steps):
        k1 = rate(y)
        k2 = rate(y + 0.5 * h * k1)
        k3 = rate(y + 0.5 * h * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    return y


def test_ode() -> None:
    x, steps = 0.5 + random(24), 10
    y, pull = dt.vjp(lambda x: ode.solution(x, steps), dt.from_numpy(x))
    npt.assert_allclose(y.to_numpy(), runge_kutta(x, steps), rtol=EXACT)
    last = np.zeros(24)
    last[-1] = 1.0
    expected = complex_step.gradient(lambda x: runge_kutta(x, steps)[-1], x)
    npt.assert_allclose(pull(dt.from_numpy(last))[0].to_numpy(), expected, rtol=EXACT)


@pytest.mark.parametrize(("program", "n"), [(det.determinant, 8), (det.recursive_determinant, 4)])
def test_det(program, n: int) -> None:
    a = random(n, n)
    value, gradient = dt.value_and_grad(program)(a)
    npt.assert_allclose(value, np.linalg.det(a), rtol=EXACT)
    npt.assert_allclose(gradient, value * np.linalg.inv(a).T, rtol=1e-12)


@pytest.mark.parametrize("inner", [particle.force_forward, particle.force_reverse])
@pytest.mark.parametrize("outer", [descent.forward, descent.in_reverse])
def test_particle(outer, inner) -> None:
    w = descent.argmin(outer(particle.miss, inner), np.zeros(1))
    npt.assert_allclose(w, 0.2071918746486116, rtol=EXACT)


@pytest.mark.parametrize("inner", [saddle.slope_forward, saddle.slope_reverse])
@pytest.mark.parametrize("outer", [descent.forward, descent.in_reverse])
def test_saddle(outer, inner) -> None:
    start, y = np.ones(2), dt.zeros(2, dtype=ti.f64)
    highest = outer(saddle.highest, dt.from_numpy(start), inner, y)
    x = descent.argmin(highest, start)
    highest(x)
    npt.assert_allclose([*x, *y.to_numpy()], 8.246324826140356e-06, rtol=EXACT)
