"""The libraries that open windows, and which are tried."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from difftile.substrate import chosen
from difftile.viewer.backends.display import missing_depth
from difftile.viewer.events import Event
from difftile.viewer.primitives import Bytes

_INSTALL = {
    "linux": "apt install python3-tk, or dnf install python3-tkinter",
    "darwin": f"brew install python-tk@{sys.version_info[0]}.{sys.version_info[1]}",
    "win32": "tick tcl/tk in the installer of Python",
}


class DesktopWindow(Protocol):
    """A window of the desktop, in the process that has it."""

    def draw(self, image: Bytes) -> None:
        """Show a picture, shape (height, width, 3), and collect events."""
        ...

    def update(self) -> None:
        """Show the last picture again, and collect events."""
        ...

    def events(self) -> list[Event]:
        """Return the events up to the last update, in order."""
        ...

    def close(self) -> None:
        """Take the window from the screen."""
        ...


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A library that opens windows.

    Args:
        said: Its name in messages.
        module: The module of the window, which imports the library; imported on demand.
        name: The class of the window, made with a title, a width and a height [px].
        missing: Returns why there can be no window here, or None.
    """

    said: str
    module: str
    name: str
    missing: Callable[[], str | None]

    def open(self, title: str, width: int, height: int) -> DesktopWindow:
        """Open a window; raises the exceptions of the library."""
        window: DesktopWindow = getattr(importlib.import_module(self.module), self.name)(
            title, width, height
        )
        return window


def _missing_taichi() -> str | None:
    if chosen() != "taichi":
        return f"the program runs on {chosen().capitalize()}, which has no window"
    return missing_depth(24)  # another one ends its process at the first picture


def _missing_tkinter() -> str | None:
    if all(importlib.util.find_spec(name) is not None for name in ("tkinter", "_tkinter")):
        return None
    return f"this Python has no tkinter ({_INSTALL.get(sys.platform, _INSTALL['linux'])})"


# `ti.GUI` shows a picture in a third of the time that Tk takes; decision 60 has the figures.
TOOLKITS = {
    "ti": Toolkit(
        "Taichi's GUI",
        "difftile.viewer.backends.taichi_window",
        "TaichiWindow",
        _missing_taichi,
    ),
    "tk": Toolkit("tkinter", "difftile.viewer.backends.tk_window", "TkWindow", _missing_tkinter),
}


def tried() -> tuple[str, ...]:
    """Return the names of the toolkits that are tried in turn if none is named."""
    return tuple(TOOLKITS) if chosen() == "taichi" else ("tk",)
