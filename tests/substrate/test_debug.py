"""`print` and `assert` in kernels, and accesses out of range under `dt.init(debug=True)`."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.diagnostics import AssertionFailure, IndexOutOfRange
from difftile.ir.nodes import Array
from difftile.substrate import current_session
from tests import harness
from tests.harness import PROGRAMS
from tests.programs import gather_scatter, in_place, vectors

CHECKED = (gather_scatter, in_place, vectors)


@pytest.fixture
def debug() -> None:
    """Start under debug, unless the test before has; each start throws compiled kernels away."""
    if not current_session().debug:
        dt.init(arch="cpu", debug=True)


@pytest.fixture(autouse=True)
def plain(request: pytest.FixtureRequest) -> None:
    """Start without, for the other tests."""
    if "debug" not in request.fixturenames and current_session().debug:
        dt.init(arch="cpu")


@pytest.fixture(scope="module", autouse=True)
def plain_afterwards() -> Iterator[None]:
    yield
    if current_session().debug:
        dt.init(arch="cpu")


def printed(capfd: pytest.CaptureFixture[str]) -> str:
    """Return the printed text; Taichi prints with C, which buffers its output."""
    ctypes.CDLL(None).fflush(None)
    return capfd.readouterr().out


@dt.func
def shouted(a):
    print("square of", a)
    return a * a


@dt.kernel
def speaking(x, y, n: int):
    print("start", n, x.shape, sep="|")
    for i in range(2):
        v = ti.Vector([x[i], 2.0])
        print("v =", v, f"{x[i]=:.3f} {i:>4} {v.x > 1} {v:.1f} {100}% {'t':>3}", end=" <-\n")
        y[i] = shouted(x[i])
        if x[i] > 0.5:
            for j in range(2):
                print(j, x[i] * j, ti.cast(x[i], ti.f64), ti.cast(i + 255, ti.u8), f"{i + 255:x}")
                y[i] += x[i] * j
    print()
    print("done", end="")
    print("\n", 'a\t"b" \\ {c} %d', sep="")


SAID = """\
start|3|(2,)
v = [1.250000, 2.000000] x[i]=1.250    0 1 [1.2, 2.0] 100%   t <-
square of 1.250000
0 0.000000 1.250000000000 255 ff
1 1.250000 1.250000000000 255 ff
v = [0.250000, 2.000000] x[i]=0.250    1 0 [0.2, 2.0] 100%   t <-
square of 0.250000

done
a\t"b" \\ {c} %d
"""


def two_fields() -> tuple[dt.Field, dt.Field]:
    data = np.array([1.25, 0.25], np.float32)
    return dt.from_numpy(data, grad=True), dt.zeros(2, grad=True)


def test_print_shows_texts_and_values(capfd: pytest.CaptureFixture[str]) -> None:
    x, y = two_fields()
    speaking(x, y, 3)
    assert printed(capfd) == SAID


def test_python_prints_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    x, y = two_fields()
    speaking(x, y, 3)
    printed(capfd)
    code: Any = speaking._latest
    fields = {p: np.array([1.25, 0.25], np.float32) for p in code.params if isinstance(p, Array)}
    meaning.run(code.stages[0].program, fields, {code.params[2]: 3})
    assert capfd.readouterr().out == SAID


@pytest.mark.parametrize("options", [{}, {"memory": 400}])
def test_print_is_not_repeated_by_the_adjoint(
    options: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    @dt.kernel
    def step(x, k: int):
        for i in x:
            x[i] = ti.sin(x[i])
            if i == 7:
                print("step", k)

    x = dt.full(20, 0.5, grad=True)
    with dt.Tape(**options) as tape:
        for k in range(12):
            step(x, k)
    tape.backward({x: 1.0})
    said = printed(capfd)
    if options:
        assert "run again" in tape.summary()
    assert said == "".join(f"step {k}\n" for k in range(12))
    value, slope = 0.5, 1.0
    for _ in range(12):
        value, slope = np.sin(value), slope * np.cos(value)
    np.testing.assert_allclose(x.grad.to_numpy(), slope, rtol=1e-5)


def test_stages_print_once(capfd: pytest.CaptureFixture[str]) -> None:
    @dt.kernel
    def three_versions(x, y):
        print("once")
        for i in x:
            x[i] = x[i] * x[i]
        for i in y:
            y[i] = x[i] + x[0]
        print("twice")
        for i in x:
            x[i] = y[i] * 2.0

    three_versions(dt.ones(3), dt.ones(3))
    code: Any = three_versions._latest
    assert len(code.stages) > 1
    assert printed(capfd) == "once\ntwice\n"


# Assertions


@dt.kernel
def rooted(x, n: int):
    for i in x:
        assert x[i] >= 0, f"x[{i}] = {x[i]:.1f}"
        assert i < n
        x[i] = ti.sqrt(ti.abs(x[i]))


def test_assertions_are_for_debugging() -> None:
    x = dt.full(3, -4.0)
    rooted(x, 0)
    assert np.all(x.to_numpy() == 2)
    assert "failure" not in rooted.source()


def test_assertion_reports_and_the_launch_runs_on(debug: None) -> None:
    x = dt.from_numpy(np.array([4, -9, 16], np.float32))
    with pytest.raises(AssertionFailure, match=r"x\[1\] = -9.0") as caught:
        rooted(x, 3)
    assert isinstance(caught.value, AssertionError)
    assert caught.value.span is not None and caught.value.span.text.strip().startswith("assert")
    assert x.to_numpy().tolist() == [2, 3, 4]
    rooted(x, 3)
    with pytest.raises(AssertionFailure, match="i < n"):
        rooted(x, 2)


@dt.kernel
def strided(x, s: int):
    for i in range(0, 3, s):
        x[i] += 1


def test_step_of_zero_takes_no_steps(debug: None) -> None:
    x = dt.zeros(3)
    strided(x, 2)
    with pytest.raises(AssertionFailure, match="the step of a range is 0") as caught:
        strided(x, 0)
    assert caught.value.span is not None and caught.value.span.shown == "s"
    assert x.to_numpy().tolist() == [1, 0, 1]


# Indices


@dt.kernel
def unguarded(x, y, by: int):
    for i in x:
        y[i + by] = x[i] * 2.0
        y[i + by] += x[i - by]


def test_access_behind_a_test_is_no_failure(debug: None) -> None:
    for by in (0, 1, 3, -3, 9):

        @dt.kernel
        def at(x, y, by: int):
            for i in x:
                j = i + by
                y[i] = x[j] if j >= 0 and j < x.shape[0] else -1.0
                k = 0
                while k < by and x[k] > 2:
                    k += 1

        x, y = dt.from_numpy(np.arange(4, dtype=np.float32)), dt.zeros(4)
        at(x, y, by)
        expected = [float(i + by) if 0 <= i + by < 4 else -1.0 for i in range(4)]
        assert y.to_numpy().tolist() == expected


def test_writes_outside_are_left_out(debug: None) -> None:
    x, y = dt.from_numpy(np.arange(1, 5, dtype=np.float32)), dt.zeros(4)
    with pytest.raises(IndexOutOfRange) as caught:
        unguarded(x, y, 2)
    assert isinstance(caught.value, IndexError)
    assert caught.value.shape == (4,) and caught.value.index in ((4,), (5,), (-1,), (-2,))
    assert y.to_numpy().tolist() == [0, 0, 2 * 1 + 1, 2 * 2 + 1]
    unguarded(x, y, 0)
    assert y.to_numpy().tolist() == [3, 6, 9, 12]


@pytest.mark.parametrize(("step", "by", "index"), [(1, 1, 3), (1, -1, -1), (2, 2, 3)])
def test_index_outside_a_view(step: int, by: int, index: int, debug: None) -> None:
    @dt.kernel
    def copied(v, y, by: int):
        for i in y:
            if i + by < 3 or i == 2 or by < 0:
                y[i] = v[i + by]

    x, y = dt.zeros(8), dt.zeros(3)
    copied(x[1 : 1 + 3 * step : step], y, 0)
    with pytest.raises(IndexOutOfRange) as caught:
        copied(x[1 : 1 + 3 * step : step], y, by)
    assert caught.value.shape == (3,) and caught.value.index[0] in (index, index + 1)


def test_failure_ends_a_tape(debug: None) -> None:
    x, y = dt.ones(4, grad=True), dt.zeros(4, grad=True)
    with dt.Tape() as tape, pytest.raises(IndexOutOfRange):
        unguarded(x, y, 1)
    with pytest.raises(dt.TapeError, match="'unguarded' failed"):
        tape.backward({y: 1.0})
    with dt.Tape() as tape:
        unguarded(x, y, 0)
    tape.backward({y: 1.0})
    assert x.grad.to_numpy().tolist() == [3, 3, 3, 3]


def test_failure_in_a_later_stage_is_raised_once(debug: None) -> None:
    @dt.kernel
    def stages(x, y, at: int):
        for i in x:
            x[i] = x[i] * x[i]
        for i in y:
            y[i] = x[i] + x[at]
        for i in x:
            x[i] = y[i] * 2.0

    x, y = dt.full(3, 2.0), dt.zeros(3)
    with pytest.raises(IndexOutOfRange, match=r"index \(7,\)"):
        stages(x, y, 7)
    assert x.to_numpy().tolist() == [16, 16, 16]
    stages(x, y, 0)


@pytest.mark.parametrize("module", CHECKED, ids=lambda m: m.__name__.split(".")[-1])
def test_programs_mean_the_same_under_debug(module: Any, debug: None) -> None:
    ours = [one for one in PROGRAMS if one.function.__module__ == module.__name__]
    for one in ours[:: max(1, len(ours) // 3)]:
        harness.check(one)
