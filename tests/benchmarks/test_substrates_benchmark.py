"""`benchmarks/substrates.py` measures both compilers, each in a process of its own."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import substrates
from benchmarks.kernel_rows.cases import CASES

BOTH = all(find_spec(name) for name in substrates.SUBSTRATES)


@pytest.mark.skipif(not BOTH, reason="needs Taichi and Quadrants")
def test_both_compilers_compute_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "found.json"
    argv = ["--quick", "--rows", "launch", "wave", "--threads", "1", "--turns", "1"]
    assert substrates.main([*argv, "--json", str(path)]) == 0
    said = capsys.readouterr().out
    assert "launch: the compiler's own call" in said
    found = json.loads(path.read_text("utf-8"))["rows"]
    assert set(found["wave, 1 threads"]) == {"compile", "alone", "recorded", "reverse"}
    assert all(one["ratio"] > 0 for one in found["launch, 1 threads"].values() if one["taichi"])


def test_a_compiler_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(substrates, "find_spec", lambda name: name == "taichi" or None)
    with pytest.raises(SystemExit, match="2"):
        substrates.main([])
    assert "not installed: quadrants" in capsys.readouterr().err


@pytest.mark.parametrize("off", [0.1, np.nan])
def test_other_results_are_told(off: float) -> None:
    right = {"y": np.ones(4), "x.grad": np.zeros(4)}
    assert substrates.differences(right, right) == []
    wrong = {"y": np.ones(4) + off, "x.grad": np.zeros(4)}
    assert len(substrates.differences(right, wrong)) == 1


def test_all_kernels_have_a_row() -> None:
    assert substrates.KERNELS == tuple(CASES)
