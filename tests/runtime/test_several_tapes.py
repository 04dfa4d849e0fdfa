"""Programs with several tapes, optimisers, seeds and threads, compared with a model."""

from __future__ import annotations

import pytest

from tests.several_tapes import Program


@pytest.mark.parametrize("number", range(25))
def test_gradients_of_several_tapes(number: int) -> None:
    Program(number).run(8)
