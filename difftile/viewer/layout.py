"""The layout of the screen: a scene, a panel next to it, notices on top; routing of events."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from difftile.diagnostics import ViewerError
from difftile.viewer.checks import as_count
from difftile.viewer.events import (
    Event,
    KeyDown,
    MouseDown,
    MouseMove,
    MouseUp,
    Resize,
    Scroll,
)
from difftile.viewer.frame import Frame, Layer
from difftile.viewer.keys import Shortcut
from difftile.viewer.notices import failure, message, overview
from difftile.viewer.panel import WIDTH, Panel
from difftile.viewer.primitives import Box, Primitive
from difftile.viewer.scene import Scene
from difftile.viewer.screen import Area, Pixels

SMALLEST = (480, 320)  # the smallest size of pictures [px]
LARGEST = (8192, 8192)  # the largest size of pictures [px]
_ROOM = 440.0  # notices of a narrower scene cover the panel as well [px]
_SAID = 2.0  # duration of a message [s]


class ScreenLayout:
    """The parts of the screen and their areas.

    Args:
        size: Width and height of the pictures [px].
        view: The part of the plane that is shown at first.
        panel: The controls; None if the backend shows them itself.
        keys: The actions of keys; may grow.
        clock: Returns the time that ends messages [s].

    Attributes:
        scene: The scene, to the left of the panel.
        help: Whether the overview of keys is shown.
        size: Width and height of the pictures [px], after changes of the window.
    """

    def __init__(
        self,
        size: tuple[int, int],
        view: Box,
        panel: Panel | None,
        keys: Mapping[str, Shortcut],
        clock: Callable[[], float],
    ) -> None:
        self.size = size
        self.help = False
        self._panel, self._keys, self._clock = panel, keys, clock
        self.scene = Scene(self._scene_area(), view)
        self._said = ("", -math.inf)
        self._pointer: tuple[float, float] | None = None
        self._controls: Layer | None = None  # the panel in the last frame

    def show_panel(self, panel: Panel | None) -> None:
        """Show other controls from now on; None if the backend shows them itself."""
        self._panel = panel
        self.scene.area, self._controls = self._scene_area(), None

    def say(self, words: str) -> None:
        """Show a message for a while."""
        self._said = (words, self._clock() + _SAID)

    def take(self, event: Event) -> None:
        """Pass an event to the action of its key, the panel or the scene."""
        match event:
            case KeyDown(key) if (shortcut := self._keys.get(key)) is not None:
                shortcut.act()
            case Resize(width, height):
                self.size = (
                    min(max(width, SMALLEST[0]), LARGEST[0]),
                    min(max(height, SMALLEST[1]), LARGEST[1]),
                )
                self.scene.area, self._controls = self._scene_area(), None
            case _:
                if not self._panel_takes(event):
                    self.scene.take(event)
        if isinstance(event, MouseMove | MouseDown):
            self._pointer = (event.x, event.y)

    def frame(self, shapes: list[Primitive] | None, error: str | None, fresh: bool) -> Frame:
        """Return a frame.

        Args:
            shapes: The shapes of the scene; None for no scene and no handles.
            error: The text of the current error, or None.
            fresh: Whether the controls may have changed.
        """
        if self._panel is not None and (fresh or self._controls is None):
            area = self._panel_area()
            pointer = None if self.scene.holding else self._pointer
            self._controls = Layer(Pixels(area), ())  # remains if a control cannot be drawn
            self._controls = Layer(Pixels(area), tuple(self._panel.draw(area, pointer)))
        notices = Layer(Pixels(Area(0.0, 0.0, *self.size)), tuple(self._notices(error)))
        layers = () if shapes is None else tuple(self.scene.layers(shapes))
        return Frame(*self.size, layers, self._controls, notices)

    def _panel_takes(self, event: Event) -> bool:
        panel, area = self._panel, self._panel_area()
        if panel is None:
            return False
        match event:
            case MouseDown("left", x, y) if area.holds(x, y):
                panel.press(area, x, y)
            case Scroll(amount, x, y) if area.holds(x, y):
                panel.scroll(area, amount)
            case MouseMove(x, y) if panel.holding:
                panel.move(x, y)
            case MouseUp() if panel.holding:
                panel.release()
            case _:
                return False
        return True

    def _scene_area(self) -> Area:
        width, height = self.size
        return Area(0.0, 0.0, width - (0.0 if self._panel is None else WIDTH), height)

    def _panel_area(self) -> Area:
        width, height = self.size
        return Area(width - WIDTH, 0.0, WIDTH, height)

    def _notices(self, error: str | None) -> list[Primitive]:
        """Return the shapes of an error, a message and the help."""
        area = self._scene_area()
        if area.width < _ROOM:
            area = Area(0.0, 0.0, *self.size)
        found: list[Primitive] = []
        if error is not None:
            found += failure(error, area)
        elif self._clock() < self._said[1]:
            found += message(self._said[0], area)
        if self.help:
            found += overview(((key, one.said) for key, one in self._keys.items()), area)
        return found


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    """Return the width and height of pictures.

    Raises:
        ViewerError: They are not two whole numbers in the range of pictures.
    """
    try:
        width, height = size
    except (TypeError, ValueError):
        raise ViewerError(f"size is (width, height) in pixels, not {size!r}") from None
    found = as_count(width, "the width of size"), as_count(height, "the height of size")
    inside = (low <= one <= high for low, one, high in zip(SMALLEST, found, LARGEST, strict=True))
    if not all(inside):
        raise ViewerError(
            f"the size of a viewer is at least {SMALLEST} and at most {LARGEST} pixels, not {size}"
        )
    return found
