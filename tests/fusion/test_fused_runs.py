"""Simulations whose launches run as one program: the values and gradients of single launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.fusion.program import FusedProgram

STEPS = 11  # a prime: no whole number of launches of several periods


@dt.kernel
def powers(x, y, w):
    for i in x:
        s = 1.0
        for _ in range(20):
            s = 0.9 * s * x[i] + 0.1
        y[i] = s
        w[i] += s * s


@dt.kernel
def nudge(x, w):
    for i in x:
        x[i] += 0.01 * w[i]


@dt.kernel
def scale(x, k):
    for i in x:
        x[i] *= k[None]


@dt.kernel
def shift(x, a: float):
    for i in x:
        x[i] += a * x[i] * x[i]


@dt.kernel
def square(x, y):
    for i in x:
        y[i] += x[i] * x[i]


def field(*values: float, grad: bool = True) -> dt.Field:
    return dt.from_numpy(np.array(values), grad=grad)


Found = list[np.ndarray]


def what_a_loop_has_stored_is_read_back() -> Found:
    x, y, w = field(0.5, 0.9), field(0.0, 0.0), field(0.0, 0.0)
    with dt.Tape() as tape:
        for _ in range(STEPS):
            powers(x, y, w)
            nudge(x, w)
    tape.backward({w: np.array([1.0, 2.0]), y: np.array([0.5, 0.1])})
    return [x.to_numpy(), y.to_numpy(), w.to_numpy(), x.grad.to_numpy()]


def a_field_without_its_gradient_comes_first() -> Found:
    x, y, k = field(0.5, 0.9), field(0.0, 0.0), dt.full((), 1.1, dtype=ti.f64, grad=True)
    constant = x.detach()
    with dt.Tape() as tape:
        for _ in range(STEPS):
            square(constant, y)
            scale(x, k)
            square(x, y)
    tape.backward({y: np.array([1.0, 2.0])})
    return [x.to_numpy(), y.to_numpy(), x.grad.to_numpy(), k.grad.to_numpy()]


def other_fields_have_gradients_later() -> Found:
    found: Found = []
    for grad in (False, True):
        x, y, k = field(0.5, 0.9), field(0.0, 0.0), dt.full((), 1.1, dtype=ti.f64, grad=grad)
        with dt.Tape() as tape:
            for _ in range(STEPS):
                scale(x, k)
                square(x, y)
        tape.backward({y: np.array([1.0, 2.0])})
        found += [x.to_numpy(), x.grad.to_numpy()]
    return [*found, k.grad.to_numpy()]


def launches_of_a_period_have_numbers_of_their_own() -> Found:
    x, y = field(0.5, 0.9), field(0.0, 0.0)
    with dt.Tape() as tape:
        for t in range(STEPS):
            shift(x, 0.1 * t)
            square(x, y)
            shift(x, -0.05 * t)
    tape.backward({y: np.array([1.0, 2.0])})
    return [x.to_numpy(), y.to_numpy(), x.grad.to_numpy()]


@dt.kernel
def squash(x, y):
    for i in x:
        s = 0.0
        for k in range(4):
            s += (k + 1) * x[(i + k) % 2]
        y[i] = ti.tanh(0.1 * s)


def results_after_a_loop_are_read_back() -> Found:
    x, y = field(0.5, 0.9), field(0.0, 0.0)
    with dt.Tape() as tape:
        for _ in range(STEPS):
            squash(x, y)
            nudge(x, y)
    tape.backward({x: np.array([1.0, 2.0])})
    return [x.to_numpy(), y.to_numpy(), x.grad.to_numpy()]


SIMULATIONS: list[Callable[[], Found]] = [
    results_after_a_loop_are_read_back,
    what_a_loop_has_stored_is_read_back,
    a_field_without_its_gradient_comes_first,
    other_fields_have_gradients_later,
    launches_of_a_period_have_numbers_of_their_own,
]


def check(simulation: Callable[[], Found], arch: str) -> None:
    found: dict[Any, Found] = {}
    for fuse in (False, "always"):
        dt.init(arch=arch, fuse=fuse)
        found[fuse] = simulation()
    for one, other in zip(found["always"], found[False], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda one: one.__name__)
def test_a_run_is_its_launches(simulation: Callable[[], Found], in_order: bool) -> None:
    with mock.patch.object(FusedProgram, "_in_order", in_order):  # launches of some periods
        check(simulation, "cpu")


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda one: one.__name__)
def test_a_run_in_python_is_its_launches(simulation: Callable[[], Found], in_order: bool) -> None:
    with mock.patch.object(FusedProgram, "_in_order", in_order):
        check(simulation, "python")


@dt.kernel
def add_up(x, y, total, w):
    for i in x:
        x[i] = x[i] + 0.1 * y[i]
        total[None] += x[i] * w[i]


def test_runs_of_ordered_sums_are_launches_of_some_periods() -> None:
    """Serial runs and strips add in another order, and threads would choose between them."""
    dt.init(arch="python", fuse="always")
    forms = list[str]()
    launch = FusedProgram.launch

    def noted(program: FusedProgram, *args: Any) -> None:
        launch(program, *args)
        forms.append(program.form)

    numbers = np.arange(1.0, 5.0)
    batch = dt.batch(add_up, 4, shared=("total", "w"))
    for kernel, shape, form in ((batch, (4, 1), "unrolled"), (add_up, (4,), "serial")):
        x, y = (dt.from_numpy(numbers.reshape(shape)) for _ in range(2))
        total, w = dt.zeros((), ti.f64), dt.full(shape[-1], 2.0, ti.f64)
        forms.clear()
        with mock.patch.object(FusedProgram, "launch", noted):
            for _ in range(STEPS):
                kernel(x, y, total, w)
            found = float(total[None])
        assert {*forms} == {form}
        expected = sum(2.0 * numbers.sum() * (1 + 0.1 * k) for k in range(1, STEPS + 1))
        assert found == pytest.approx(expected, rel=1e-14)


@dt.kernel
def both(x, y):
    for i in x:
        x[i] += 1.0
    for i in y:
        y[i] = 0.5 * y[i] + i


def test_runs_of_fields_of_one_size_are_none_of_several_sizes() -> None:
    """The loops of a period are one where the fields have one size."""
    dt.init(arch="python", fuse="always")
    for sizes in ((3, 3), (3, 5), (5, 3), (4, 4)):
        x, y = (dt.zeros(size, ti.f64) for size in sizes)
        for _ in range(STEPS):
            both(x, y)
        assert x.to_numpy().tolist() == [STEPS] * sizes[0]
        expected = 2.0 * np.arange(sizes[1]) * (1 - 0.5**STEPS)
        np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-14)
