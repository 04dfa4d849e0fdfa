"""Second and third derivatives of random programs; `tests/second_programs.py` runs more of them."""

from __future__ import annotations

import pytest

from tests.second_programs import check, suits
from tests.tape_programs import draw

pytestmark = pytest.mark.usefixtures("poisoned_memory")


def compared(first: int, last: int) -> int:
    """Check the programs that suit; return how many were smooth enough to be compared."""
    return sum(check(program) for program in map(draw, range(first, last)) if suits(program))


def test_random_programs_have_the_derivatives_of_differences() -> None:
    assert compared(0, 8) >= 2
    assert compared(44, 45) == 1  # a step that does not declare what it writes, by its transpose


@pytest.mark.slow  # a hundred programs; the test above runs a few
def test_more_random_programs() -> None:
    assert compared(100, 200) >= 30
