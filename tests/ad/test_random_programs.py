"""A few kernels made at random; `python -m tests.random_programs FIRST LAST` tries many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs import WITH_OBJECTS, check, random_program


@pytest.mark.parametrize("seed", [2003, 2017, WITH_OBJECTS + 3, WITH_OBJECTS + 11])
def test_random_program(seed: int, tmp_path: Path) -> None:
    check(random_program(seed, tmp_path))
