"""`benchmarks/gpu.py` checks what it measures; here small, on the CPU."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from benchmarks import gpu
from benchmarks.gpu_rows.report import Found, comparison, is_met, lines_of, ratio_of
from benchmarks.gpu_rows.rows import ROWS, Target

SMALL = ("--quick", "--arch", "cpu", "--turns", "1")


@pytest.mark.slow
@pytest.mark.taichi
def test_rows_run_and_are_compared_with_an_earlier_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "earlier.json"
    here = [*SMALL, "--rows", "stencil", "texture", "mpm", "--peers", "--json", str(path)]
    assert gpu.main(here) == 0
    earlier = json.loads(path.read_text("utf-8"))
    assert set(earlier["rows"]["stencil"]["difftile"]) == {"forward", "record", "backward", "total"}
    earlier["rows"]["stencil"]["torch.compile"] = {"forward": 1e9, "backward": 1e9, "total": 2e9}
    path.write_text(json.dumps(earlier), "utf-8")
    capsys.readouterr()
    assert gpu.main([*here, "--compare", str(path)]) == 0
    said = capsys.readouterr().out
    assert "torch.compile *" in said
    assert "backward <= 1 x torch.compile: 0.00, met" in said
    assert "stencil, difftile" in said
    assert "1 of 1 targets met" in said


def test_a_machine_without_a_device_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(arch: str, **_: object) -> None:
        raise dt.FieldError(f"This machine has no {arch}.")

    monkeypatch.setattr(dt, "init", refuse)
    with pytest.raises(SystemExit, match="2"):
        gpu.main([])
    assert "argument --arch: This machine has no cuda." in capsys.readouterr().err


@pytest.mark.taichi
def test_rows_agree_with_plain_taichi(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main([*SMALL, "--rows", "cloth", "--peers", "taichi"]) == 0
    assert "Taichi or Warp" in capsys.readouterr().out


def test_a_peer_that_computes_otherwise_is_told() -> None:
    right = {"y": np.ones((4, 4))}, {"x": np.ones((4, 4))}
    inside = {"y": np.ones((2, 2))}, {"x": np.ones((4, 4))}
    wrong = {"y": np.full((4, 4), np.nan)}, {"x": np.full((4, 4), 1.001)}
    assert gpu.differences("other", right, inside, 2e-4) == []
    told = gpu.differences("other", right, wrong, 2e-4)
    assert [line.split(" is ")[0] for line in told] == ["other: y", "other: gradient of x"]


def test_targets_are_ratios_to_the_best_of_the_others_that_ran() -> None:
    wall = {
        "difftile": {"forward": 1.0, "backward": 3.0, "total": 4.0},
        "torch": {"forward": 2.0, "backward": 6.0, "total": 8.0},
        "Warp": {"forward": 2.0, "backward": 2.0, "total": 4.0},
    }
    assert ratio_of(Target("backward", 1.0, ("torch", "Warp")), wall) == 1.5
    assert ratio_of(Target("backward", 3.0, ("difftile",), of="forward"), wall) == 3.0
    assert ratio_of(Target("total", 1.0, ("JAX",)), wall) is None
    assert is_met(Target("total", 1.0, ()), 1.004)
    assert not is_met(Target("total", 1.0, ()), 1.006)
    lines = list(lines_of(ROWS["gather"], Found(wall)))
    assert lines[-1] == "  backward <= 1 x torch or torch.compile or Warp: 1.50, NOT met"
    assert list(comparison({"a": Found(wall)}, {"a": wall}))[1].split()[-3:] == 3 * ["1.00"]
