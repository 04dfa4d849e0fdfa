"""Keys that do something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Those of more than one character that apps can give a meaning; the others change what a drag does.
NAMED = ("space", "escape", "return", "tab", "backspace", "left", "right", "up", "down")


@dataclass(frozen=True, slots=True)
class Shortcut:
    """What a key does.

    Args:
        said: In a few words, for the help.
        act: Does it.
    """

    said: str
    act: Callable[[], object]
