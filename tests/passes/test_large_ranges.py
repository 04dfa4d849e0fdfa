"""Parallel loops whose bounds are near the limits of integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import AssertionFailure, KernelError
from difftile.substrate import current_session

LAST = 2**31 - 1
RANGES = [
    (LAST - 2, LAST),
    (LAST - 9, LAST - 5),
    (-LAST - 1, -LAST + 1),
    (-LAST - 1, -LAST - 1),
    (LAST - 2, 5),
    (5, -LAST),
]


@pytest.fixture(autouse=True)
def usual_session() -> Iterator[None]:
    yield
    if current_session().debug or not current_session().compiles:
        dt.init(arch="cpu")


@dt.kernel
def count(total, first: int, last: int):
    for i in range(first, last):
        total[None] += 1


@dt.kernel
def fill(y, first: int, last: int):
    for i in range(first, last):
        y[i - first] = i


@dt.kernel
def weigh(x, y, first: int, last: int):
    for i in range(first, last):
        y[None] += x[i - first] * x[i - first]


@pytest.mark.compiled
@pytest.mark.parametrize(("first", "last"), RANGES)
def test_iterations_of_a_range_near_a_limit(first: int, last: int) -> None:
    length = max(0, last - first)
    total = dt.zeros((), dtype=ti.i32)
    count(total, first, last)
    assert total[None] == length
    y = dt.zeros(8, dtype=ti.i32)
    fill(y, first, last)
    np.testing.assert_array_equal(y.to_numpy()[:length], np.arange(first, first + length))
    assert not y.to_numpy()[length:].any()
    x, loss = dt.full(8, 3.0, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        weigh(x, loss, first, last)
    np.testing.assert_array_equal(x.grad.to_numpy(), [6.0] * length + [0.0] * (8 - length))


@pytest.mark.parametrize("config", [{"arch": "python"}, {"arch": "cpu", "debug": True}])
def test_ranges_near_a_limit_without_a_compiler_and_under_debug(config: dict[str, Any]) -> None:
    @dt.kernel
    def asserted(y, first: int, last: int):
        for i in range(first, last):
            assert i < LAST - 2, "too far"
            y[i - first] = i

    dt.init(**config)
    for first, last in RANGES:
        length = max(0, last - first)
        total = dt.zeros((), dtype=ti.i32)
        count(total, first, last)
        assert total[None] == length
        y = dt.zeros(8, dtype=ti.i32)
        fill(y, first, last)
        np.testing.assert_array_equal(y.to_numpy()[:length], np.arange(first, first + length))
    asserted(y, LAST - 6, LAST - 2)
    if config.get("debug"):
        with pytest.raises(AssertionFailure, match="too far"):
            asserted(y, LAST - 4, LAST - 1)


@pytest.mark.compiled
def test_a_bound_that_wraps_around_is_named() -> None:
    @dt.kernel
    def after(total, first: int):
        for i in range(first, first + 8):
            total[None] += 1

    with pytest.raises(KernelError, match="needs the number 2147483648 to count"):
        after(dt.zeros((), dtype=ti.i32), LAST - 7)


@pytest.mark.compiled
def test_literal_bounds_near_a_limit() -> None:
    @dt.kernel
    def literal(total):
        for i in range(2147483645, 2147483647):
            total[None] += 1

    total = dt.zeros((), dtype=ti.i32)
    literal(total)
    assert total[None] == 2


@pytest.mark.compiled
def test_more_iterations_than_integers_is_refused() -> None:
    with pytest.raises(KernelError, match="iterations in one launch"):
        count(dt.zeros((), dtype=ti.i32), -LAST, LAST)
