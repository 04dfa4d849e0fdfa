"""Forked processes: refused with a message, or started again; they never hang."""

from __future__ import annotations

import os

import pytest

from tests.process.running import check


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.parametrize(
    "programs",
    [
        ["before_the_start", "refused"],
        ["started_anew", "in_a_pool", "with_a_thread", "with_a_tape_elsewhere"],
    ],
    ids=lambda programs: programs[0],
)
def test_forks(programs: list[str]) -> None:
    for program in programs:
        assert "done" in check("forks", program)
