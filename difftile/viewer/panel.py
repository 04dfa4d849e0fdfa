"""The panel beside the scene: controls from top to bottom, plots, and who has the mouse."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from difftile.viewer.controls import Control
from difftile.viewer.primitives import Boxes, Plot, Primitive, Text
from difftile.viewer.screen import Area
from difftile.viewer.series import Series
from difftile.viewer.theme import FAINT, PANEL, SERIES

WIDTH = 240.0  # [px]
_PAD = 14.0  # between the edge and the controls [px]
_GAP = 6.0  # between two controls [px]
_PLOT = 112.0  # height of a plot [px]
_STATUS = 34.0  # height of the two lines at the bottom [px]
_NOTCH = 40.0  # what one notch of the wheel moves [px]


class Panel:
    """Controls in a column.

    Attributes:
        controls: From top to bottom.
        series: What is plotted below them, by its name.
        status: The lines at the bottom.
    """

    def __init__(self) -> None:
        self.controls: list[Control] = []
        self.series: dict[str, Series] = {}
        self.status: tuple[str, str] = ("", "")
        self._held: tuple[Control, Area] | None = None
        self._scrolled = 0.0

    @property
    def holding(self) -> bool:
        """Whether a control has the mouse."""
        return self._held is not None

    def press(self, area: Area, x: float, y: float) -> None:
        """Take a button of the mouse that went down in the panel."""
        for control, place in self._places(area):
            if place.holds(x, y) and y < area.top + area.height - _STATUS:
                self._held = (control, place)
                control.press(place, x, y)

    def move(self, x: float, y: float) -> None:
        """Take a move of the mouse, for the control that holds it."""
        if self._held is not None:
            control, place = self._held
            control.drag(place, x, y)

    def release(self) -> None:
        """Let the mouse go."""
        self._held = None

    def scroll(self, area: Area, amount: float) -> None:
        """Move the column, where it is higher than the panel."""
        content = sum(control.height + _GAP for control in self.controls)
        content += (_PLOT + _GAP) * len(self.series) + 2 * _PAD + _STATUS
        most = max(content - area.height, 0.0)
        self._scrolled = min(max(self._scrolled - _NOTCH * amount, 0.0), most)

    def draw(self, area: Area, mouse: tuple[float, float] | None) -> list[Primitive]:
        """Return the shapes of the panel, in pixels.

        Args:
            area: Where it is.
            mouse: Where the mouse is, if it is known.
        """
        found: list[Primitive] = [_filled(area)]
        y = area.top + _PAD - self._scrolled
        for control, place in self._places(area):
            inside = mouse is not None and place.holds(*mouse)
            held = self._held is not None and self._held[0] is control
            found += control.draw(place, mouse if inside or held else None)
            y = place.top + place.height + _GAP
        left, right = area.left + _PAD, area.left + area.width - _PAD
        for k, (name, one) in enumerate(self.series.items()):
            box, colour = (left, y + _PLOT, right, y), SERIES[k % len(SERIES)]
            found.append(Plot(name, one.times, one.values, box, colour, one.log))
            y += _PLOT + _GAP
        foot = area.top + area.height - _STATUS
        found.append(_filled(Area(area.left, foot - 4, area.width, _STATUS + 4)))
        for k, line in enumerate(self.status):
            at = np.array([left, foot + 15 * k], np.float32)
            found.append(Text(at, line, FAINT, 11.0))
        return found

    def _places(self, area: Area) -> Iterator[tuple[Control, Area]]:
        y = area.top + _PAD - self._scrolled
        for control in self.controls:
            yield control, Area(area.left + _PAD, y, area.width - 2 * _PAD, control.height)
            y += control.height + _GAP


def _filled(area: Area) -> Boxes:
    low = np.array([[area.left, area.top]], np.float32)
    return Boxes(low, low + np.array([area.width, area.height], np.float32), PANEL)
