"""A page for browsers, by viser: on this machine, over ssh, in notebooks."""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import signal
import socket
import sys
import threading
import time
from collections.abc import Generator, Mapping
from types import FrameType
from typing import Any

import viser

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.inbox import Inbox
from difftile.viewer.backends.web_controls import WebPanel
from difftile.viewer.backends.web_mouse import Wheel, catch_mouse
from difftile.viewer.backends.web_pictures import Pictures
from difftile.viewer.events import Close, Event, Resize
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel
from difftile.viewer.stage import SMALLEST
from difftile.viewer.theme import ACCENT

_PORT, _PORTS = 8080, 65536  # the usual one, and how many there are
_LARGEST = 1.1e6  # pixels of a picture; a larger canvas shows it enlarged
_REFRESH, _REPLOT = 0.1, 0.3  # between looks at controls and at plots [s]
_CELL = 640  # height of a page in a notebook [px]
_ALIKE = 0.01  # shapes of pictures that differ by less are the same
_RED, _GREEN, _BLUE = ACCENT.tolist()


class WebBackend:
    """A page, which any number of browsers show at the same time.

    Its controls are viser's. The picture is as large as the canvas of the browser that was opened
    or resized last; others show it stretched.

    Args:
        at: "port" or "host:port"; another port is taken if it is not free. The host is the one by
            which the page is reached: "localhost" for this machine alone, "0.0.0.0" for all.
    """

    def __init__(self, at: str = "") -> None:
        host, _, port = at.rpartition(":")
        if at and not (port.isdecimal() and int(port) < _PORTS):
            raise ViewerError(f"the page is at a port or at host:port, not at {at!r}")
        self._host, self._port = host or "localhost", int(port or _PORT)
        self._server: viser.ViserServer | None = None
        self._panel, self._keys = Panel(), dict[str, Shortcut]()
        self._inbox = Inbox()
        self._size = (1, 1)  # of the picture that is shown
        self._refreshed = self._replotted = -math.inf
        self._before: Any = None  # what Ctrl+C did

    @property
    def closed(self) -> bool:
        """Whether the person has closed it, or `close` was called."""
        return self._server is None

    @property
    def ready(self) -> bool:
        """Whether it takes a frame now, so that they never pile up; one that is closed does."""
        return self._server is None or self._pictures.ready

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
            ViewerError: There is no such host here.
        """
        self._size = self._asked = (width, height)
        self._server = server = _serve(self._host, self._port)
        server.gui.set_panel_label(title)
        server.gui.configure_theme(
            dark_mode=True,
            show_logo=False,
            show_share_button=False,
            brand_color=(_RED, _GREEN, _BLUE),
        )
        server.gui.main_panel.dock_right()
        server.scene.world_axes.visible = False
        catch_mouse(server.scene, self._inbox, self._place)
        self._controls = WebPanel(server.gui, self._panel, self._keys, self._inbox)
        self._pictures = Pictures()
        server.on_client_connect(self._connected)
        server.on_client_disconnect(self._disconnected)
        self._catch_interrupt()
        _tell(title, f"http://{_reached(self._host)}:{server.get_port()}")

    def poll(self) -> list[Event]:
        """Return what happened since the last call, in order; never wait for it."""
        if self._inbox.waiting:
            self._refreshed = -math.inf  # what was pressed is seen at once
        return self._inbox.take()

    def show(self, frame: Frame) -> None:
        """Show a frame; it may be kept, and drawn later or elsewhere. Never wait for that."""
        if self._server is None:
            return
        now = self.time()
        if now - self._refreshed > _REFRESH:
            self._refreshed = now
            self._controls.refresh()
        if now - self._replotted > _REPLOT:
            self._replotted = now
            self._controls.plot()
        self._size = frame.width, frame.height
        self._pictures.show(frame)

    def time(self) -> float:
        """Return the time by which frames are paced [s]."""
        return time.perf_counter()

    def close(self) -> None:
        """End the page; a second call does nothing."""
        if self._server is None:
            return
        server, self._server = self._server, None
        self._pictures.end()
        with _silence():
            server.stop()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    # In threads of viser

    async def _connected(self, client: viser.ClientHandle) -> None:
        wheel = Wheel(client)

        async def looked(camera: viser.CameraHandle) -> None:
            self._fit(camera.image_width, camera.image_height)
            self._inbox.add(*wheel.turned(client, self._place((0.5, 0.5))))

        client.camera.on_update(looked)
        await looked(client.camera)
        self._pictures.follow(client)

    async def _disconnected(self, client: viser.ClientHandle) -> None:
        self._pictures.leave(client)

    def _fit(self, width: int, height: int) -> None:
        """Ask for pictures of the shape of a canvas.

        A page that is slow makes its canvas coarser, which is no reason to draw less.
        """
        if min(width, height) <= 0:
            return
        scale = min(math.sqrt(_LARGEST / (width * height)), 1.0)
        scale = max(scale, SMALLEST[0] / width, SMALLEST[1] / height)
        asked = round(scale * width), round(scale * height)
        same = abs(asked[0] * self._asked[1] / (asked[1] * self._asked[0]) - 1) < _ALIKE
        if not same or asked > self._asked:
            self._asked = asked
            self._inbox.add(Resize(*asked))

    def _place(self, at: tuple[float, float]) -> tuple[float, float]:
        """Return the pixel of a place on the canvas, of which (1, 1) is the lower right corner."""
        return at[0] * self._size[0], at[1] * self._size[1]

    # Elsewhere

    def _catch_interrupt(self) -> None:
        """Have Ctrl+C close the page after a step; a second one breaks it off."""
        if threading.current_thread() is not threading.main_thread():
            return

        def interrupt(_: int, __: FrameType | None) -> None:
            signal.signal(signal.SIGINT, self._before)
            self._inbox.add(Close())

        self._before = signal.signal(signal.SIGINT, interrupt)


def _serve(host: str, port: int) -> viser.ViserServer:
    """Start a server, if there can be one: viser would try for ever."""
    try:
        socket.create_server((host, 0)).close()
    except OSError as error:
        raise ViewerError(f"no page can be served at {host!r}: {error.strerror}") from None
    with _silence():
        return viser.ViserServer(host, port, verbose=False)


def _reached(host: str) -> str:
    """Return a name by which a browser finds the page."""
    return socket.gethostname() if host in ("0.0.0.0", "::", "") else host


def _tell(title: str, address: str) -> None:
    """Say where the page is; a notebook shows it below its cell."""
    print(f"{title}: {address} (Ctrl+C ends it)", flush=True)
    ipython = sys.modules.get("IPython")
    if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        display = importlib.import_module("IPython.display")
        display.display(display.IFrame(address, "100%", _CELL))


@contextlib.contextmanager
def _silence() -> Generator[None]:
    """Keep viser's own announcements to itself."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
