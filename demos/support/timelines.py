"""The timeline below a picture: forwards for the run, backwards for its gradient."""

from collections.abc import Iterable
from dataclasses import dataclass

import difftile as dt

INK, DIM, ORANGE, TEAL = "#e6e9ed", "#98a2ae", "#f2a65a", "#4db6ac"
_ARROW = 0.03  # its length, relative to the line


@dataclass(frozen=True, slots=True)
class Timeline:
    """Where a line of time lies in the plane of an app.

    Attributes:
        left: Where time begins.
        right: Where it ends.
        y: The height of the line.
    """

    left: float
    right: float
    y: float

    def draw(
        self, app: dt.viewer.App, now: float, end: float, back: bool, marks: Iterable[float] = ()
    ) -> None:
        """Show the elapsed time, and the direction of time.

        Args:
            app: The app to draw into.
            now: The fraction of time that is over.
            end: The point from which time goes back.
            back: Whether time goes back.
            marks: Further events in time.
        """

        def at(time: float) -> list[float]:
            return [self.left + (self.right - self.left) * time, self.y]

        app.lines([at(0.0), at(1.0)], colour=DIM)
        if back:
            app.lines([at(now), at(end)], colour=ORANGE, width=4.0)
        if places := [at(mark) for mark in marks]:
            app.points(places, colour=TEAL, radius=4.0)
        way = _ARROW * (self.right - self.left) * (-1 if back else 1)
        app.arrows([at(now)], [[way, 0.0]], colour=ORANGE if back else INK, width=3.0)
