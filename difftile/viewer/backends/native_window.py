"""A window on the desktop by Taichi's own `ti.GUI`, which needs no other library.

The window lives in a process of its own, so that drawing takes no time from the simulation.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from dataclasses import replace

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.child_process import Ended
from difftile.viewer.backends.flow_control import FlowControl
from difftile.viewer.backends.messages import WindowUpdate
from difftile.viewer.events import Close, Event
from difftile.viewer.frame import Frame, Layer
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel

_PAINTER = "difftile.viewer.backends.painter"
_DEPTH = 24  # bits of colour; `ti.GUI` knows no other format on X11


class NoWindow(ViewerError):
    """No window can be opened, for a reason such as "DISPLAY is not set"."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"cannot open a window: {reason}; start the program on a desktop (over ssh: "
            "ssh -X), or use backend='web' or 'null' (environment variable DIFFTILE_VIEWER)"
        )
        self.reason = reason


class WindowBackend(FlowControl[Event]):
    """A window on the desktop, of fixed size: it never reports a `Resize`."""

    def __init__(self) -> None:
        super().__init__("window")
        self._panel: Layer | None = None  # as the window has it

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """See `Backend`; the picture shows the controls."""
        return False

    def open(self, title: str, width: int, height: int) -> None:
        """See `Backend`.

        Raises:
            NoWindow: `ti.GUI` cannot open a window on this display.
        """
        missing = _missing_display()
        if missing is None:
            try:
                missing = self._start(_PAINTER, title, width, height)
            except Ended as ended:
                missing = f"the window process {ended}"
        if missing is not None:
            self.close()
            raise NoWindow(missing)

    def poll(self) -> list[Event]:
        """See `Backend`."""
        self._receive()
        found, self.arrived = self.arrived, []
        if Close() in found:
            self.close()
        return found

    def show(self, frame: Frame) -> None:
        """See `Backend`.

        Raises:
            ViewerError: The last frame could not be drawn.
        """
        if self._can_send():
            same = frame.panel is not None and frame.panel is self._panel
            self._panel = frame.panel
            self._send(WindowUpdate(replace(frame, panel=None if same else frame.panel), same))

    def close(self) -> None:
        """See `Backend`."""
        super().close()
        self._panel = None


def _missing_display() -> str | None:
    """Return what X11 lacks for a window, or None; other systems always have a desktop.

    Taichi writes an error of its own to stderr before it raises, and a display of another depth
    ends the process at the first picture. Xlib, which Taichi is linked to, is asked first instead.
    """
    if sys.platform in ("win32", "darwin"):
        return None
    name = os.environ.get("DISPLAY", "")
    if not name:
        return "DISPLAY is not set"
    try:
        xlib = ctypes.CDLL("libX11.so.6")
    except OSError:
        return "libX11 is not installed"
    xlib.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(xlib.XOpenDisplay(name.encode()))
    if not display:
        return f"the display {name} does not respond"
    depth = xlib.XDefaultDepth(display, xlib.XDefaultScreen(display))
    xlib.XCloseDisplay(display)
    return None if depth == _DEPTH else f"the display {name} has {depth} bits of colour, not 24"
