"""A page for browsers: on this machine, over ssh, or in notebooks.

A process of its own serves the page, so that drawing, encoding and sending take no time from the
simulation.
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
_PORT, _PORTS = 8080, 65536  # the default, and the number of ports
_REFRESH, _REPLOT = 0.1, 0.3  # intervals of updates of controls and of plots [s]
_CELL = 640  # height of a page in a notebook [px]


class WebBackend(FlowControl[PageEvent]):
    """A page that any number of browsers show at the same time.

    Its controls are viser's. The picture is as large as the canvas of the browser that was opened
    or resized last; the other browsers show it with margins.

    Args:
        at: "port" or "host:port"; another port is taken if that one is in use. The host is the name
            that reaches the page: "localhost" for this machine only, "0.0.0.0" for all.
        origins: Other sites that may show the page, such as "https://hub.example.org", in addition
            to the comma-separated sites in the environment variable DIFFTILE_VIEWER_ORIGINS.

    Raises:
        ViewerError: The address or a site is malformed.
    """

    def __init__(self, at: str = "", *, origins: Sequence[str] = ()) -> None:
        super().__init__("page")
        host, _, port = at.rpartition(":")
        if at and not (port.isdecimal() and int(port) < _PORTS):
            raise ViewerError(f"the address of a page is port or host:port, not {at!r}")
        self._host, self._port = host or "localhost", int(port or _PORT)
        self._origins = allowed_origins(origins)
        self._panel, self._keys = Panel(), dict[str, Shortcut]()
        self._diff = ControlDiff(self._panel, self._keys)
        self._broken: Exception | None = None  # raised by a binding when its control moved
        self._refreshed = self._replotted = -math.inf
        self._interrupts: Any = None  # the former handler of Ctrl+C
        self._interrupted = False

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """See `Backend`; the page shows controls and keys next to the picture."""
        self._panel, self._keys = panel, keys
        return True

    def open(self, title: str, width: int, height: int) -> None:
        """Serve the page and print its address; in a notebook, show it below the cell.

        Args:
            title: The heading of the controls.
            width: Width of the pictures until a browser has reported its canvas [px].
            height: Height of these pictures [px].

        Raises:
            ViewerError: No page can be served at that host.
        """
        try:
            socket.create_server((self._host, 0)).close()
        except OSError as error:
            raise ViewerError(
                f"cannot serve a page at {self._host!r}: {error.strerror}; "
                "use a name or address of this machine"
            ) from None
        try:
            origins = " ".join(self._origins)
            port = self._start(_PAGE, self._host, self._port, title, width, height, origins)
        except Ended as ended:
            raise ViewerError(f"cannot serve a page: the page process {ended}") from None
        self._diff = ControlDiff(self._panel, self._keys)
        self._interrupted = False
        self._refreshed = self._replotted = -math.inf
        self._catch_interrupt()
        name = socket.gethostname() if self._host in ("0.0.0.0", "::") else self._host
        address = f"http://{name}:{port}"
        print(f"{title}: {address} (Ctrl+C ends it)", flush=True)
        ipython = sys.modules.get("IPython")
        if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
            display = importlib.import_module("IPython.display")
            display.display(display.IFrame(address, "100%", _CELL))

    def poll(self) -> list[Event]:
        """See `Backend`."""
        self._receive()
        arrived, self.arrived = self.arrived, []
        found: list[Event] = []
        for k, one in enumerate(arrived):
            if one is None:
                self.arrived = arrived[k + 1 :]
                break
            if isinstance(one, ControlChange):
                try:
                    self._diff.apply(one)
                except Exception as error:  # raised by the next `show`, as an error of a step is
                    self._broken = error
            else:
                found.append(one)
            self._refreshed = -math.inf  # show the effect at once
        if self._interrupted:
            found.append(Close())
        if Close() in found:
            self.close()
        return found

    def show(self, frame: Frame) -> None:
        """Send a frame together with the changes of controls, keys and plots.

        Raises:
            ViewerError: The last frame could not be drawn.
            Exception: A binding could not be changed.
        """
        if self._broken is not None:
            broken, self._broken = self._broken, None
            raise broken
        if not self._can_send():
            return
        update, now = PageUpdate(frame), self.time()
        if now - self._refreshed > _REFRESH:
            self._refreshed = now
            update.controls.update(self._diff.controls())
            update.keys.update(self._diff.keys())
        if now - self._replotted > _REPLOT:
            self._replotted = now
            update.plots.update(self._diff.plots())
        self._send(update)

    def close(self) -> None:
        """See `Backend`."""
        super().close()
        if self._interrupts is not None:
            signal.signal(signal.SIGINT, self._interrupts)
            self._interrupts = None

    def _catch_interrupt(self) -> None:
        """Let Ctrl+C close the page after the current step; a second one interrupts the step."""
        if threading.current_thread() is not threading.main_thread():
            return

        def interrupt(_: int, __: FrameType | None) -> None:
            signal.signal(signal.SIGINT, self._interrupts)
            self._interrupted = True

        self._interrupts = signal.signal(signal.SIGINT, interrupt)
