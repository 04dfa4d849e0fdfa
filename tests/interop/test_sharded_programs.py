"""Operations inside of `jax.shard_map` and their derivatives, compared with JAX's own functions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="needs JAX")

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("first", "count"), [(0, 6), pytest.param(1000, 60, marks=pytest.mark.slow)]
)
def test_operations_on_several_devices_have_the_derivatives_of_jax(first: int, count: int) -> None:
    command = [sys.executable, "-m", "tests.interop.sharded_programs", str(first), str(count)]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr
    assert "wrong" not in done.stdout, done.stdout
    assert int(done.stdout.split()[-1]) >= count // 2, done.stdout
