"""Messages between an app and the process that shows its frames: plain data, which is pickled."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from difftile.viewer.events import Event
from difftile.viewer.frame import Frame

_Event = TypeVar("_Event")


@dataclass(frozen=True, slots=True)
class SliderState:
    """A slider; its knob is at `fraction`, from 0 to 1, and `whole` marks integers."""

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
    """A checkbox."""

    label: str
    value: bool


@dataclass(frozen=True, slots=True)
class ChoiceState:
    """A choice among options with distinct names; `value` is the index of the chosen one."""

    label: str
    options: tuple[str, ...]
    value: int


@dataclass(frozen=True, slots=True)
class ButtonsState:
    """Buttons side by side, under one label."""

    label: str
    texts: tuple[str, ...]


ControlState: TypeAlias = SliderState | CheckboxState | ChoiceState | ButtonsState


@dataclass(frozen=True, slots=True)
class PlotState:
    """A curve with few points.

    Args:
        said: The caption: name, last value and range.
        x: Shape (n,).
        y: Shape (n,).
        log: Show a logarithmic axis.
    """

    said: str
    x: Any
    y: Any
    log: bool


@dataclass(frozen=True, slots=True)
class PageUpdate:
    """The next frame of a page, and the changes since the update before.

    Args:
        frame: The scene.
        controls: Changed controls, by position.
        plots: Changed plots, by name.
        keys: New keys and their descriptions.
    """

    frame: Frame
    controls: dict[int, ControlState] = field(default_factory=dict[int, ControlState])
    plots: dict[str, PlotState] = field(default_factory=dict[str, PlotState])
    keys: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class WindowUpdate:
    """The next frame of a window.

    Args:
        frame: The frame, without a panel that the window has already.
        same_panel: Whether the panel is the same as in the frame before.
    """

    frame: Frame
    same_panel: bool


@dataclass(frozen=True, slots=True)
class ControlChange:
    """A change that a person made to a control on the page.

    Args:
        which: The position of the control.
        value: Its new value: a number, a truth value, or the index of an option or a button.
    """

    which: int
    value: float


# An event on the page; None ends the events of one call of `poll`.
PageEvent: TypeAlias = Event | ControlChange | None


@dataclass(frozen=True)
class DisplayReport(Generic[_Event]):
    """The answer of a window or page.

    Args:
        ready: Whether there is room for another frame since the last report.
        events: The events since then, in order.
        fault: Why the last frame could not be drawn, or None.
    """

    ready: bool
    events: list[_Event]
    fault: str | None = None


class Inbox:
    """A queue of events from the thread of viser, kept until the page process reports them."""

    def __init__(self) -> None:
        self._events: deque[PageEvent] = deque()  # whose methods are atomic

    def add(self, *events: PageEvent) -> None:
        """Append events."""
        self._events.extend(events)

    def take(self) -> list[PageEvent]:
        """Remove and return all events, in the order of arrival."""
        return [self._events.popleft() for _ in range(len(self._events))]
