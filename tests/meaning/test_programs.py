"""Every program of `tests/programs`: its derived programs, and the forms of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from zlib import crc32

import pytest

from tests import harness, programs
from tests.meaning.chains import chain_of
from tests.meaning.checks import check_chain
from tests.meaning.forms import checked_passes, low_thresholds

programs.load()

# The adjoint of the determinant of a matrix without an inverse has no derivative of its own.
WITHOUT_SECOND = {"dense.determinants"}


@pytest.fixture(autouse=True)
def forms_of_long_loops() -> Iterator[None]:
    with low_thresholds():
        yield


@pytest.mark.parametrize("one", harness.PROGRAMS, ids=lambda one: one.name)
def test_all_forms_mean_the_same(one: harness.Program) -> None:
    number = crc32(one.name.encode())
    second = number % 4 == 0 and one.name not in WITHOUT_SECOND
    # Half of the programs, and all drawn ones: these checks are a quarter of the time.
    with checked_passes() if number % 2 else nullcontext():
        check_chain(chain_of(one), number % 1000, smooth=one.smooth, second=second)
