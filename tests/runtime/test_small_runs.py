"""Runs of launches that run as Python: repeated steps, and fields that follow from others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def shift(x, by: float):
    for i in x:
        x[i] = 0.5 * x[i] + by


@pytest.mark.parametrize(
    "numbers",
    [
        lambda t, k: 0.0 if k % 2 else -0.0,
        lambda t, k: 0.1 * t if k % 2 else 0.2 * t,
        lambda t, k: t + 0.5 if k % 2 else t - -0.5,
    ],
    ids=["signs of zero", "factors", "operations"],
)
def test_steps_with_other_numbers_are_not_repeated(numbers: Any) -> None:
    calls: list[int] = []
    x = dt.zeros(2, ti.f64)

    def body(t: Any) -> None:
        calls.append(1)
        shift(x, numbers(t, len(calls)))

    with pytest.raises(dt.StepsError, match="in steps 0 and 1"):
        dt.repeat(body, 12)


def test_steps_with_numbers_that_follow_alike_are_repeated() -> None:
    x, expected = dt.zeros(2, ti.f64), 0.0
    dt.repeat(lambda t: shift(x, 0.1 * t), 12)
    for t in range(12):
        expected = 0.5 * expected + 0.1 * t
    assert x.to_numpy().tolist() == [expected] * 2


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def add_up(y, total):
    for i in y:
        total[None] += y[i]


@pytest.mark.parametrize("taped", [False, True])
def test_steps_read_what_follows_from_fields_after_each_write(taped: bool) -> None:
    x = dt.from_numpy(np.array([1.0, -2.0]), grad=True)
    y = dt.DerivedField(x.dtype, (2,), [x], lambda y: square(x, y))
    total = dt.zeros((), ti.f64, grad=True)
    with dt.Tape() if taped else nullcontext():
        for _ in dt.steps(5):
            shift(x, 1.0)
            add_up(y, total)
    values = np.array([1.0, -2.0])
    expected = 0.0
    for _ in range(5):
        values = 0.5 * values + 1.0
        expected += np.sum(values**2)
    assert float(total[None]) == pytest.approx(expected, rel=1e-14)
