"""The benchmark of learning: its table, and a short run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.learning import main, table


def test_the_table_says_when_a_method_came_near_the_better_end() -> None:
    slow = [[0.0, 0, 1.0, 1.0], [10.0, 50, 40.0, 60.0], [20.0, 100, 80.0, 100.0]]
    quick = [[0.0, 0, 1.0, 1.0], [10.0, 30, 90.0, 92.0], [20.0, 60, 100.0, 100.0]]
    poor = [[0.0, 0, 1.0, 1.0], [20.0, 60, 10.0, 30.0]]
    found = {"hopper shac": quick, "hopper ppo": slow, "ant shac": quick, "ant ppo": poor}
    head, *lines = table({name: {"rows": rows} for name, rows in found.items()})
    assert head.split()[-3:] == ["s", "to", "90%"]
    assert [line.split() for line in lines] == [
        ["hopper,", "shac", "100.0", "100.0", "100.0", "60", "10.0"],
        ["hopper,", "ppo", "90.0", "80.0", "100.0", "100", "20.0"],
        ["ant,", "shac", "100.0", "100.0", "100.0", "60", "10.0"],
        ["ant,", "ppo", "20.0", "10.0", "30.0", "60", "never"],
    ]


@pytest.mark.slow  # worlds are compiled
def test_a_short_run_keeps_earlier_rows(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    given = ["--tasks", "cartpole_swingup", "--arch", "cpu", "--worlds", "4", "--points", "3"]
    for algorithm in ("shac", "ppo"):
        more = ["--algorithms", algorithm, "--seeds", "2", "--seconds", "0.5", "--json", str(file)]
        assert main([*given, *more]) == 0
    found = json.loads(file.read_text("utf-8"))
    assert list(found) == ["cartpole_swingup shac", "cartpole_swingup ppo"]
    assert all(len(one["rows"]) == 4 for one in found.values())
