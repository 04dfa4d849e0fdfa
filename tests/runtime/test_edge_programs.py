"""Random Python programs around kernels: right, warned or refused, and never wrong in silence."""

from __future__ import annotations

import os

import pytest

from difftile.fields.numbers import CARRIED
from difftile.runtime.number_operations import OPERATIONS
from tests.edge_programs import WAYS, check

COUNT = int(os.environ.get("DIFFTILE_EDGE_PROGRAMS", "20"))


@pytest.mark.parametrize("part", range(6))
def test_nothing_is_wrong_in_silence(part: int) -> None:
    said: list[str] = []
    wrong, outcomes = check(range(part * COUNT, (part + 1) * COUNT), said.append)
    assert not wrong, "\n".join(said)
    assert outcomes["right"] > COUNT / 3 and COUNT >= len(WAYS)
    assert outcomes["refused"] < COUNT / 5, "\n".join(said)


def test_each_operation_that_carries_has_a_kernel() -> None:
    assert OPERATIONS == CARRIED
