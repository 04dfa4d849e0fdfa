"""The window process: draws the frames of an app and reports events.

The app sends a frame only after the last one is shown, so that frames neither pile up nor block it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace

from difftile.substrate import Desktop, RawEvent, open_desktop
from difftile.viewer.backends.child_process import Connection, join_app
from difftile.viewer.backends.messages import DisplayReport, WindowUpdate
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
from difftile.viewer.frame import Easel, Frame

_BUTTONS: dict[str, Button] = {"LMB": "left", "MMB": "middle", "RMB": "right"}
_MODIFIERS = ("Shift", "Control", "Alt")
_SIGNS = {"win32": {"Vk187": "=", "Vk189": "-"}, "darwin": {"Vk24": "=", "Vk27": "-"}}
# Keys with another name than the character they give.
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
_SHIFTED = {"=": "+"}  # the window reports keys as if Shift were not held
_LOOK = 1 / 25  # interval of polls for events while no frame arrives [s]


class Painter:
    """Draws the frames that arrive over a connection to the app in a window."""

    def __init__(self, connection: Connection, desktop: Desktop) -> None:
        self._connection, self._desktop = connection, desktop
        self._easel, self._keyboard = Easel(), Keyboard()
        self._frame: Frame | None = None

    def run(self) -> None:
        """Run until the window is closed; EOFError or OSError mean that the app has ended."""
        events: list[Event] = []
        while Close() not in events:
            came, fault = self._connection.poll(_LOOK), None
            if came:
                fault = self._show(self._connection.recv())
            else:
                self._desktop.update()
            raws = self._desktop.events()
            events = [event for raw in raws if (event := self._keyboard.event(raw)) is not None]
            if came or events:
                self._connection.send(DisplayReport(came, events, fault))

    def _show(self, update: WindowUpdate) -> str | None:
        """Show a frame, without its scene if that cannot be drawn; return the fault."""
        frame = update.frame
        if update.same_panel and self._frame is not None:
            frame = replace(frame, panel=self._frame.panel)
        self._frame = frame
        image, fault = self._easel.attempt(frame)
        self._desktop.draw(image)
        return fault


class Keyboard:
    """Translates the events of a window to those of apps; keeps track of Shift."""

    def __init__(self) -> None:
        self._shift = False

    def event(self, raw: RawEvent) -> Event | None:
        """Return the event for apps, or None if they have no use for it."""
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
        # Other long names are keys that apps do not know, or a wheel that reports as a button.
        known = len(key) == 1 or key in _KEYS.values()
        return (KeyDown if down else KeyUp)(key) if known else None


def main(connection: str, title: str, width: str, height: str) -> None:
    """Open a window of width and height [px], and paint frames from an inherited connection."""
    app = join_app(connection)
    try:
        desktop = open_desktop(title, int(width), int(height))
    except Exception as error:  # Taichi may lack its GUI, or fail on this desktop
        said = str(error).splitlines() or [type(error).__name__]
        app.send(f"Taichi's GUI does not start ({said[0]})")
        return
    with suppress(EOFError, OSError):
        app.send(None)
        Painter(app, desktop).run()
    desktop.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
