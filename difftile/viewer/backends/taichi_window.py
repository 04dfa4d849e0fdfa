"""A window of Taichi's `ti.GUI`, of fixed size: it never reports a `Resize`."""

from __future__ import annotations

import sys

from difftile.substrate import RawEvent, open_desktop
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
from difftile.viewer.primitives import Bytes

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


class TaichiWindow:
    """A `Window` over the substrate's window, whose events it translates."""

    def __init__(self, title: str, width: int, height: int) -> None:
        self._desktop = open_desktop(title, width, height)
        self._keyboard = Keyboard()

    def draw(self, image: Bytes) -> None:
        """See `Window`."""
        self._desktop.draw(image)

    def update(self) -> None:
        """See `Window`."""
        self._desktop.update()

    def events(self) -> list[Event]:
        """See `Window`."""
        translated = map(self._keyboard.event, self._desktop.events())
        return [event for event in translated if event is not None]

    def close(self) -> None:
        """See `Window`."""
        self._desktop.close()


class Keyboard:
    """Translates the events of a window to events of apps; keeps track of Shift."""

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
        known = (len(key) == 1 and key.isprintable()) or key in _KEYS.values()
        return (KeyDown if down else KeyUp)(key) if known else None
