"""What is said of loops and vector instructions, compared with the code that LLVM leaves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("scalar", "every"),
    [
        ("f32", 60),
        # All programs take minutes.
        pytest.param("f32", 1, marks=pytest.mark.slow),
    ],
)
def test_loops_are_vectors_where_it_is_said(scalar: str, every: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.loops_in_llvm", scalar, str(every), str(every // 2)]
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    *disagreements, total = done.stdout.splitlines()
    assert [line for line in disagreements if not line.startswith("[Taichi]")] == []
    assert int(total.split()[0]) >= 500 // every
