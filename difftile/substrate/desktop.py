"""The window that Taichi brings along, whatever compiles the kernels of a process."""

from __future__ import annotations

import importlib
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event of a window of the desktop.

    Args:
        act: Whether the key was pressed or released, or the mouse moved.
        key: A key, "LMB", "MMB", "RMB", "Motion", "Wheel", or "WMClose".
        x: Position of the mouse from the left [px].
        y: Position of the mouse from the top [px].
        notches: How far the wheel turned, positive away from the person.
    """

    act: Literal["press", "release", "move"]
    key: str
    x: int
    y: int
    notches: float


class Desktop(Protocol):
    """A window of the desktop that stays as large as it was made."""

    def draw(self, image: npt.NDArray[np.uint8]) -> None:
        """Show a picture, shape (height, width, 3), and collect events."""
        ...

    def update(self) -> None:
        """Show the last picture again, and collect events."""
        ...

    def events(self) -> list[RawEvent]:
        """Return the events up to the last update."""
        ...

    def close(self) -> None:
        """Take the window from the screen."""
        ...


def open_desktop(title: str, width: int, height: int) -> Desktop:
    """Open a window of Taichi with a title, a width and a height [px].

    Raises:
        ImportError: Taichi is not installed.
        RuntimeError: There can be no window.
    """
    # Imported on demand: a process that compiles with something else loads no Taichi for it.
    module: Any = importlib.import_module("difftile.substrate.taichi.desktop")
    return module.GuiWindow(title, width, height)
