"""The page process: serves a page, draws the frames of an app and reports events.

The scene is a picture that viser shows behind its own, empty scene.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import math
import sys
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import viser

from difftile.viewer.backends.child_process import Connection, join_app
from difftile.viewer.backends.messages import DisplayReport, Inbox, PageUpdate
from difftile.viewer.backends.page_controls import Controls
from difftile.viewer.backends.page_document import Document
from difftile.viewer.backends.page_gate import RefusalLog, gated
from difftile.viewer.backends.page_guests import Guests
from difftile.viewer.backends.page_mouse import Wheel, catch_mouse
from difftile.viewer.backends.page_pictures import Pictures, sheet
from difftile.viewer.events import Resize
from difftile.viewer.frame import Frame, FramePainter
from difftile.viewer.layout import SMALLEST
from difftile.viewer.primitives import Bytes
from difftile.viewer.theme import ACCENT

_LARGEST = 1.1e6  # pixels of a picture; a larger canvas shows it enlarged
_MOST = 8192  # limit of the width and height of a canvas [px]
_THINNEST = 8.0  # limit of the aspect ratio of a canvas, either way
_ALIKE = 0.01  # aspect ratios that differ by less count as equal
_LOOK = 1 / 60  # interval of polls for events while no frame arrives [s]
_RED, _GREEN, _BLUE = ACCENT.tolist()


class Page:
    """Shows the frames and controls that arrive over a connection.

    Args:
        connection: The connection to the app.
        server: A viser server with an empty page.
        title: The heading of the controls.
        size: Width and height of the pictures until a browser has reported its canvas [px].
        log: Records messages of browsers that cannot be used.
    """

    def __init__(
        self,
        connection: Connection,
        server: viser.ViserServer,
        title: str,
        size: tuple[int, int],
        log: RefusalLog,
    ) -> None:
        self._connection = connection
        self._log = log
        self._size = size  # of the picture that is shown
        # By client number of viser: the finest canvas [px] since it has this aspect ratio.
        self._canvases: dict[int, tuple[int, int]] = {}
        self._inbox = Inbox()
        self._easel = FramePainter()
        self._frame: Frame | None = None  # the last one
        self._pictures = Pictures()
        self._controls = Controls(server.gui, self._inbox)
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
        server.on_client_connect(self._connected)
        server.on_client_disconnect(self._disconnected)

    def run(self) -> None:
        """Run until the connection ends with EOFError or OSError."""
        while True:
            came, fault = self._connection.poll(_LOOK), None
            if came:
                fault = self._show(self._connection.recv())
            events = self._inbox.take()
            if came or events:
                self._connection.send(DisplayReport(came, events, fault))

    def _show(self, update: PageUpdate) -> str | None:
        """Show an update, without its scene if that cannot be drawn; return the fault."""
        self._controls.show(update)
        self._frame = update.frame
        self._size = update.frame.width, update.frame.height
        if not self._pictures.wanted:
            return None
        image, fault = self._easel.attempt(update.frame)
        self._pictures.show(image)
        return fault

    # Called in the thread of viser

    def picture(self) -> Bytes | None:
        """Return the last picture, which nobody may have asked for so far."""
        return None if self._frame is None else FramePainter().attempt(self._frame)[0]

    async def _connected(self, client: viser.ClientHandle) -> None:
        if not self._pictures.wanted and (image := self.picture()) is not None:
            self._pictures.show(image)  # the next one may take a whole step
        wheel = Wheel(client)
        asyncio.get_running_loop().set_exception_handler(self._went_wrong)

        async def looked(camera: viser.CameraHandle) -> None:
            self._fit(client.client_id, camera.image_width, camera.image_height)
            self._inbox.add(*wheel.turned(client, self._place(client.client_id, (0.5, 0.5))))

        client.camera.on_update(looked)
        await looked(client.camera)
        self._pictures.follow(client, lambda: self._aspect(client.client_id))

    def _went_wrong(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log that viser could not handle a message, such as a value of another type."""
        error = context.get("exception")
        said = context.get("message") if error is None else f"{type(error).__name__}: {error}"
        self._log.write(f"ignored a message: {said}")

    async def _disconnected(self, client: viser.ClientHandle) -> None:
        self._pictures.leave(client)
        self._canvases.pop(client.client_id, None)

    def _fit(self, browser: int, width: int, height: int) -> None:
        """Request pictures with the aspect ratio of a canvas, if it has changed.

        A slow page makes its canvas coarser, which does not reduce the size of pictures.
        """
        if min(width, height) <= 0:
            return
        width, height = min(width, _MOST), min(height, _MOST)
        width = max(width, math.ceil(height / _THINNEST))
        height = max(height, math.ceil(width / _THINNEST))
        known = self._canvases.get(browser)
        if known is not None and width <= known[0]:
            shape = width * known[1] / (height * known[0])
            if abs(shape - 1) < _ALIKE:
                return
        self._canvases[browser] = width, height
        scale = min(math.sqrt(_LARGEST / (width * height)), 1.0)
        scale = max(scale, SMALLEST[0] / width, SMALLEST[1] / height)
        self._inbox.add(Resize(round(scale * width), round(scale * height)))

    def _aspect(self, browser: int) -> float:
        width, height = self._canvases.get(browser, self._size)
        return width / height

    def _place(self, browser: int, at: tuple[float, float]) -> tuple[float, float]:
        """Return the pixel at a position on the canvas of a browser; see `Place`."""
        width, height = self._size
        wide, high = sheet(width, height, self._aspect(browser))
        return at[0] * wide - 0.5 * (wide - width), at[1] * high - 0.5 * (high - height)


def main(
    connection: str, host: str, port: str, title: str, width: str, height: str, origins: str
) -> None:
    """Serve a page for the app at the other end of an inherited connection, and send it the port.

    Args:
        connection: The file descriptor of the connection.
        host: The host name of the page.
        port: The first port to try.
        title: The heading of the controls.
        width: Width of the first pictures [px].
        height: Height of the first pictures [px].
        origins: Other sites that may show the page, separated by blanks.
    """
    app = join_app(connection)
    log = RefusalLog()
    guests = Guests(host, tuple(origins.split()))
    document = Document(title, guests)
    with _silence(), gated(guests, log, document):
        server = viser.ViserServer(host, int(port), verbose=False)
    with suppress(EOFError, OSError):
        page = Page(app, server, title, (int(width), int(height)), log)
        document.picture = page.picture
        app.send(server.get_port())
        page.run()
    with _silence():
        server.stop()


@contextlib.contextmanager
def _silence() -> Generator[None]:
    """Suppress viser's own announcements."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


if __name__ == "__main__":
    main(*sys.argv[1:])
