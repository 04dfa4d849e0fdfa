"""`difftile demo` under a launcher prints and draws once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ranks import absent, places

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(absent("torch") != "", reason="ranks need torch, not installed here")
def test_a_demo_on_two_ranks_speaks_once(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "difftile", "demo", "wave", "--steps", "8", "--size", "16"),
        *("--iterations", "1", "--out", str(tmp_path / "out"), "--no-pictures"),
    ]
    runs = [
        subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **place},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for place in places(2)
    ]
    said = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert "loss" in said[0][0] and not said[1][0]
