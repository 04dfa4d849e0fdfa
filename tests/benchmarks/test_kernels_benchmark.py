"""`benchmarks/kernels.py` compares what it measures, and its figures with those of earlier runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import kernels
from benchmarks.kernel_rows import cases, figures, sides

SMALL = ("--size", "0.01", "--repetitions", "1", "--peers", "numpy")


@pytest.mark.taichi
def test_rows_agree_with_their_peers(capsys: pytest.CaptureFixture[str]) -> None:
    assert kernels.main([*SMALL, "--only", "stencil", "texture", "n-body"]) == 0
    said = capsys.readouterr().out
    assert "NumPy forward" in said
    assert "torch" not in said
    assert "of 10 targets met" in said  # three each, and one of n-body; the stencil's are torch's


@pytest.mark.slow
@pytest.mark.taichi
def test_a_run_is_compared_with_an_earlier_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "earlier.json"
    here = [*SMALL, "--only", "sum", "--threads", "1", "--json", str(path)]
    assert kernels.main(here) == 0
    earlier = json.loads(path.read_text("utf-8"))
    assert set(earlier["1"]["sum"]) >= {"forward", "recorded", "backward", "NumPy backward"}
    assert "threads: 1" in capfd.readouterr().out
    now = {"1": {"sum": {of: 2 * time for of, time in earlier["1"]["sum"].items()}, "map": {}}}
    said = list(figures.comparison(now, earlier))
    assert said[1].split() == ["sum", *4 * ["2.00"]]
    assert len(said) == 2


def test_peers_that_differ_are_told() -> None:
    right = np.ones(100, np.float32)
    wrong = right.copy()
    wrong[3] += 1
    sides.compare("x", right, right, sides.TOLERANCE)
    for other in (wrong, np.where(right == wrong, right, np.nan), right[:50]):
        with pytest.raises(SystemExit, match=r"^x: "):
            sides.compare("x", right, other, sides.TOLERANCE)


def test_targets_are_figures_where_both_times_were_measured() -> None:
    turns = [{"forward": 2e-3, "backward": 5e-3, "by hand": 1e-3}]
    targets = (
        cases.Target("backward", "forward", 2.5),
        cases.Target("forward", "torch forward", 1.0),
        cases.Target("forward", "", 1.9),
    )
    found = figures.further("row", targets, turns, absolute=True)
    assert [(of.value, of.met) for of in found] == [(2.5, True), (2.0, False)]
    assert len(figures.further("row", targets, turns, absolute=False)) == 1
    assert figures.ratio(turns, "forward + backward", "by hand") == pytest.approx(7)
