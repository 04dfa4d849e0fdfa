"""docs/distributed.md on several ranks: ten changed lines, and the death of a rank."""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

import difftile as dt
from difftile import ti
from tests.test_docs import ROOT, blocks

PAGE = ROOT / "docs" / "distributed.md"
ONE, MANY = [text for _, _, text in blocks(PAGE) if "def advance" in text]
CHECKPOINTS = next(text for _, _, text in blocks(PAGE) if 'dist.load("run"' in text)
FATAL = 18 * 80 + 40  # exchanges: in the middle of the seventh run of the second loop
DEATH = f"""
import os, signal

def survive(count=[0]):
    count[0] += 1
    if count[0] == {FATAL} and dist.rank() == 1 and "FATAL" in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def changes() -> list[str]:
    """Return the lines that differ between the two programs, as the page shows them."""
    lines = difflib.unified_diff(ONE.splitlines(), MANY.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def test_ten_lines_take_the_wave_to_any_number_of_ranks() -> None:
    (shown,) = re.findall(r"```diff\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown.splitlines() == changes()
    assert sum(line.startswith("+") for line in changes()) == 10
    assert sum(line.startswith("-") for line in changes()) <= 10


def launch(folder: Path, size: int, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program with checkpoints on some ranks."""
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={size}", "run.py"]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def undisturbed(folder: Path) -> np.ndarray:
    """Return the result of the program of one process, after the steps of both loops."""
    text = ONE.replace("range(12)", "range(32)")
    assert text != ONE
    file = folder / "one.py"
    file.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {"__name__": "one"}
    exec(compile(text, str(file), "exec", dont_inherit=True), names)
    return names["initial"].to_numpy()[1:-1, 1:-1]


@pytest.mark.slow  # checkpoints that other ranks read, and ends of ranks, have tests of their own
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torchrun is not installed")
def test_a_run_whose_rank_was_killed_goes_on_with_other_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = MANY.replace("        p.exchange()", "        survive()\n        p.exchange()")
    text = text.replace("\ndescent = ", DEATH + "\ndescent = ")
    (tmp_path / "run.py").write_text(text + CHECKPOINTS, encoding="utf-8")
    killed = launch(tmp_path, 3, FATAL="1")
    assert killed.returncode != 0
    assert killed.stdout.count("step 3: loss") == 1  # rank 0 speaks
    about = json.loads((tmp_path / "run" / "about.json").read_text())
    assert about["numbers"] == {"done": 4} and len(about["arrays"]["initial"]["blocks"]) == 3
    resumed = launch(tmp_path, 2)
    assert resumed.returncode == 0, resumed.stderr
    about = json.loads((tmp_path / "run" / "about.json").read_text())
    assert about["numbers"] == {"done": 20} and len(about["arrays"]["initial"]["blocks"]) == 2
    found = dt.zeros((64, 64), ti.f64)
    dt.distributed.load("run", {"initial": found})
    npt.assert_allclose(found.to_numpy(), undisturbed(tmp_path), rtol=0, atol=1e-12)
