"""Random programs on ranks; `python -m tests.distributed.programs` runs more of them."""

from __future__ import annotations

import pytest

from tests.distributed.programs import run


@pytest.mark.parametrize(
    ("size", "first", "stop"),
    [(3, 0, 100), pytest.param(4, 100, 300, marks=pytest.mark.slow)],
)
def test_random_programs_have_the_gradients_of_one_process(
    size: int, first: int, stop: int
) -> None:
    said: list[str] = []
    assert not run(range(first, stop), size, said.append, most=1), "\n".join(said)
