"""The interface of backends: a place that shows pictures and reports events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from difftile.viewer.events import Event
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel


class Backend(Protocol):
    """A window, a page, or no display. Made without arguments and opened once."""

    @property
    def closed(self) -> bool:
        """Whether the person or `close` has closed the window."""
        ...

    @property
    def ready(self) -> bool:
        """Whether the backend takes a frame now, so that frames never pile up; true once closed."""
        ...

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """Receive the controls and keys of the app, once, before the window opens.

        Args:
            panel: The controls, plots and status, which change during a run. The backend reads and
                changes them only in `poll` and `show`.
            keys: The action of each key; may grow.

        Returns:
            Whether the backend shows controls and plots itself. The picture then has none.
        """
        ...

    def open(self, title: str, width: int, height: int) -> None:
        """Open a window.

        Args:
            title: The title of the window.
            width: Width of the pictures [px].
            height: Height of the pictures [px].

        Raises:
            ViewerError: A display or a library is missing; the message says what to do.
        """
        ...

    def poll(self) -> list[Event]:
        """Return the events since the last call, in order; never block."""
        ...

    def show(self, frame: Frame) -> None:
        """Show a frame, which may be kept and drawn later or in another process; never block."""
        ...

    def time(self) -> float:
        """Return the time that paces frames [s]."""
        ...

    def close(self) -> None:
        """Close the window; a second call has no effect."""
        ...
