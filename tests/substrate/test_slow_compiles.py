"""The warning about code that takes long to compile names the line and what to write instead."""

from __future__ import annotations

import warnings
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.sorting import Sorter
from difftile.substrate import slow_compiles
from difftile.substrate.family import build
from tests import harness


@dt.kernel
def unrolled(x, y):
    for i in x:
        s = x[i]
        for k in ti.static(range(40)):
            s = ti.sin(s) + k * x[i]
        y[i] = s


@dt.kernel
def whole_vectors(x, y):
    for i in x:
        v = x[i]
        y[i] = (v * v + ti.sin(v)).sum()


@dt.kernel
def kept_vectors(x, y, n: int):
    for i in x:
        v = x[i]
        for k in range(n):
            v[k % 16] = ti.sin(v[(k + 1) % 16])
        y[i] = v[3]


@dt.kernel
def in_two_loops(x):
    for k in ti.static(range(200)):
        x[k] = 1.0
    for k in ti.static(range(200)):
        x[k] += 1.0


def test_loops_are_counted_one_by_one() -> None:
    x = dt.zeros(200)
    in_two_loops(x)  # warnings are errors
    assert x.sum() == 400.0


def _said(run: Any) -> list[str]:
    with mock.patch.object(slow_compiles, "LONGEST", 0.0), warnings.catch_warnings():
        warnings.simplefilter("always")
        with warnings.catch_warnings(record=True) as caught:
            run()
    assert all(one.category is dt.SlowCompile for one in caught)
    return [str(one.message) for one in caught]


def _taped(kernel: Any, element: Any, *numbers: int) -> list[str]:
    x, y = dt.ones(4, dtype=element, grad=True), dt.zeros(4, grad=True)

    def run() -> None:
        with dt.Tape() as tape:
            kernel(x, y, *numbers)
        tape.backward({y: np.ones(4)})

    return _said(run)


@pytest.mark.parametrize(
    ("kernel", "element", "numbers", "line", "advice"),
    [
        (unrolled, ti.f32, (), "s = ti.sin(s)", "without 'ti.static'"),
        (whole_vectors, dt.vec(20), (), "y[i] = (v * v", "change single components in a loop"),
        (kept_vectors, dt.vec(16), (9,), "for k in range(n)", "has no literal bounds"),
    ],
    ids=lambda given: getattr(given, "__name__", None),
)
def test_the_line_and_the_advice(
    kernel: Any, element: Any, numbers: tuple[int, ...], line: str, advice: str
) -> None:
    primal, adjoint = _taped(kernel, element, *numbers)
    name = kernel.__name__
    assert primal.startswith(f"Compiling '{name}' took ")
    assert adjoint.startswith(f"Compiling '{name}_adjoint' took ")
    assert line in adjoint
    assert advice in adjoint


def test_quick_compilations_are_silent() -> None:
    @dt.kernel
    def quick(x):
        for i in x:
            x[i] += 1

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quick(dt.zeros(4))
    assert caught == []


def test_kernels_of_the_library_are_not_warned_of() -> None:
    assert not _said(lambda: Sorter(3).sort(3))


@pytest.mark.compiled
@pytest.mark.parametrize(("size", "level"), [(60, 0), (2, 1)])
def test_large_code_is_not_searched_for_equal_expressions(size: int, level: int) -> None:
    """The code of a thread is a function of its own, whose expressions count."""

    @dt.kernel
    def unrolled_in_a_function(x, y):
        for i in x:
            s = x[i]
            for k in ti.static(range(size)):
                s = ti.sin(s) * x[i] + ti.cos(s + k) * x[i] / (s * s + k)
            y[i] = s

    levels: list[int] = []
    create_kernel = build.private.create_kernel

    def create(program: Any, name: str, body: Any) -> Any:
        def noted(kernel: Any) -> None:
            body(kernel)
            levels.append(program.config().opt_level)

        return create_kernel(program, name, noted)

    x, y = dt.ones(8), dt.ones(8)
    with harness.vectors(), mock.patch.object(build.private, "create_kernel", create):
        unrolled_in_a_function(x, y)
    assert levels == [level]


def test_long_code_is_announced_once_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(slow_compiles.QUIET, raising=False)
    monkeypatch.setattr(slow_compiles._Told, "already", False)

    def told(lines: int) -> str:
        slow_compiles.announce_slow_compile("step", lines)
        return capsys.readouterr().err

    assert told(3000) == ""  # no terminal
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert told(1000) == ""
    with monkeypatch.context() as quiet:
        quiet.setenv(slow_compiles.QUIET, "1")
        assert told(3000) == ""
    assert told(3000) == (
        "difftile: compiling 'step', 3,000 lines, takes about 10 s, once: later runs find it on "
        "disk. DIFFTILE_QUIET=1 leaves this line out.\n"
    )
    assert told(3000) == ""
