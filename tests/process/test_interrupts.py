"""Ctrl+C, wherever it breaks in."""

from __future__ import annotations

import os

import pytest

from tests.process.running import run


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ((), "30"),
        (("fused",), "12"),
        pytest.param((), "400", marks=pytest.mark.slow),
        pytest.param(("fused",), "150", marks=pytest.mark.slow),
    ],
)
def test_the_library_is_sound_after_an_interrupt(words: tuple[str, ...], places: str) -> None:
    # Python may say on stderr what it ignored in a generator that ended.
    ended = run("interrupts", *words, environment={**os.environ, "DIFFTILE_INTERRUPTS": places})
    assert ended.returncode == 0 and "tried" in ended.stdout, f"{ended.stdout}\n{ended.stderr}"
