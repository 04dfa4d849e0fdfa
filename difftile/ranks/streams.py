"""The stream of CUDA that a session launches on, for engines that work on devices."""

from __future__ import annotations


class _Stream:
    handle = 0


def session_stream() -> int:
    """Return the handle of the session's stream; 0 is the null stream."""
    return _Stream.handle


def use_stream(handle: int) -> None:
    """Note the stream of a session that starts."""
    _Stream.handle = handle if handle > 2 else 0
