"""Checks of gradients and rules of kernels that run as Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.testing.gradcheck_report import Verdict


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.func
def square(x, factor):
    return x * x


@square.backward
def _(x, factor, d_out):
    return 2.0 * factor * x * d_out, 0.0 * d_out


@dt.kernel
def squares(x, factors, y):
    for i in x:
        y[i] = square(x[i], factors[i])


@pytest.mark.parametrize("wrong", range(8))
def test_the_one_wrong_entry_of_a_direction_is_found(wrong: int) -> None:
    factors = np.ones(8)
    factors[wrong] = 1.5  # of the gradient, which is not the largest then
    x = np.linspace(2.0, 3.0, 8)
    x[wrong] = 0.25
    given = dt.from_numpy(x, grad=True), dt.from_numpy(factors), dt.zeros(8, ti.f64, grad=True)
    report = dt.gradcheck(squares, given, directions=1, entries=1)
    found = [p.place for p in report.probes if p.field and p.verdict is Verdict.WRONG]
    assert found == [f"x[{wrong}]"]
    assert [p.place for p in report.probes if p.field] != found  # another one was drawn


@dt.kernel
def noisy(x, y):
    for i in x:
        y[i] = x[i] * x[i] * (0.5 + dt.rand(ti.f64))


def test_kernels_draw_the_same_numbers_in_each_run_of_a_check() -> None:
    x, y = dt.from_numpy(np.array([0.5, -2.0, 1.5]), grad=True), dt.zeros(3, ti.f64, grad=True)
    assert dt.gradcheck(noisy, (x, y), strict=True)


@dt.func
def sine(x):
    return ti.sin(x)


@sine.backward
def _(x, d_out):
    return ti.cos(x) * ti.math.clamp(d_out, -3.0, 3.0)


def test_a_rule_that_is_right_for_small_adjoints_only_is_not_linear() -> None:
    report = dt.check_rule(sine, samples=5)
    assert not report
    assert not report.wrong  # at the adjoints that were drawn
    assert [fault[:35] for fault in report.faults] == ["The rule is not linear in d_out: at"]
