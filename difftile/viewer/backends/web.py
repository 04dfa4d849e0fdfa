"""A page for browsers: on this machine, over ssh, in notebooks.

The page is served by a process of its own, so that drawing, encoding and sending take no time from
what is looked at.
"""

from __future__ import annotations

import importlib
import math
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.child_process import Ended
from difftile.viewer.backends.control_diff import ControlDiff
from difftile.viewer.backends.flow_control import FlowControl
from difftile.viewer.backends.messages import ControlChange, PageEvent, PageUpdate
from difftile.viewer.backends.page_guests import allowed_origins
from difftile.viewer.events import Close, Event
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel

_PAGE = "difftile.viewer.backends.page"
_PORT, _PORTS = 8080, 65536  # the usual one, and how many there are
_REFRESH, _REPLOT = 0.1, 0.3  # between looks at controls and at plots [s]
_CELL = 640  # height of a page in a notebook [px]


class WebBackend:
    """A page, which any number of browsers show at the same time.

    Its controls are viser's. The picture is as large as the canvas of the browser that was opened
    or resized last; others show it with margins.

    Args:
        at: "port" or "host:port"; another port is taken if it is not free. The host is the one by
            which the page is reached: "localhost" for this machine alone, "0.0.0.0" for all.
        origins: Other sites that may show the page, such as "https://hub.example.org", with those
            of the environment variable DIFFTILE_VIEWER_ORIGINS, where commas stand between them.

    Raises:
        ViewerError: There is no such place or site.
    """

    def __init__(self, at: str = "", *, origins: Sequence[str] = ()) -> None:
        host, _, port = at.rpartition(":")
        if at and not (port.isdecimal() and int(port) < _PORTS):
            raise ViewerError(f"the page is at a port or at host:port, not at {at!r}")
        self._host, self._port = host or "localhost", int(port or _PORT)
        self._origins = allowed_origins(origins)
        self._panel, self._keys = Panel(), dict[str, Shortcut]()
        self._diff = ControlDiff(self._panel, self._keys)
        self._flow: FlowControl[PageEvent] = FlowControl("page")
        self._broken: Exception | None = None  # what a binding raised as a control moved
        self._refreshed = self._replotted = -math.inf
        self._interrupts: Any = None  # what Ctrl+C did before
        self._interrupted = False

    @property
    def closed(self) -> bool:
        """Whether the person has closed it, or `close` was called."""
        return self._flow.child is None

    @property
    def ready(self) -> bool:
        """Whether the frame before is drawn; one that comes too early is not shown."""
        return self._flow.ready

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """Get to know controls and keys; they are shown beside the picture."""
        self._panel, self._keys = panel, keys
        return True

    def open(self, title: str, width: int, height: int) -> None:
        """Serve the page, and print its address.

        Args:
            title: What stands above the controls.
            width: Of the pictures, until a browser has said how large they can be [px].
            height: Likewise.

        Raises:
            ViewerError: There can be no page at that host.
        """
        try:
            socket.create_server((self._host, 0)).close()
        except OSError as error:
            raise ViewerError(
                f"no page can be served at {self._host!r}: {error.strerror}"
            ) from None
        try:
            origins = " ".join(self._origins)
            port = self._flow.open(_PAGE, self._host, self._port, title, width, height, origins)
        except Ended as ended:
            raise ViewerError(f"no page can be served: its process {ended}") from None
        self._diff = ControlDiff(self._panel, self._keys)
        self._interrupted = False
        self._refreshed = self._replotted = -math.inf
        self._catch_interrupt()
        _tell(title, f"http://{_reached(self._host)}:{port}")

    def poll(self) -> list[Event]:
        """Return what happened since the last call, in order; never wait for it."""
        self._flow.receive()
        happened, self._flow.happened = self._flow.happened, []
        found: list[Event] = []
        for k, one in enumerate(happened):
            if one is None:
                self._flow.happened = happened[k + 1 :]
                break
            if isinstance(one, ControlChange):
                self._change(one)
            else:
                found.append(one)
            self._refreshed = -math.inf  # what came of it is seen at once
        if self._interrupted:
            found.append(Close())
        if Close() in found:
            self.close()
        return found

    def show(self, frame: Frame) -> None:
        """Send a frame to be shown, and what else has changed.

        Raises:
            ViewerError: The frame before could not be drawn.
            Exception: What a control is bound to could not be changed.
        """
        if self._broken is not None:
            broken, self._broken = self._broken, None
            raise broken
        if not self._flow.free():
            return
        news, now = PageUpdate(frame), self.time()
        if now - self._refreshed > _REFRESH:
            self._refreshed = now
            news.controls.update(self._diff.controls())
            news.keys.update(self._diff.keys())
        if now - self._replotted > _REPLOT:
            self._replotted = now
            news.plots.update(self._diff.plots())
        self._flow.send(news)

    def time(self) -> float:
        """Return the time by which frames are paced [s]."""
        return self._flow.time()

    def close(self) -> None:
        """End the page; a second call does nothing."""
        self._flow.close()
        if self._interrupts is not None:
            signal.signal(signal.SIGINT, self._interrupts)
            self._interrupts = None

    def _change(self, change: ControlChange) -> None:
        """Do what a person did; an error in that is one of the next picture, as of a step."""
        try:
            self._diff.take(change)
        except Exception as error:
            self._broken = error

    def _catch_interrupt(self) -> None:
        """Have Ctrl+C close the page after a step; a second one breaks the step off."""
        if threading.current_thread() is not threading.main_thread():
            return

        def interrupt(_: int, __: FrameType | None) -> None:
            signal.signal(signal.SIGINT, self._interrupts)
            self._interrupted = True

        self._interrupts = signal.signal(signal.SIGINT, interrupt)


def _reached(host: str) -> str:
    """Return a name by which browsers find the page."""
    return socket.gethostname() if host in ("0.0.0.0", "::") else host


def _tell(title: str, address: str) -> None:
    """Say where the page is; a notebook shows it below its cell."""
    print(f"{title}: {address} (Ctrl+C ends it)", flush=True)
    ipython = sys.modules.get("IPython")
    if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        display = importlib.import_module("IPython.display")
        display.display(display.IFrame(address, "100%", _CELL))
