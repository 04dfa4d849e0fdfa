"""A window of Tk, by tkinter from the standard library."""

from __future__ import annotations

import tkinter
from typing import Any

from difftile.viewer.backends.icon import as_hex, as_picture
from difftile.viewer.events import (
    Button,
    Close,
    Event,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Resize,
    Scroll,
)
from difftile.viewer.layout import LARGEST, SMALLEST
from difftile.viewer.primitives import Bytes
from difftile.viewer.theme import BACKGROUND

_NOTCH = 120  # units per notch of a wheel
_PIXELS = 40.0  # that a touchpad scrolls in place of a notch
_WHEEL = {4: 1.0, 5: -1.0}  # buttons that stand for notches, on X11 before Tk 8.7
_ARROWS = ("Left", "Right", "Up", "Down")
# Keys whose name is not the character that they give, by the names of Tk, which come from X11.
_NAMES: dict[str, str] = {
    **{name: name.lower() for name in ("space", "Escape", "Return", "Tab", "BackSpace")},
    **{pad + name: name.lower() for name in _ARROWS for pad in ("", "KP_")},
    **{f"{name}_{side}": name.lower() for name in ("Shift", "Control", "Alt") for side in "LR"},
    "Option_L": "alt",
    "Option_R": "alt",
    "KP_Enter": "return",
    "ISO_Left_Tab": "tab",  # with Shift
}
# Signs that Tk names by a word while Control is held, as it gives no character then.
_SIGNS = {"plus": "+", "minus": "-", "equal": "=", "KP_Add": "+", "KP_Subtract": "-"}


class TkWindow:
    """A `Window` that follows the size that the person gives it.

    Tk shows pixels of a `PhotoImage`, which takes them fastest as a file of the format PPM.
    """

    def __init__(self, title: str, width: int, height: int) -> None:
        self._root = root = _Root(className="difftile")
        root.title(title)
        self._icon = tkinter.PhotoImage(master=root, data=_as_ppm(as_picture()))
        root.iconphoto(True, self._icon)
        self._photo = tkinter.PhotoImage(master=root)  # as large as its last picture
        # Without this, settings of X11 for all programs would move the picture.
        edges: Any = {"borderwidth": 0, "highlightthickness": 0, "padx": 0, "pady": 0}
        root.configure(edges)
        place = tkinter.Label(root, edges, image=self._photo, anchor="nw", compound="none")
        place.configure(background=as_hex(BACKGROUND))
        place.pack(fill="both", expand=True)
        root.pack_propagate(False)  # the size is the person's, not that of the last picture
        root.geometry(f"{width}x{height}")
        root.minsize(min(width, SMALLEST[0]), min(height, SMALLEST[1]))
        root.maxsize(*LARGEST)
        self._size = width, height
        self._events: list[Event] = []
        self._held: dict[int, str] = {}  # the keys that are down, by their codes
        aqua = root.tk.call("tk", "windowingsystem") == "aqua"
        old_aqua = aqua and tkinter.TkVersion < 8.7  # numbers buttons and notches otherwise
        self._notch = 1 if old_aqua else _NOTCH
        self._buttons: dict[int, Button] = {1: "left", 2: "middle", 3: "right"}
        if old_aqua:
            self._buttons |= {2: "right", 3: "middle"}
        root.protocol("WM_DELETE_WINDOW", lambda: self._events.append(Close()))
        if aqua:
            root.createcommand("::tk::mac::Quit", lambda: self._events.append(Close()))
        root.bind("<KeyPress>", self._press_key)
        root.bind("<KeyRelease>", self._release_key)
        place.bind("<Motion>", lambda event: self._events.append(MouseMove(event.x, event.y)))
        place.bind("<ButtonPress>", self._press_button)
        place.bind("<ButtonRelease>", self._release_button)
        place.bind("<MouseWheel>", self._turn_wheel)
        if tkinter.TkVersion >= 8.7:  # where touchpads of macOS do not turn the wheel
            place.bind("<TouchpadScroll>", self._scroll)
        root.update()

    def draw(self, image: Bytes) -> None:
        """See `Window`."""
        self._photo.configure(data=_as_ppm(image), format="ppm")
        self.update()

    def update(self) -> None:
        """See `Window`."""
        self._root.update()
        size = self._root.winfo_width(), self._root.winfo_height()
        if size != self._size:
            self._size = size
            self._events.append(Resize(*size))

    def events(self) -> list[Event]:
        """See `Window`."""
        found, self._events = self._events, []
        return found

    def close(self) -> None:
        """See `Window`."""
        self._root.destroy()

    def _press_key(self, event: Any) -> None:
        key = key_of(event.keysym, event.char)
        if key is not None:
            self._held[event.keycode] = key
            self._events.append(KeyDown(key))

    def _release_key(self, event: Any) -> None:
        # Named as it was pressed, whatever Shift has done since; Tk gives no character here.
        key = self._held.pop(event.keycode, None) or key_of(event.keysym, event.char)
        if key is not None:
            self._events.append(KeyUp(key))

    def _press_button(self, event: Any) -> None:
        if event.num in self._buttons:
            self._events.append(MouseDown(self._buttons[event.num], event.x, event.y))
        elif event.num in _WHEEL:
            self._events.append(Scroll(_WHEEL[event.num], event.x, event.y))

    def _release_button(self, event: Any) -> None:
        if event.num in self._buttons:
            self._events.append(MouseUp(self._buttons[event.num], event.x, event.y))

    def _turn_wheel(self, event: Any) -> None:
        self._events.append(Scroll(event.delta / self._notch, event.x, event.y))

    def _scroll(self, event: Any) -> None:
        if pixels := scrolled(event.delta):
            self._events.append(Scroll(pixels / _PIXELS, event.x, event.y))


class _Root(tkinter.Tk):
    def readprofile(self, baseName: str, className: str) -> None:
        """Leave out the files in the home folder that tkinter would run."""


def key_of(name: str, character: str) -> str | None:
    """Return the name of a key for apps, or None if they do not know it.

    Args:
        name: Tk's name of the key.
        character: The character that it gives, or a text that is none.
    """
    if name in _NAMES:
        return _NAMES[name]
    shown = len(character) == 1 and character.isprintable()
    key = (character if shown else _SIGNS.get(name, name)).lower()
    return key if len(key) == 1 else None


def scrolled(delta: int) -> int:
    """Return how far a touchpad scrolls vertically [px], positive away from the person.

    Args:
        delta: The number of Tk's event, whose lower 16 bits are this distance, with a sign
            (TIP 684 of Tk).
    """
    return ((delta & 0xFFFF) ^ 0x8000) - 0x8000


def _as_ppm(image: Bytes) -> bytes:
    height, width = image.shape[:2]
    return b"P6 %d %d 255\n" % (width, height) + image.tobytes()
