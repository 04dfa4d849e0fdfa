"""What an app and the process that has its window tell each other."""

from __future__ import annotations

from dataclasses import dataclass

from difftile.viewer.events import Event
from difftile.viewer.frame import Frame


@dataclass(frozen=True)
class Parcel:
    """A frame on its way.

    Args:
        frame: Without its panel where the window has that already.
        same_panel: Whether it has.
    """

    frame: Frame
    same_panel: bool


@dataclass(frozen=True)
class Report:
    """What the window has to say.

    Args:
        ready: Whether there is room for another frame since the last report.
        events: What happened, in order.
        fault: Why the last frame could not be drawn; None if it could.
    """

    ready: bool
    events: list[Event]
    fault: str | None = None
