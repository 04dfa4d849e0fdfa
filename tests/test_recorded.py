"""Programs whose text is in the record run by their meaning, and all others are compiled."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from tests import recorded
from tests.recorded import Recorded


@pytest.fixture
def one(request: pytest.FixtureRequest) -> Generator[Recorded]:
    """The record of this process, which knows nothing for a while."""
    plugin: Any = request.config.pluginmanager.getplugin("tiers")
    used: Recorded = plugin.recorded
    fresh = dict(known=frozenset(), compiles=False, each=False, noted=set())
    with mock.patch.multiple(used, counts=recorded.Counts(), **fresh):
        yield used


def _kernel() -> Any:
    @dt.kernel
    def cubes(x, y):
        for i in x:
            y[i] += ti.sin(x[i]) ** 3

    return cubes


def _run(kernel: Any, n: int = 5) -> np.ndarray:
    x, y = dt.from_numpy(np.linspace(0.1, 1.0, n)), dt.zeros(n, dtype=ti.f64)
    kernel(x, y)
    return y.to_numpy()


def test_a_recorded_text_runs_without_a_compiler_to_the_same_numbers(one: Recorded) -> None:
    first = _run(_kernel())
    assert one.counts == recorded.Counts(1, 0) and len(one.noted) == 1
    one.known = frozenset(one.noted)
    np.testing.assert_allclose(_run(_kernel()), first, rtol=1e-15)
    assert one.counts == recorded.Counts(1, 1)


def test_another_text_is_compiled(one: Recorded) -> None:
    _run(_kernel())
    one.known = frozenset(one.noted)

    @dt.kernel
    def squares(x, y):
        for i in x:
            y[i] += ti.sin(x[i]) ** 2

    _run(squares)
    assert one.counts == recorded.Counts(2, 0)


def test_long_launches_are_compiled_once_they_have_taken_long(one: Recorded) -> None:
    _run(_kernel(), 3000)
    one.known, kernel = frozenset(one.noted), _kernel()
    for _ in range(10):
        result = _run(kernel, 3000)
    assert one.counts == recorded.Counts(2, 1)
    np.testing.assert_allclose(result, np.sin(np.linspace(0.1, 1.0, 3000)) ** 3, rtol=1e-12)


@pytest.mark.parametrize("reason", ["the test", "a part of the language"])
def test_what_a_run_compiles_of_the_record(one: Recorded, reason: str) -> None:
    _run(_kernel())
    one.known = frozenset(one.noted)
    one.compiles = reason == "the test"
    one.each = reason == "a part of the language"
    if one.each:
        one.seen.discard("ti.sin")
    _run(_kernel())
    assert one.counts == recorded.Counts(2, 0)


def test_what_a_test_runs_does_not_depend_on_those_before_it(one: Recorded) -> None:
    _run(_kernel(), 3000)
    one.known, kernel = frozenset(one.noted), _kernel()
    meaning = mock.Mock(side_effect=recorded.run)
    with mock.patch.object(recorded, "run", meaning):
        for compiles in (False, True, False, True):
            one.test += 1
            one.compiles = compiles
            before = meaning.call_count
            _run(kernel, 3000)
            assert meaning.call_count == before + (not compiles)
    assert one.counts == recorded.Counts(2, 1)


def test_processes_of_tests_have_the_same_record(
    one: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "read", lambda _: frozenset("a"))
    install = mock.Mock()
    monkeypatch.setattr(recorded, "install", install)
    monkeypatch.setenv(recorded.VARIABLE, "{}")
    assert recorded.compiles_now()
    for known in (frozenset[str](), frozenset("a")):
        for one.compiles in (True, False):
            one.known = known
            recorded.hand_on(one)
            recorded.install_as_handed_on()
            install.assert_called_with(known, None)
            assert recorded.compiles_now() == one.compiles


def test_programs_that_print_are_compiled(one: Recorded) -> None:
    @dt.kernel
    def speaks(x):
        for i in range(1):
            print("x is", x[0])

    x = dt.ones(1)
    speaks(x)
    one.known = frozenset(one.noted)
    dt.kernel(speaks.__wrapped__)(x)
    assert one.counts == recorded.Counts(2, 0)


def test_a_record_is_one_sorted_entry_a_line(tmp_path: Path) -> None:
    with mock.patch.object(recorded, "FOLDER", tmp_path):
        assert recorded.read("taichi-9") == frozenset()
        recorded.write("taichi-9", ["b", "a", "b"])
        assert (tmp_path / "taichi-9.txt").read_text() == "a\nb\n"
        assert recorded.read("taichi-9") == {"a", "b"}
