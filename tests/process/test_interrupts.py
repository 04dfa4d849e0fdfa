"""Ctrl+C, wherever it breaks in."""

from __future__ import annotations

from tests.process.running import run


def test_the_library_is_sound_after_an_interrupt() -> None:
    ended = run("interrupts")  # Python may say on stderr what it ignored in a generator that ended
    assert ended.returncode == 0 and "tried" in ended.stdout, f"{ended.stdout}\n{ended.stderr}"
