"""Every program of `tests/programs/` through every check."""

from __future__ import annotations

import pytest

from tests import harness, programs

programs.load()


@pytest.mark.parametrize("one", harness.PROGRAMS, ids=lambda one: one.name)
def test_program(one: harness.Program) -> None:
    harness.check(one)
