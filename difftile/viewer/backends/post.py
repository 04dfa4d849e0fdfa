"""What an app and the process that shows its frames tell each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from difftile.viewer.frame import Frame

_Happening = TypeVar("_Happening")


@dataclass(frozen=True)
class Parcel:
    """A frame on its way to a window.

    Args:
        frame: Without its panel where the window has that already.
        same_panel: Whether it has.
    """

    frame: Frame
    same_panel: bool


@dataclass(frozen=True)
class Report(Generic[_Happening]):
    """What the window or the page has to say.

    Args:
        ready: Whether there is room for another frame since the last report.
        happened: What happened, in order.
        fault: Why the last frame could not be drawn; None if it could.
    """

    ready: bool
    happened: list[_Happening]
    fault: str | None = None
