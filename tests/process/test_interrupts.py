"""Ctrl+C, wherever it breaks in."""

from __future__ import annotations

from tests.process.running import check


def test_the_library_is_sound_after_an_interrupt() -> None:
    assert "places" in check("interrupts")
