"""Blocks that open tapes and transformations do not see."""

from __future__ import annotations

from collections.abc import Iterator
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
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def count(x, counts: ti.template()):
    for i in x:
        if x[i] > 0.5:
            counts[0] += 1


def pair() -> tuple[Any, Any, Any]:
    x = dt.from_numpy(np.array([0.25, 0.75]), grad=True)
    return x, dt.zeros_like(x, grad=True), dt.zeros(1, dtype=ti.i32)


def test_a_tape_has_no_step_of_what_is_hidden() -> None:
    x, y, counts = pair()
    with dt.Tape() as tape:
        square(x, y)
        with dt.stop_recording():
            count(x, counts)
            assert type(y[1]) is float
        square(y, y2 := dt.zeros_like(y, grad=True))
    assert len(tape) == 2
    tape.backward({y2: np.ones(2)})
    assert counts[0] == 1
    np.testing.assert_allclose(x.grad.to_numpy(), 4 * x.to_numpy() ** 3, rtol=1e-14)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: square(x, x),
        lambda x: x.fill(0.0),
        lambda x: x.__setitem__(0, 1.0),
        lambda x: x.__imul__(2.0),
        lambda x: x.copy_from(dt.zeros_like(x)),
    ],
    ids=["launch", "fill", "element", "arithmetic", "copy"],
)
def test_writes_of_what_a_tape_has_recorded_are_refused(write: Any) -> None:
    x, y, _ = pair()
    with dt.Tape(), pytest.raises(dt.DifftileError, match=r"open around 'with dt\.stop_recording"):
        square(x, y)
        with dt.stop_recording():
            write(x)
    assert x.to_numpy().tolist() == [0.25, 0.75]


def test_a_step_with_rules_is_refused_as_a_launch_is() -> None:
    x, y, _ = pair()

    class Halve(dt.Step):
        def run(self) -> None:
            x.from_numpy(0.5 * x.to_numpy())

    halve = Halve("halve", updates={"x": x})
    with dt.Tape(), pytest.raises(dt.DifftileError, match=r"open around 'with dt\.stop_recording"):
        square(x, y)
        with dt.stop_recording():
            halve()


def test_every_outer_tape_is_asked() -> None:
    x, y, _ = pair()
    with dt.Tape():
        square(x, y)
        with dt.stop_recording():
            z = dt.zeros_like(x, grad=True)
            with dt.Tape() as inner:
                square(x, z)
            assert len(inner) == 1
        with pytest.raises(dt.TapeError), dt.stop_recording():
            with dt.stop_recording():
                x.fill(0.0)


def test_a_transformation_sees_none_of_it() -> None:
    x, y, counts = pair()

    def f(x: Any) -> Any:
        square(x, y)
        with dt.stop_recording():
            count(y, counts)
        return y

    _, tangent = dt.jvp(f, (x,), (dt.full_like(x, 1.0),))
    np.testing.assert_allclose(tangent.to_numpy(), 2 * x.to_numpy(), rtol=1e-14)


def test_recording_is_where_derivatives_are_recorded() -> None:
    assert not dt.is_recording()
    with dt.Tape():
        assert dt.is_recording()
        with dt.no_grad():
            assert not dt.is_recording()
        with dt.stop_recording():
            assert not dt.is_recording()
        assert dt.is_recording()
