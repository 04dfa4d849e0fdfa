"""Seeds of the wrong kind, and writes through a field that shares its memory with a graded one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def double(x):
    for i in x:
        x[i] *= 2.0


@pytest.mark.parametrize("kind", ["name", "list", "number", "text"])
def test_seeds_of_the_wrong_kind_are_refused(kind: str) -> None:
    x, y = dt.ones(3, grad=True), dt.zeros(3, grad=True)
    with dt.Tape() as tape:
        square(x, y)
    seeds: Any = {"name": {"y": 1.0}, "list": [y], "number": 3, "text": {y: "a"}}[kind]
    with pytest.raises(dt.TapeError):
        tape.backward(seeds)


def test_one_field_may_be_retained() -> None:
    x, y = dt.ones(3, grad=True), dt.zeros(3, grad=True)
    with dt.Tape() as tape:
        square(x, y)
        y.fill(0.0)
    tape.backward({y: 2.0}, retain=y)
    np.testing.assert_array_equal(y.grad.to_numpy(), [2, 2, 2])


def test_a_write_through_a_detached_twin_is_refused() -> None:
    x = dt.ones(3, grad=True)
    with dt.Tape(), pytest.raises(dt.TapeError, match="shares its memory"):
        double(x.detach())
    with dt.Tape(), pytest.raises(dt.TapeError, match="shares its memory"):
        x.detach().fill(2.0)


def test_reading_through_a_detached_twin_cuts_the_gradient() -> None:
    x, y = dt.full(3, 3.0, grad=True), dt.zeros(3, grad=True)
    with dt.Tape() as tape:
        square(x.detach(), y)
    tape.backward({y: 1.0})
    np.testing.assert_array_equal(x.grad.to_numpy(), [0, 0, 0])


def test_a_copy_that_cuts_the_gradient_is_reported() -> None:
    x, y = dt.full(3, 3.0, grad=True), dt.zeros(3, grad=True)
    between = dt.zeros(3)
    with dt.Tape():
        between.copy_from(x)
        between.fill(1.0)
        square(between, y)  # what was copied is gone
        between.copy_from(x)
        with pytest.warns(dt.GradientCut, match="field 'x' has none and is read again"):
            square(between, y)
        between.copy_from(x)
        with pytest.warns(dt.GradientCut, match="field 'source' has none"):
            y.copy_from(between)
