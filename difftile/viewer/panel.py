"""The panel next to the scene: controls from top to bottom, plots and the status."""

from __future__ import annotations

from collections.abc import Iterator

from difftile.viewer.boxes import at, filled
from difftile.viewer.controls import Control
from difftile.viewer.primitives import Plot, Primitive, Text
from difftile.viewer.screen import Area
from difftile.viewer.series import Series
from difftile.viewer.theme import FAINT, PANEL, SERIES

WIDTH = 240.0  # [px]
_PAD = 14.0  # between the edge and the controls [px]
_GAP = 6.0  # between two controls [px]
_PLOT = 112.0  # height of a plot [px]
_STATUS = 34.0  # height of the two lines at the bottom [px]
_NOTCH = 40.0  # scrolled by one notch of the wheel [px]


class Panel:
    """A column of controls and plots.

    Attributes:
        controls: From top to bottom.
        series: The plots below them, by name.
        status: The two lines at the bottom.
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
        """Handle a press of the mouse in the panel."""
        for control, place in self._places(area):
            if place.holds(x, y) and y < area.top + area.height - _STATUS:
                self._held = (control, place)
                control.press(place, x, y)

    def move(self, x: float, y: float) -> None:
        """Pass a move of the mouse to the control that holds it."""
        if self._held is not None:
            control, place = self._held
            control.drag(place, x, y)

    def release(self) -> None:
        """Release the mouse."""
        self._held = None

    def scroll(self, area: Area, amount: float) -> None:
        """Scroll the column if it is higher than the panel."""
        content = sum(control.height + _GAP for control in self.controls)
        content += (_PLOT + _GAP) * len(self.series) + 2 * _PAD + _STATUS
        most = max(content - area.height, 0.0)
        self._scrolled = min(max(self._scrolled - _NOTCH * amount, 0.0), most)

    def draw(self, area: Area, mouse: tuple[float, float] | None) -> list[Primitive]:
        """Return the shapes of the panel in an area; `mouse` is its position, if known."""
        found: list[Primitive] = [filled(area, PANEL)]
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
        found.append(filled(Area(area.left, foot - 4, area.width, _STATUS + 4), PANEL))
        for k, line in enumerate(self.status):
            found.append(Text(at(left, foot + 15 * k), line, FAINT, 11.0))
        return found

    def _places(self, area: Area) -> Iterator[tuple[Control, Area]]:
        y = area.top + _PAD - self._scrolled
        for control in self.controls:
            yield control, Area(area.left + _PAD, y, area.width - 2 * _PAD, control.height)
            y += control.height + _GAP
