"""Keys that do something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortcut:
    """What a key does.

    Args:
        said: In a few words, for the help.
        act: Does it.
    """

    said: str
    act: Callable[[], object]
