"""Random programs on tapes, with fields whose memory arrays of NumPy share and write."""

from __future__ import annotations

import pytest

from tests.tape_programs import run


def test_random_programs_with_shared_memory_have_the_gradients_of_the_reference() -> None:
    said: list[str] = []
    assert not run(range(80), said.append, shared=True), "\n".join(said)


@pytest.mark.slow
def test_many_programs_with_shared_memory() -> None:
    said: list[str] = []
    assert not run(range(10000, 16000), said.append, shared=True), "\n".join(said)
