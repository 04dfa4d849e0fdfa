"""Programs of Enzyme's benchmarks: gradients against NumPy's transform and the complex step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from tests.outside import brusselator, complex_step, fft

EXACT = 1e-13


def test_fft_in_place() -> None:
    rng, pairs = np.random.default_rng(1), np.array([1, 1j])
    x, seed = rng.standard_normal((2, 64, 2))

    def transformed(data: dt.Field) -> dt.Field:
        fft.transform(data, 1.0)
        return data

    y, pull = dt.vjp(transformed, dt.from_numpy(x))
    npt.assert_allclose(y.to_numpy() @ pairs, np.fft.fft(x @ pairs), rtol=EXACT, atol=EXACT)
    (found,) = pull(dt.from_numpy(seed))
    expected = 64 * np.fft.ifft(seed @ pairs)  # the transpose is the transform with another sign
    npt.assert_allclose(found.to_numpy() @ pairs, expected, rtol=EXACT, atol=EXACT)


def test_fft_and_its_inverse() -> None:
    """The values that the benchmark prints: 2 comes back, and so does its gradient of 1."""
    y, pull = dt.vjp(fft.there_and_back, dt.full((128, 2), 2.0, dtype=ti.f64))
    npt.assert_allclose(y.to_numpy(), 2.0, rtol=EXACT)
    npt.assert_allclose(pull(dt.full((128, 2), 1.0, dtype=ti.f64))[0].to_numpy(), 1.0, rtol=EXACT)


def start() -> tuple[np.ndarray, np.ndarray]:
    x = np.linspace(0, 1, brusselator.SIDE)
    hill = (x * (1 - x)) ** 1.5
    return 22 * np.tile(hill, (x.size, 1)), 27 * np.tile(hill[:, None], (1, x.size))


def rates(u: Any, v: Any, p: Any, t: float) -> tuple[Any, Any]:
    x = np.linspace(0, 1, brusselator.SIDE)
    fed = ((x[:, None] - 0.3) ** 2 + (x - 0.6) ** 2 <= 0.01) & (t >= 1.1)

    def around(u: Any) -> Any:
        wide = np.pad(u, 1, mode="edge")
        return wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - 4 * u

    a, b, alpha = p[0], p[1], p[2] * (brusselator.SIDE - 1) ** 2
    reaction = u * u * v
    u_dot = alpha * around(u) + b + reaction - (a + 1) * u + np.where(fed, 5.0, 0.0)
    return u_dot, alpha * around(v) + a * u - reaction


@pytest.mark.parametrize("t", [1.0, 1.2])
def test_brusselator(t: float) -> None:
    at, rng = (*start(), np.array(brusselator.PARAMETERS)), np.random.default_rng(2)
    found, pull = dt.vjp(lambda *of: brusselator.change(*of, t), *map(dt.from_numpy, at))
    expected = rates(*at, t)
    for ours, theirs in zip(found, expected, strict=True):
        npt.assert_allclose(ours.to_numpy(), theirs, rtol=EXACT, atol=1e-10)
    # Seeds like the rates themselves: the sums over the grid do not cancel.
    seeds = [rng.uniform(0.5, 1.5, of.shape) * of for of in expected]
    for k, ours in enumerate(pull(tuple(map(dt.from_numpy, seeds)))):

        def weighted(x: Any, k: int = k) -> Any:
            moved = rates(*at[:k], x, *at[k + 1 :], t)
            return sum(np.sum(w * of) for w, of in zip(seeds, moved, strict=True))

        theirs = complex_step.gradient(weighted, at[k])
        npt.assert_allclose(ours.to_numpy(), theirs, rtol=EXACT, atol=EXACT * np.max(theirs))
