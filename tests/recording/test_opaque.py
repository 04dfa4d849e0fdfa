"""Steps that are opaque to a tape: their stored values, and the inputs of their reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.uses import Keeps, Use
from difftile.substrate import current_session

N = 6


class Sine(OpaqueStep):
    """y = sin(x), in NumPy."""

    def __init__(self, x: dt.Field, y: dt.Field) -> None:
        uses = (Use(x, True, False, Keeps.BEFORE, "x"), Use(y, False, True, Keeps.AFTER, "y"))
        super().__init__("sine", uses)
        self.x, self.y = x, y

    def run(self) -> Any:
        self.y.from_numpy(np.sin(self.x.to_numpy()))
        return self.x.to_numpy()

    def reverse(self, then: Any, saved: Any) -> None:
        x, y = then[self.x], then[self.y]
        np.testing.assert_array_equal(x.to_numpy(), saved)
        np.testing.assert_array_equal(np.sin(saved), y.to_numpy())
        now = self.x.to_numpy()
        with then.restored():
            np.testing.assert_array_equal(self.x.to_numpy(), saved)
            np.testing.assert_array_equal(self.y.to_numpy(), y.to_numpy())
        np.testing.assert_array_equal(self.x.to_numpy(), now)
        x.grad_out.from_numpy(np.cos(x.to_numpy()) * y.grad_in.to_numpy())


class Squash(OpaqueStep):
    """x = tanh(x) in place; the tape finds out that it is written."""

    def __init__(self, x: dt.Field) -> None:
        super().__init__("squash", (Use(x, True, None, Keeps.BEFORE, "x"),))
        self.x = x

    def run(self) -> Any:
        self.x.from_numpy(np.tanh(self.x.to_numpy()))

    def reverse(self, then: Any, saved: Any) -> None:
        x = then[self.x]
        x.grad_out.from_numpy(x.grad_in.to_numpy() / np.cosh(x.to_numpy()) ** 2)


@dt.kernel
def mix(x, y):
    for i in x:
        x[i] = 0.9 * x[i] + 0.5 * y[i] * x[i]


def _program(x: Any, y: Any, steps: int) -> None:
    for k in range(steps):
        perform(Sine(x, y))
        mix(x, y)
        if k % 3 == 2:
            perform(Squash(x))


def _reference(x: Any, steps: int) -> Any:
    for k in range(steps):
        y = np.sin(x)
        x = 0.9 * x + 0.5 * y * x
        if k % 3 == 2:
            x = np.tanh(x)
    return x


def _fields() -> tuple[Any, Any, Any]:
    start = np.linspace(0.3, 0.9, N)
    return start, dt.from_numpy(start, grad=True), dt.zeros(N, float, grad=True)


LIMITS: list[dict[str, Any]] = [
    {},
    {"snapshots": 3},
    {"snapshots": 4},
    {"snapshots": 20},
    {"memory": 6 * N * 8},
    {"memory": 12 * N * 8},
]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("steps", [1, 3, 40])
def test_gradients_pass_through_opaque_steps(limit: dict[str, Any], steps: int) -> None:
    start, x, _ = _fields()
    y = dt.from_numpy(np.zeros(N), grad=True)
    before = current_session().pool.kept
    with dt.Tape(**limit) as tape:
        _program(x, y, steps)
    final = x.to_numpy()
    np.testing.assert_allclose(final, _reference(start, steps), rtol=1e-12)
    wanted = _reference(start + 1e-30j, steps).imag / 1e-30
    for keep in (True, False):
        dt.zero_grads()
        tape.backward({x: 1.0}, keep=keep)
        np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-12)
        np.testing.assert_array_equal(x.to_numpy(), final)
    assert current_session().pool.kept == before
    if "memory" in limit:
        assert tape.peak_nbytes <= limit["memory"]


def test_checkpoints_no_grad_and_retained_gradients() -> None:
    start, x, _ = _fields()
    y = dt.from_numpy(np.zeros(N), grad=True)
    with dt.Tape() as tape:
        dt.checkpoint(_program)(x, y, 3)
        _program(x, y, 3)
    tape.backward({x: 1.0}, retain=[y])
    wanted = _reference(start + 1e-30j, 6).imag / 1e-30
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-12)
    assert np.all(y.grad.to_numpy() != 0)
    with dt.Tape() as tape:
        with dt.no_grad():
            perform(Squash(x))
    tape.backward({x: 1.0})
    np.testing.assert_array_equal(x.grad.to_numpy(), 0)


def test_a_summary_and_a_picture_show_steps(tmp_path: Any) -> None:
    _, x, _ = _fields()
    y = dt.from_numpy(np.zeros(N), grad=True)
    with dt.Tape(measure=True) as tape:
        _program(x, y, 4)
    assert "sine: 4 calls" in tape.summary().splitlines()
    tape.backward({x: 1.0})
    tape.visualize(tmp_path / "tape.svg")
    assert (tmp_path / "tape.svg").stat().st_size


class Stray(OpaqueStep):
    """Does something with x and y that is said to be otherwise."""

    def __init__(self, x: dt.Field, y: dt.Field, act: Callable[[Stray, Any], None]) -> None:
        uses = (Use(x, True, False, Keeps.BEFORE, "x"), Use(y, True, None, Keeps.UNWRITTEN, "y"))
        super().__init__("stray", uses)
        self.x, self.y, self.act = x, y, act

    def run(self) -> Any:
        self.act(self, None)
        self.y.from_numpy(self.x.to_numpy())

    def reverse(self, then: Any, saved: Any) -> None:
        self.act(self, then)


@dt.kernel
def double(x):
    for i in x:
        x[i] *= 2.0


@pytest.mark.parametrize("taped", [False, True])
@pytest.mark.parametrize("how", ["launch", "fill", "element", "part", "copy"])
def test_a_write_into_a_field_that_is_only_read_is_refused(how: str, taped: bool) -> None:
    start, x, y = _fields()
    writes: dict[str, Callable[[Any], object]] = {
        "launch": double,
        "fill": lambda x: x.fill(1.0),
        "element": lambda x: x.__setitem__(0, 2.0),
        "part": lambda x: x[1:3].fill(2.0),
        "copy": lambda x: x.copy_from(dt.ones_like(x)),
    }
    step = Stray(x, y, lambda self, then: writes[how](self.x) and None)
    with pytest.raises(dt.LaunchError, match=r"'x' is written by stray, and declared dt\.In"):
        if taped:
            with dt.Tape():
                perform(step)
        else:
            perform(step)
    np.testing.assert_array_equal(x.to_numpy(), start)


def _reversed(act: Callable[[Any], None]) -> tuple[Any, Any]:
    _, x, _ = _fields()
    y = dt.from_numpy(np.zeros(N), grad=True)
    with dt.Tape() as tape:
        perform(Stray(x, y, lambda self, then: act(then) if then is not None else None))
    step = tape._recorder.history.entries[0].opaque.step  # type: ignore[attr-defined]
    step.act = lambda self, then: act((then[x], then[y]))
    tape.backward({y: 1.0})
    return x, y


def test_contents_that_nobody_kept_are_refused() -> None:
    with pytest.raises(dt.FieldError, match="What 'y' held is not kept"):
        _reversed(lambda pair: pair[1].to_numpy())


def test_a_reverse_that_changes_contents_is_refused() -> None:
    with pytest.raises(dt.TapeError, match="changed what 'x' holds"):
        _reversed(lambda pair: pair[0].fill(0.0))


def test_a_reverse_that_adds_nothing_is_reported() -> None:
    with pytest.warns(dt.GradientCut, match="the backward of stray added to no gradient"):
        _reversed(lambda pair: None)


def test_tapes_of_its_own_leave_the_gradients_of_others_alone() -> None:
    inner = dt.from_numpy(np.ones(N), grad=True)

    def act(pair: Any) -> None:
        x, y = pair
        with dt.Tape() as own:
            double(inner)
        own.backward({inner: y.grad_in})
        x.grad_out.copy_from(inner.grad)

    inner.grad.fill(7.0)
    x, _ = _reversed(act)
    np.testing.assert_array_equal(x.grad.to_numpy(), 2)
    np.testing.assert_array_equal(inner.grad.to_numpy(), 7)  # the outer tape has not met it
