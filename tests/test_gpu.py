"""Every program once more on a CUDA device, where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import difftile as dt
from tests import harness, programs

programs.load()


@pytest.fixture(scope="module")
def cuda() -> Iterator[None]:
    """Start difftile on CUDA, and on the CPU again for the tests that follow."""
    try:
        dt.init(arch="cuda")
    except dt.FieldError as error:
        dt.init(arch="cpu")
        pytest.skip(f"no CUDA device: {error}")
    yield
    dt.init(arch="cpu")


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("one", harness.PROGRAMS, ids=lambda one: one.name)
def test_program_on_cuda(one: harness.Program) -> None:
    harness.check(one)
