"""A page for browsers: on this machine, over ssh, or in notebooks.

A process of its own serves the page, so that drawing, encoding and sending take no time from the
simulation.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Mapping, Sequence

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.child_process import Ended
from difftile.viewer.backends.control_diff import ControlDiff
from difftile.viewer.backends.flow_control import FlowControl
from difftile.viewer.backends.interrupt import Interrupt
from difftile.viewer.backends.messages import ControlChange, PageEvent, PageUpdate
from difftile.viewer.backends.notebook import CellOutput, in_notebook
from difftile.viewer.backends.page_guests import allowed_origins
from difftile.viewer.events import Close, Event
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel

_PAGE = "difftile.viewer.backends.page"
_PORT, _PORTS = 8080, 65536  # the default, and the number of ports
_REFRESH, _REPLOT = 0.1, 0.3  # intervals of updates of controls and of plots [s]


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
        self._panel = Panel()
        self._keys: Mapping[str, Shortcut] = {}
        self._diff = ControlDiff(self._panel, self._keys)
        self._broken: Exception | None = None  # raised by a binding when its control moved
        self._refreshed = self._replotted = -math.inf
        self._interrupt = Interrupt()
        self._output: CellOutput | None = None  # below the cell of a notebook
        self._last: Frame | None = None

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
        self._refreshed = self._replotted = -math.inf
        self._interrupt.begin()
        name = socket.gethostname() if self._host in ("0.0.0.0", "::") else self._host
        address = f"http://{name}:{port}"
        notebook = in_notebook()
        how = "interrupt the kernel to end it" if notebook else "Ctrl+C ends it"
        print(f"{title}: {address} ({how})", flush=True)
        if notebook:
            self._output = CellOutput()
            self._output.page(address)

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
        if self._interrupt.came:
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
        if self._output is not None:
            self._last = frame
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
        """Close the page; in a notebook the last picture takes its place."""
        super().close()
        self._interrupt.end()
        if self._output is not None:
            output, self._output = self._output, None
            self._leave(output)

    def _leave(self, output: CellOutput) -> None:
        """Put the last picture in the place of the page, which no process serves any more."""
        last, self._last = self._last, None
        try:
            picture = None if last is None else last.image()
        except Exception:  # it cannot be drawn: the app has said why
            picture = None
        if picture is None:
            output.words("The viewer is closed.")
        else:
            output.picture(picture)
