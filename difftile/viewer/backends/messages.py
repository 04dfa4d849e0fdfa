"""What an app and the process of its page tell each other: plain data, which can be pickled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from difftile.viewer.events import Event
from difftile.viewer.frame import Frame

_Event = TypeVar("_Event")


@dataclass(frozen=True, slots=True)
class SliderState:
    """A slider; `fraction` is where its knob is, from 0 to 1, and `whole` says that it counts."""

    label: str
    low: float
    high: float
    step: float | None
    log: bool
    whole: bool
    value: float
    fraction: float


@dataclass(frozen=True, slots=True)
class CheckboxState:
    """A box to tick."""

    label: str
    value: bool


@dataclass(frozen=True, slots=True)
class ChoiceState:
    """One of several options, each of which has a name of its own; `value` is its index."""

    label: str
    options: tuple[str, ...]
    value: int


@dataclass(frozen=True, slots=True)
class ButtonsState:
    """Buttons side by side, and what they are about."""

    label: str
    texts: tuple[str, ...]


ControlState: TypeAlias = SliderState | CheckboxState | ChoiceState | ButtonsState


@dataclass(frozen=True, slots=True)
class PlotState:
    """A curve with few points, and what is said of it.

    Args:
        said: Its name, its last value and the range of all.
        x: Shape (n,).
        y: Likewise.
        log: Show a logarithmic axis.
    """

    said: str
    x: Any
    y: Any
    log: bool


@dataclass(frozen=True, slots=True)
class PageUpdate:
    """What the page is to show: what is not there has not changed.

    Args:
        frame: The scene.
        controls: By their places.
        plots: By their names.
        keys: What they do.
    """

    frame: Frame
    controls: dict[int, ControlState] = field(default_factory=dict[int, ControlState])
    plots: dict[str, PlotState] = field(default_factory=dict[str, PlotState])
    keys: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ControlChange:
    """A person has changed a control.

    Args:
        which: Its place.
        value: What there is now: a number, whether it is ticked, the index of an option, or the one
            of the button that was pressed.
    """

    which: int
    value: float


# What happens on the page; what follows a None is for the next time that the app asks.
PageEvent: TypeAlias = Event | ControlChange | None


@dataclass(frozen=True)
class WindowUpdate:
    """A frame on its way to a window.

    Args:
        frame: Without its panel where the window has that already.
        same_panel: Whether it has.
    """

    frame: Frame
    same_panel: bool


@dataclass(frozen=True)
class DisplayReport(Generic[_Event]):
    """What the window or the page has to say.

    Args:
        ready: Whether there is room for another frame since the last report.
        happened: What happened, in order.
        fault: Why the last frame could not be drawn; None if it could.
    """

    ready: bool
    happened: list[_Event]
    fault: str | None = None
