"""What a person does to a window, in pixels from the top left corner.

Backends report these; scripts of the `null` backend are lists of them, each at a frame of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Button: TypeAlias = Literal["left", "middle", "right"]


@dataclass(frozen=True, slots=True)
class MouseMove:
    """The mouse is at a pixel now."""

    x: float
    y: float
    frame: int = 0


@dataclass(frozen=True, slots=True)
class MouseDown:
    """A button of the mouse went down."""

    button: Button
    x: float
    y: float
    frame: int = 0


@dataclass(frozen=True, slots=True)
class MouseUp:
    """A button of the mouse came up."""

    button: Button
    x: float
    y: float
    frame: int = 0


@dataclass(frozen=True, slots=True)
class Scroll:
    """The wheel turned.

    Args:
        amount: Notches, positive away from the person, which brings things nearer.
        x: Where the mouse is [px].
        y: Likewise.
        frame: When a script plays it.
    """

    amount: float
    x: float
    y: float
    frame: int = 0


@dataclass(frozen=True, slots=True)
class KeyDown:
    """A key went down.

    Args:
        key: The character, in lower case, or one of "space", "escape", "return", "tab",
            "backspace", "left", "right", "up", "down", "shift", "control", "alt".
        frame: When a script plays it.
    """

    key: str
    frame: int = 0


@dataclass(frozen=True, slots=True)
class KeyUp:
    """A key came up; its name is as in `KeyDown`."""

    key: str
    frame: int = 0


@dataclass(frozen=True, slots=True)
class Resize:
    """The window has another size now [px]."""

    width: int
    height: int
    frame: int = 0


@dataclass(frozen=True, slots=True)
class Close:
    """The window was asked to close."""

    frame: int = 0


Event: TypeAlias = MouseMove | MouseDown | MouseUp | Scroll | KeyDown | KeyUp | Resize | Close
