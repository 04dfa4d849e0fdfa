"""Every program once more on a CUDA device, where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from tests import harness, programs, test_optim

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


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", test_optim.RUNS)
def test_iterates_on_cuda_are_those_of_torch(name: str) -> None:
    test_optim.test_iterates_are_those_of_torch(name)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_single_elements_and_vectors_move_on_cuda() -> None:
    test_optim.test_single_numbers_make_the_same_steps_and_share_a_norm()
    test_optim.test_elements_of_any_shape_make_the_same_steps("vectors")
    test_optim.test_elements_of_any_shape_make_the_same_steps("matrix of shape ()")
    x, y, steps = test_optim.broken(np.nan, nonfinite="skip")
    assert not steps.step()
    assert (x.to_numpy() == 1.0).all()
    assert (y.to_numpy() == 1.0).all()
