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


SIMULATIONS: list[Callable[[], Found]] = [
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


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda one: one.__name__)
def test_a_run_in_python_is_its_launches(simulation: Callable[[], Found]) -> None:
    check(simulation, "python")
