"""A window on the desktop, by Taichi's own `ti.GUI`: nothing else has to be installed."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Mapping

from difftile.diagnostics import ViewerError
from difftile.substrate.desktop import Desktop, RawEvent
from difftile.viewer.events import (
    Button,
    Close,
    Event,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Scroll,
)
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel

_BUTTONS: dict[str, Button] = {"LMB": "left", "MMB": "middle", "RMB": "right"}
_MODIFIERS = ("Shift", "Control", "Alt")
_SIGNS = {"win32": {"Vk187": "=", "Vk189": "-"}, "darwin": {"Vk24": "=", "Vk27": "-"}}
# Keys that go by another name than the character they give.
_KEYS: dict[str, str] = {
    " ": "space",
    "KP_Add": "+",
    "KP_Subtract": "-",
    "KP_Enter": "return",
    **{key: key.lower() for key in ("Escape", "Return", "Tab", "BackSpace")},
    **{key: key.lower() for key in ("Left", "Right", "Up", "Down")},
    **{key + side: key.lower() for key in _MODIFIERS for side in ("", "_L", "_R")},
    **_SIGNS.get(sys.platform, {}),
}
_SHIFTED = {"=": "+"}  # keys come without what Shift makes of them
_LOOK = 1 / 60  # between two looks for events while no picture is shown [s]
_DEPTH = 24  # bits of colour, the one format that `ti.GUI` has on X11


class WindowBackend:
    """A window on the desktop. It stays as large as it was opened, so no `Resize` comes from it."""

    def __init__(self) -> None:
        self._desktop: Desktop | None = None
        self._shift = False
        self._looked = 0.0

    @property
    def closed(self) -> bool:
        """Whether the person has closed it, or `close` was called."""
        return self._desktop is None

    @property
    def ready(self) -> bool:
        """Always: a frame is shown at once."""
        return True

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """Leave the controls to the picture."""
        return False

    def open(self, title: str, width: int, height: int) -> None:
        """Open a window.

        Args:
            title: What its frame says, followed by how often a second it was updated.
            width: Of the pictures [px].
            height: Likewise.

        Raises:
            ViewerError: There is no display that `ti.GUI` could open a window on.
        """
        missing = _missing()
        if missing is None:
            try:
                self._desktop = Desktop(title, width, height)
            except RuntimeError as error:
                missing = str(error).splitlines()[0]
        if missing is not None:
            raise ViewerError(
                f"no window can be opened: {missing}; start it on a desktop (over ssh: ssh -X), "
                "or take backend='null' (environment variable DIFFTILE_VIEWER)"
            )

    def poll(self) -> list[Event]:
        """Return what happened since the last call, in order; never wait for it."""
        desktop = self._desktop
        if desktop is None:
            return []
        if self.time() - self._looked > _LOOK:
            desktop.update()
            self._looked = self.time()
        found = [event for raw in desktop.events() if (event := self._translate(raw)) is not None]
        if Close() in found:
            self.close()
        return found

    def show(self, frame: Frame) -> None:
        """Show a frame."""
        if self._desktop is not None:
            self._desktop.draw(frame.image())
            self._looked = self.time()

    def time(self) -> float:
        """Return the time by which frames are paced [s]."""
        return time.perf_counter()

    def close(self) -> None:
        """Close the window; a second call does nothing."""
        if self._desktop is not None:
            self._desktop.close()
            self._desktop = None

    def _translate(self, raw: RawEvent) -> Event | None:
        """Return an event as apps know it; None for one that they have no use for."""
        down = raw.act == "press"
        if raw.key == "WMClose":
            return Close()
        if raw.key == "Motion":
            return MouseMove(raw.x, raw.y)
        if raw.key == "Wheel":
            return Scroll(raw.notches, raw.x, raw.y) if raw.notches else None
        if raw.key in _BUTTONS:
            return (MouseDown if down else MouseUp)(_BUTTONS[raw.key], raw.x, raw.y)
        key = _KEYS.get(raw.key, raw.key.lower())
        if key == "shift":
            self._shift = down
        elif self._shift:
            key = _SHIFTED.get(key, key)
        # What has a longer name is a key that apps do not know, or what a wheel sends as a button.
        known = len(key) == 1 or key in _KEYS.values()
        return (KeyDown if down else KeyUp)(key) if known else None


def _missing() -> str | None:
    """Return what X11 lacks for a window, or None; elsewhere there always is a desktop.

    Taichi writes an error of its own to stderr before it raises, and a display of another depth
    ends the process at the first picture: so Xlib is asked first, which Taichi is linked to.
    """
    if sys.platform in ("win32", "darwin"):
        return None
    name = os.environ.get("DISPLAY", "")
    if not name:
        return "no DISPLAY is set"
    xlib = ctypes.CDLL("libX11.so.6")
    xlib.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(xlib.XOpenDisplay(name.encode()))
    if not display:
        return f"the display {name} does not answer"
    depth = xlib.XDefaultDepth(display, xlib.XDefaultScreen(display))
    xlib.XCloseDisplay(display)
    return None if depth == _DEPTH else f"the display {name} has {depth} bits of colour, not 24"
