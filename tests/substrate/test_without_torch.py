"""Quadrants is imported without PyTorch, and knows its tensors once the program has imported it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(find_spec("quadrants") is None, reason="needs Quadrants")
def test_tensors_are_known_later(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(_TORCH)
    (tmp_path / "program.py").write_text(_PROGRAM)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT))),
        "DIFFTILE_SUBSTRATE": "quadrants",
    }
    command = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


_TORCH = """
class Tensor:
    ndim = 0
    def item(self):
        return 3
"""

_PROGRAM = """
import sys
from difftile.substrate import compiler
compiler.ti
assert "torch" not in sys.modules
from quadrants.lang import _ndrange
from quadrants.lang._fast_caching import args_hasher
assert _ndrange._coerce_to_int(2) == 2 and not isinstance(2, args_hasher.torch_type)
import torch
assert _ndrange._coerce_to_int(torch.Tensor()) == 3 and _ndrange._coerce_to_int(2) == 2
assert isinstance(torch.Tensor(), args_hasher.torch_type)
assert not isinstance(2, args_hasher.torch_type)
"""
