"""Events of a window, with positions in pixels from the top left corner.

Backends report events; a script passes a list of them, each with the frame before which it happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Button: TypeAlias = Literal["left", "middle", "right"]


@dataclass(frozen=True, slots=True)
class MouseMove:
    """The mouse moved to a pixel."""

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
        amount: Notches; positive is away from the person and zooms in.
        x: Position of the mouse [px].
        y: Position of the mouse [px].
        frame: The frame of a scripted event.
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
        frame: The frame of a scripted event.
    """

    key: str
    frame: int = 0


@dataclass(frozen=True, slots=True)
class KeyUp:
    """A key came up; names are as in `KeyDown`."""

    key: str
    frame: int = 0


@dataclass(frozen=True, slots=True)
class Resize:
    """The window has a new size [px]."""

    width: int
    height: int
    frame: int = 0


@dataclass(frozen=True, slots=True)
class Close:
    """The window was asked to close."""

    frame: int = 0


Event: TypeAlias = MouseMove | MouseDown | MouseUp | Scroll | KeyDown | KeyUp | Resize | Close
