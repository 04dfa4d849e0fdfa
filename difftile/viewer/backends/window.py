"""A window on the desktop, by Taichi's own `ti.GUI`: nothing else has to be installed.

The window lives in a process of its own, so that drawing takes no time from what is looked at.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.post import Connection, Parcel, Report
from difftile.viewer.events import Close, Event
from difftile.viewer.frame import Frame, Layer
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel

_PAINTER = "difftile.viewer.backends.painter"
_DEPTH = 24  # bits of colour, the one format that `ti.GUI` has on X11
_PROTOCOL = 5  # of pickle: arrays are copied once
_PATIENCE = 5.0  # how long the window's process may take to end [s]


class WindowBackend:
    """A window on the desktop. It stays as large as it was opened, so no `Resize` comes from it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[Any] | None = None
        self._connection: Connection | None = None
        self._ready = True
        self._events: list[Event] = []
        self._fault: str | None = None
        self._panel: Layer | None = None  # as the window has it

    @property
    def closed(self) -> bool:
        """Whether the person has closed it, or `close` was called."""
        return self._connection is None

    @property
    def ready(self) -> bool:
        """Whether the frame before is on the screen; one that comes too early is not shown."""
        if not self._ready:
            self._receive()
        return self._ready

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
            missing = self._start(title, width, height)
        if missing is not None:
            self.close()
            raise ViewerError(
                f"no window can be opened: {missing}; start it on a desktop (over ssh: ssh -X), "
                "or take backend='null' (environment variable DIFFTILE_VIEWER)"
            )

    def poll(self) -> list[Event]:
        """Return what happened since the last call, in order; never wait for it."""
        self._receive()
        found, self._events = self._events, []
        if Close() in found:
            self.close()
        return found

    def show(self, frame: Frame) -> None:
        """Send a frame to be shown.

        Raises:
            ViewerError: The frame before could not be drawn.
        """
        if not self.ready or self._connection is None:
            return
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise ViewerError(f"a shape cannot be drawn: {fault}")
        same = frame.panel is not None and frame.panel is self._panel
        self._panel = frame.panel
        parcel = Parcel(replace(frame, panel=None if same else frame.panel), same)
        self._ready = False
        try:
            self._connection.send_bytes(pickle.dumps(parcel, _PROTOCOL))
        except OSError:
            self._receive()  # which finds out how the window ended

    def time(self) -> float:
        """Return the time by which frames are paced [s]."""
        return time.perf_counter()

    def close(self) -> None:
        """Close the window; a second call does nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._ready, self._panel, self._fault = True, None, None
        if self._process is not None:
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _start(self, title: str, width: int, height: int) -> str | None:
        """Start the painter; return what it lacks, or None once it has a window."""
        self._connection, theirs = Pipe()
        self._events = []
        number = theirs.fileno()
        command = [
            sys.executable,
            "-m",
            _PAINTER,
            str(number),
            title,
            str(width),
            str(height),
        ]
        options: dict[str, Any] = {
            # The same library as here, whatever there is in the folder where the app was started.
            "cwd": Path(__file__).parents[3],
            "env": {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
            "stdin": subprocess.DEVNULL,
        }
        if sys.platform == "win32":
            os.set_handle_inheritable(number, True)
            options["startupinfo"] = subprocess.STARTUPINFO(
                lpAttributeList={"handle_list": [number]}
            )
        else:
            options["pass_fds"] = (number,)
        try:
            self._process = subprocess.Popen(command, **options)
        except OSError as error:
            return f"{sys.executable} does not start: {error.strerror}"
        finally:
            theirs.close()
        try:
            said = self._connection.recv()
        except (EOFError, OSError):
            return f"the process of the window {self._ending()}"
        return said if isinstance(said, str) else None

    def _receive(self) -> None:
        """Take what the window has reported; one that has ended without a word was closed."""
        try:
            while self._connection is not None and self._connection.poll():
                report: Report = self._connection.recv()
                self._ready = self._ready or report.ready
                self._fault = report.fault or self._fault
                self._events += report.events
        except (EOFError, OSError):
            if Close() not in self._events:
                said = (
                    f"the process of the window {self._ending()}: the app ends as if it was closed"
                )
                print(f"difftile: {said}", file=sys.stderr)
                self._events.append(Close())
            self._connection, self._ready = None, True

    def _ending(self) -> str:
        """Say how the process of the window ended."""
        assert self._process is not None
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return "has stopped to answer"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


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
