"""A window on the desktop, by Taichi's own `ti.GUI`: nothing else has to be installed.

The window lives in a process of its own, so that drawing takes no time from what is looked at.
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
_DEPTH = 24  # bits of colour, the one format that `ti.GUI` has on X11


class WindowBackend:
    """A window on the desktop. It stays as large as it was opened, so no `Resize` comes from it."""

    def __init__(self) -> None:
        self._flow: FlowControl[Event] = FlowControl("window")
        self._panel: Layer | None = None  # as the window has it

    @property
    def closed(self) -> bool:
        """Whether the person has closed it, or `close` was called."""
        return self._flow.child is None

    @property
    def ready(self) -> bool:
        """Whether the frame before is on the screen; one that comes too early is not shown."""
        return self._flow.ready

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
                missing = self._flow.open(_PAINTER, title, width, height)
            except Ended as ended:
                missing = f"the process of the window {ended}"
        if missing is not None:
            self.close()
            raise ViewerError(
                f"no window can be opened: {missing}; start it on a desktop (over ssh: ssh -X), "
                "or take backend='web' or 'null' (environment variable DIFFTILE_VIEWER)"
            )

    def poll(self) -> list[Event]:
        """Return what happened since the last call, in order; never wait for it."""
        self._flow.receive()
        found, self._flow.happened = self._flow.happened, []
        if Close() in found:
            self.close()
        return found

    def show(self, frame: Frame) -> None:
        """Send a frame to be shown.

        Raises:
            ViewerError: The frame before could not be drawn.
        """
        if not self._flow.free():
            return
        same = frame.panel is not None and frame.panel is self._panel
        self._panel = frame.panel
        self._flow.send(WindowUpdate(replace(frame, panel=None if same else frame.panel), same))

    def time(self) -> float:
        """Return the time by which frames are paced [s]."""
        return self._flow.time()

    def close(self) -> None:
        """Close the window; a second call does nothing."""
        self._flow.close()
        self._panel = None


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
