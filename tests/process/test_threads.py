"""Threads: each of them may do what the main thread may."""

from __future__ import annotations

import pytest

from tests.process.running import check


@pytest.mark.parametrize(
    "programs",
    [
        ["first_use"],
        ["starts"],
        ["many_launches", "random_numbers", "deletions"],
        [
            "tapes",
            "tapes_and_constants",
            "backward_passes",
            "constants",
            "misuse",
            "deep",
            "living_at_the_end",
        ],
    ],
    ids=lambda programs: programs[0],
)
def test_threads(programs: list[str]) -> None:
    assert check("threads", *programs).count("done") == len(programs)
