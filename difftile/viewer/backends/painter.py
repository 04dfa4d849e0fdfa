"""The window process: draws the frames of an app and reports events.

The app sends a frame only after the last one is shown, so that frames neither pile up nor block it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace

from difftile.viewer.backends.child_process import Connection, join_app
from difftile.viewer.backends.messages import DisplayReport, WindowUpdate
from difftile.viewer.backends.toolkits import TOOLKITS, DesktopWindow
from difftile.viewer.events import Close, Event
from difftile.viewer.frame import Frame, FramePainter

_LOOK = 1 / 25  # interval of polls for events while no frame arrives [s]


class Painter:
    """Draws the frames that arrive over a connection to the app in a window."""

    def __init__(self, connection: Connection, window: DesktopWindow) -> None:
        self._connection, self._window = connection, window
        self._easel = FramePainter()
        self._frame: Frame | None = None

    def run(self) -> None:
        """Run until the window is closed; EOFError or OSError mean that the app has ended."""
        events: list[Event] = []
        while Close() not in events:
            came, fault = self._connection.poll(_LOOK), None
            if came:
                fault = self._show(self._connection.recv())
            else:
                self._window.update()
            events = self._window.events()
            if came or events:
                self._connection.send(DisplayReport(came, events, fault))

    def _show(self, update: WindowUpdate) -> str | None:
        """Show a frame, without its scene if that cannot be drawn; return the fault."""
        frame = update.frame
        if update.same_panel and self._frame is not None:
            frame = replace(frame, panel=self._frame.panel)
        self._frame = frame
        image, fault = self._easel.attempt(frame)
        self._window.draw(image)
        return fault


def main(connection: str, title: str, width: str, height: str, name: str) -> None:
    """Open a window of width and height [px], and paint frames from an inherited connection."""
    app, toolkit = join_app(connection), TOOLKITS[name]
    try:
        window = toolkit.open(title, int(width), int(height))
    except Exception as error:  # the toolkit may lack a part, or fail on this desktop
        said = str(error).splitlines() or [type(error).__name__]
        app.send(f"{toolkit.said} does not start ({said[0]})")
        return
    with suppress(EOFError, OSError):
        app.send(None)
        Painter(app, window).run()
    window.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
