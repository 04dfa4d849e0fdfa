"""Random objects as arguments: each launch reads what plain Python reads at that moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.object_programs import ObjectProgram


@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(12, 300), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_launches_read_objects_as_python_does(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        ObjectProgram(seed, tmp_path).steps(12)
