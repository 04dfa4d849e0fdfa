"""Keys with an action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Named keys that apps can assign; the other named keys are modifiers.
NAMED = ("space", "escape", "return", "tab", "backspace", "left", "right", "up", "down")


@dataclass(frozen=True, slots=True)
class Shortcut:
    """The action of a key.

    Args:
        said: A short description for the help.
        act: The action.
    """

    said: str
    act: Callable[[], object]
