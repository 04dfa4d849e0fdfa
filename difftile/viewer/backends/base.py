"""What an app asks of a backend: a place to show pictures, which reports events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from difftile.viewer.events import Event
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel


class Backend(Protocol):
    """A window, a page or nothing at all. One is made without arguments and opened once."""

    @property
    def closed(self) -> bool:
        """Whether the person has closed it, or `close` was called."""
        ...

    @property
    def ready(self) -> bool:
        """Whether it takes a frame now, so that they never pile up; one that is closed does."""
        ...

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """Get to know what can be changed, once, before it is opened.

        Args:
            panel: The controls, what is plotted and the status; all of them change during a run.
                They are looked at and changed in `poll` and `show` alone.
            keys: What each key does; it may grow.

        Returns:
            Whether controls and plots are shown by its own means. The picture then has none.
        """
        ...

    def open(self, title: str, width: int, height: int) -> None:
        """Open a window.

        Args:
            title: What its frame says.
            width: Of the pictures [px].
            height: Likewise.

        Raises:
            ViewerError: A display or a library is missing; one line says what to do.
        """
        ...

    def poll(self) -> list[Event]:
        """Return what happened since the last call, in order; never wait for it."""
        ...

    def show(self, frame: Frame) -> None:
        """Show a frame; it may be kept, and drawn later or elsewhere. Never wait for that."""
        ...

    def time(self) -> float:
        """Return the time by which frames are paced [s]."""
        ...

    def close(self) -> None:
        """Close the window; a second call does nothing."""
        ...
