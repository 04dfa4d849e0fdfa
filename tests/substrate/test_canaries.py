"""Random kernels and adjoints touch nothing around the parts that they are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import canaries

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("first", [0, pytest.param(10_000, marks=pytest.mark.slow)])
def test_canaries_live(first: int, tmp_path: Path) -> None:
    counts, wrong = canaries.run(range(first, first + (24 if first == 0 else 400)), tmp_path)
    assert not wrong
    assert {*counts} <= {"refused", "inside", "not a kernel"}
    assert min(counts["refused"], counts["inside"]) > 20
