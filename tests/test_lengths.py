"""The long tests, and which of them a run has."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from tests import lengths, tiers
from tests.tier_plugin import is_whole


def test_the_seconds_of_a_function_are_the_mean_of_its_tests(tmp_path: Path) -> None:
    took = {"a.py::f[1]": 0.5, "a.py::f[2]": 0.3, "a.py::g": 0.1, "b.py::C::h[x::y[z]]": 7.0}
    means = lengths.means(took)
    assert means == {"a.py::f": 0.4, "a.py::g": 0.1, "b.py::C::h": 7.0}
    with mock.patch.object(lengths, "FILE", tmp_path / "long.txt"):
        assert lengths.read() == {}
        lengths.write(means)
        assert lengths.read() == {"a.py::f": 0.4, "b.py::C::h": 7.0}


def test_long_tests_are_drawn_each_by_itself() -> None:
    tests = [f"a.py::f[{k}]" for k in range(4800)]
    with mock.patch.object(lengths, "read", lambda: {"a.py::f": 1.0}):
        drawn = [{*tests} - lengths.left_out(tests, f"hash {k}") for k in range(3)]
        assert lengths.left_out([*tests, "a.py::g"], None) == {*tests}
    assert all(150 < len(one) < 250 for one in drawn)
    assert len(drawn[0] & drawn[1]) < 30
    with mock.patch.object(lengths, "read", lambda: {"a.py::f": 3.5}):
        assert 25 < 4800 - len(lengths.left_out(tests, "hash 0")) < 75


@pytest.mark.parametrize(
    ("args", "options", "whole"),
    [
        (["tests"], {}, True),
        (["tests"], {"keyword": "tape"}, False),
        (["tests"], {"markexpr": "slow"}, False),
        (["tests/gallery"], {}, False),
        (["tests/test_lengths.py"], {}, False),
    ],
)
def test_whoever_names_tests_runs_the_long_ones_too(
    args: list[str], options: dict[str, str], whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiers.ROOT)
    option = SimpleNamespace(**{"keyword": "", "markexpr": "", **options})
    config: Any = SimpleNamespace(args=args, option=option)
    assert is_whole(config) == whole


def test_every_function_of_the_table_is_there() -> None:
    texts: dict[str, str] = {}
    for name in lengths.read():
        path, _, function = name.partition("::")
        if path not in texts:
            file = tiers.ROOT / path
            texts[path] = file.read_text() if file.exists() else ""
        last = function.rpartition("::")[2]
        assert re.search(rf"\bdef {last}\(", texts[path]), f"{name} is gone: remove its line"
