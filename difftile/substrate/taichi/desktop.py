"""A window of Taichi's `ti.GUI`: pixels in, raw events out."""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import taichi as ti

from difftile.substrate.desktop import RawEvent

_GUI: Any = ti.GUI
_ACTS: dict[object, Literal["press", "release", "move"]] = {
    _GUI.PRESS: "press",
    _GUI.RELEASE: "release",
    _GUI.MOTION: "move",
}
_NOTCH = 120  # units per notch of a wheel


class GuiWindow:
    """A `Desktop` whose pixels are written to directly.

    Taichi's fast windows show memory that they are given: 32 bits a pixel, rows from the top.
    The others turn every picture into floats and back.
    """

    def __init__(self, title: str, width: int, height: int) -> None:
        gui: Any = ti.GUI  # which has no types, and other defaults than arguments
        self._gui = gui(title, (width, height), fast_gui=True)
        self._gui.fps_limit = None
        self._size = width, height
        pixels = self._gui.img.view(np.uint8).reshape(height, width, 4)
        pixels[:] = 255  # opaque, where that is asked for
        places = (0, 1, 2) if sys.platform == "darwin" else (2, 1, 0)
        self._channels = [pixels[..., place] for place in places]
        self.update()

    def draw(self, image: npt.NDArray[np.uint8]) -> None:
        """Show a picture, shape (height, width, 3), and collect events."""
        # One by one takes a third of the time of one assignment, whose inner loop has three turns.
        for k, channel in enumerate(self._channels):
            channel[:] = image[..., k]
        self.update()

    def update(self) -> None:
        """Show the last picture again, and collect events."""
        try:
            # `GUI.show` would also clear a canvas that no one sees, a float for each channel.
            self._gui.core.update()
        except RuntimeError as error:
            if "basic_string" not in str(error):  # a key that X11 has no name for is no key
                raise

    def events(self) -> list[RawEvent]:
        """Return the events up to the last update."""
        width, height = self._size
        found: list[RawEvent] = []
        for event in self._gui.get_events():
            x = round(event.pos[0] * width)
            y = height - 1 - round(event.pos[1] * height)
            notches = event.delta[1] / _NOTCH if event.key == ti.GUI.WHEEL else 0.0
            found.append(RawEvent(_ACTS[event.type], event.key, x, y, notches))
        return found

    def close(self) -> None:
        """Take the window from the screen."""
        self._gui.close()
