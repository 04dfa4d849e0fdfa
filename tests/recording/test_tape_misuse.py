"""Seeds of the wrong kind, and writes through a field that shares its memory with a graded one."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

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


@pytest.mark.parametrize("itself", [True, False])
def test_a_write_that_a_tape_of_another_thread_would_miss_is_refused(itself: bool) -> None:
    """Where the writing thread has a tape of its own, and where it has none."""
    x, y, said = dt.ones(3, grad=True), dt.zeros(3, grad=True), list[str]()

    def write() -> None:
        try:
            with dt.Tape() if itself else contextlib.nullcontext():
                x[1] = 2.0
        except dt.TapeError as error:
            said.append(str(error))

    with dt.Tape():
        square(x, y)
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    assert len(said) == 1 and "while a tape that has recorded it is open in another" in said[0]
    assert x.to_numpy().tolist() == [1, 1, 1]


@pytest.mark.parametrize("index", [1, (1, 0), (0,), -1, np.s_[:, 1]])
def test_one_element_written_from_python_leaves_the_others(index: Any) -> None:
    """A tape needs the memory from before, so that the field moves."""
    start = np.arange(1.0, 5.0).reshape(2, 2)
    x, y = dt.from_numpy(start, grad=True), dt.zeros((2, 2), dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        square_table(x, y)
        x[index] = 9.0
    expected = start.copy()
    expected[index] = 9.0
    np.testing.assert_array_equal(x.to_numpy(), expected)
    tape.backward({y: 1.0})
    np.testing.assert_array_equal(x.grad.to_numpy(), 2 * start)


LEFT_OPEN = """
import threading
import difftile as dt

dt.init(arch="cpu")

@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] ** 2

x, y, errors = dt.ones(3, grad=True), dt.zeros(3, grad=True), []

def write():
    try:
        x[0] = 5.0
    except dt.TapeError as error:
        errors.append(error)

with dt.Tape() as tape:
    square(x, y)
    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
assert len(errors) == 1
"""


def test_a_tape_may_be_open_when_python_ends(tmp_path: Path) -> None:
    """An error that the script keeps holds it until the names of modules are gone."""
    (tmp_path / "script.py").write_text(LEFT_OPEN)
    command = [sys.executable, tmp_path / "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""


@dt.kernel
def square_table(x, y):
    for i, j in x:
        y[i, j] = x[i, j] ** 2


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
