"""The demo, headless and short."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from demos.ant_policy import main


@pytest.mark.slow  # worlds are compiled
def test_ppo_writes_into_a_folder_of_its_own(tmp_path: Path) -> None:
    given = ["--robot", "hopper", "--worlds", "4", "--method", "ppo", "--out", str(tmp_path)]
    assert main([*given, "--iterations", "1"]) == 0
    assert main([*given, "--iterations", "2", "--resume"]) == 0
    names = {path.name for path in (tmp_path / "ppo").iterdir()}
    assert {"checkpoint.npz", "curve.csv", "curve.png", "run.gif"} <= names


@pytest.mark.slow  # the gradient of worlds is compiled
def test_demo_writes_its_course_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--robot", "hopper", "--worlds", "4", "--seeds", "2", "--out", str(tmp_path)]
    assert main([*given, "--iterations", "1"]) == 0
    assert main([*given, "--iterations", "2", "--resume"]) == 0
    assert "2 updates in" in capsys.readouterr().out
    with open(tmp_path / "curve.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["iteration"] for row in rows] == ["0", "1"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "checkpoint.npz",
        "curve.csv",
        "curve.png",
        "run.gif",
        "strip.png",
    }


def test_torch_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "difftile.worlds.learn.torch_networks", raising=False)
    with pytest.raises(SystemExit, match=r"--policy torch: .*difftile\[torch\]"):
        main(["--robot", "hopper", "--worlds", "1", "--policy", "torch"])


def test_ppo_takes_no_module_of_torch(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--method", "ppo", "--policy", "torch"])
    assert "--policy torch goes with --method shac" in capsys.readouterr().err


@pytest.mark.slow  # the gradient of worlds is compiled
@pytest.mark.parametrize("policy", ["kernel", "torch"])
def test_gradient_through_a_horizon_is_that_of_differences(policy: str) -> None:
    if policy == "torch":
        pytest.importorskip("torch")
    assert main(["--robot", "hopper", "--check", "--policy", policy]) == 0


def test_demo_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"cannot go on: .*checkpoint\.npz"):
        main(["--robot", "hopper", "--worlds", "1", "--resume", "--out", str(tmp_path)])
