"""Every program of `tests/programs/` through every check; in single precision one in eight.

Single precision compiles everything again. The others are slow tests, or the choice of
`-m "slow or not slow"`.
"""

from __future__ import annotations

import pytest

from tests import harness, programs

programs.load()
ALSO_SINGLE = harness.PROGRAMS[::8]


@pytest.mark.parametrize("one", harness.PROGRAMS, ids=lambda one: one.name)
def test_program(one: harness.Program) -> None:
    harness.check(one, single=one in ALSO_SINGLE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "one",
    [one for one in harness.PROGRAMS if one.single and one not in ALSO_SINGLE],
    ids=lambda one: one.name,
)
def test_program_in_single_precision(one: harness.Program) -> None:
    harness.check(one)
