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
def square_and_one(x, y, loss):
    for i in x:
        y[i] = x[i] * x[i]
    loss[None] = 1.0


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


@dt.kernel
def shift(x):
    for i in x:
        x[i] += 1.0


@dt.kernel
def count(x, loss):
    for i in x:
        loss[None] += 1.0


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i]


def test_what_is_added_to_constants_passes_its_seed_on() -> None:
    x = dt.ones(3, grad=True)
    with dt.Tape() as tape:
        shift(x)
        shift(x)
    tape.backward({x: np.array([1.0, 2.0, 3.0])})
    np.testing.assert_array_equal(x.grad.to_numpy(), [1, 2, 3])


@pytest.mark.parametrize("limits", [{}, {"memory": "1MB"}, {"snapshots": 3}])
def test_a_loss_that_depends_on_nothing_is_reported(limits: dict[str, Any]) -> None:
    x, plain, loss = dt.ones(3, grad=True), dt.ones(3), dt.zeros((), grad=True)

    @dt.checkpoint
    def twice() -> None:
        total(x, loss)
        total(x, loss)

    def constant() -> None:
        loss[None] = 3.0

    def without_gradient() -> None:
        with dt.no_grad():
            total(x, loss)
            loss.copy_from(dt.full((), 2.0))

    def beside() -> None:
        square_and_one(x, dt.zeros(3, grad=True), loss)

    several = lambda: count(x, loss), lambda: total(plain, loss), constant, without_gradient, beside
    for run in several:
        for after in (False, True):
            with pytest.warns(
                dt.GradientCut, match="depends smoothly on no field with a gradient"
            ) as w:
                with dt.Tape(None if after else loss, **limits) as tape:
                    run()
                if after:
                    tape.backward(loss)
            assert w[0].filename == __file__
            np.testing.assert_array_equal(x.grad.to_numpy(), [0, 0, 0])
    for run in (lambda: total(x, loss), twice):
        with dt.Tape(loss, **limits):
            run()
            count(x, loss)
        assert x.grad[0] > 0


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
    x.grad.fill(5.0)
    with dt.Tape() as tape:
        square(x.detach(), y)
    tape.backward({y: 1.0})
    np.testing.assert_array_equal(x.grad.to_numpy(), [0, 0, 0])


@dt.kernel
def through(x, between, y):
    for i in x:
        between[i] = 2.0 * x[i]
    for i in y:
        y[i] = between[i] * x[i]


@dt.kernel
def into_and_out(x, between, y):
    for i in y:
        y[i] = between[i] * between[i]
    for i in x:
        between[i] = 2.0 * x[i]


def test_a_gradient_that_one_launch_cuts_is_reported() -> None:
    x, y, between = dt.ones(3, grad=True), dt.zeros(3, grad=True), dt.zeros(3)
    with dt.Tape(), pytest.warns(dt.GradientCut, match="field 'between' has none"):
        through(x, between, y)
    with dt.Tape():
        into_and_out(x, between, y)  # which reads what was there before
        with pytest.warns(dt.GradientCut, match="field 'between' has none"):
            into_and_out(x, between, y)


def test_a_copy_that_cuts_the_gradient_is_reported() -> None:
    x, y = dt.full(3, 3.0, grad=True), dt.zeros(3, grad=True)
    between = dt.zeros(3)
    with dt.Tape():
        between.copy_from(x)
        between.fill(1.0)
        square(between, y)  # the copy is gone
        between.copy_from(x)
        with pytest.warns(dt.GradientCut, match="field 'x' has none and is read again"):
            square(between, y)
        between.copy_from(x)
        between[:1].copy_from(dt.zeros(1))  # the copy is there but for an element
        with pytest.warns(dt.GradientCut, match="field 'source' has none"):
            y.copy_from(between)
