"""Derivatives by differences: their values, the estimates of their errors, and kinks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from difftile.testing.slopes import Sample, Slope, slope_of

Function = Callable[[float], float]


def slope(function: Function) -> Slope:
    """Return the derivative at 0 of a function of plain numbers."""

    def sampled(t: float) -> Sample:
        try:
            value = function(t)
        except ValueError:
            value = math.nan
        return Sample(value, abs(value))

    return slope_of(sampled, sampled(0.0), 1e-8)


SMOOTH: dict[str, tuple[Function, float]] = {
    "line": (lambda t: 3 * t + 1, 3.0),
    "constant": (lambda t: 5.0, 0.0),
    "sine": (lambda t: math.sin(3 + t), math.cos(3)),
    "steep": (lambda t: math.exp(40 * t), 40.0),
    "steeper": (lambda t: math.exp(4000 * t), 4000.0),
    "wave": (lambda t: math.sin(1e4 * t + 1), 1e4 * math.cos(1)),
    "offset": (lambda t: 1e6 + math.sin(t), 1.0),
    "pole near": (lambda t: 1 / (t + 0.003), -1 / 0.003**2),
    "flat": (lambda t: t**4, 0.0),
    "kink at a distance": (lambda t: abs(t - 1e-4) + 2 * t, 1.0),
    "jump at a distance": (lambda t: math.floor(t + 1e-3) + t, 1.0),
    "domain at a distance": (lambda t: math.sqrt(t + 1e-4), 0.5 / 1e-2),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_error_is_estimated(name: str) -> None:
    function, expected = SMOOTH[name]
    found = slope(function)
    apart = abs(found.both.value - expected)
    assert apart <= 3 * found.both.error + 1e-15
    assert found.both.error <= 1e-5 * max(1.0, abs(expected))
    assert not found.has_kink
    assert not found.at_edge


KINKS: dict[str, tuple[Function, float, float]] = {
    "absolute value": (abs, -1.0, 1.0),
    "ramp": (lambda t: max(t, 0.0) + math.sin(t), 1.0, 2.0),
    "small kink": (lambda t: 1e-3 * abs(t) + math.sin(t), 1 - 1e-3, 1 + 1e-3),
    "near kink": (lambda t: abs(t - 1e-9) + t, 0.0, 2.0),
    "jump": (lambda t: math.floor(t) + t, math.inf, 1.0),
    "jump down": (lambda t: -1.0 if t > 0 else 0.0, 0.0, -math.inf),
    "root": (lambda t: math.sqrt(abs(t)), -math.inf, math.inf),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks_are_seen(name: str) -> None:
    function, left, right = KINKS[name]
    found = slope(function)
    assert found.has_kink
    np.testing.assert_allclose([found.left.value, found.right.value], [left, right], atol=1e-2)
    sides = [side for side in (left, right) if math.isfinite(side)]
    assert found.admits(sum(sides) / len(sides) if sides else 1.0, 0.0)


def test_an_edge_of_the_domain_is_seen() -> None:
    found = slope(lambda t: math.sqrt(t**3))
    assert found.at_edge
    assert found.right.value == pytest.approx(0.0, abs=1e-3)


def test_noise_counts_as_error() -> None:
    rng = np.random.default_rng(0)
    found = slope(lambda t: math.sin(t) + 1e-8 * rng.uniform(-1, 1))
    assert abs(found.both.value - 1) <= 3 * found.both.error
    assert found.both.error > 1e-8
