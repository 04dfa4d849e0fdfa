"""A backend without a display: the app runs the same, and its pictures can be read or written."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from difftile.viewer.events import Event
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel


class NullBackend:
    """A backend that draws pictures and reports no events; scripts pass `app.run(events=...)`.

    Attributes:
        image: The last picture, shape (height, width, 3); None before the first.
    """

    def __init__(self) -> None:
        self.image: npt.NDArray[np.uint8] | None = None
        self._closed = False
        self._shown = 0

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def ready(self) -> bool:
        """Always true: frames are drawn at once."""
        return True

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """Return False: the picture shows the controls."""
        return False

    def open(self, title: str, width: int, height: int) -> None:
        """Start a run."""
        self._closed = False
        self._shown = 0

    def poll(self) -> list[Event]:
        """Return no events."""
        return []

    def show(self, frame: Frame) -> None:
        """Draw the frame and keep the picture."""
        self.image = frame.image()
        self._shown += 1

    def time(self) -> float:
        """Return a time that advances by 1/30 s per picture, so that runs are reproducible."""
        return self._shown / 30.0

    def close(self) -> None:
        """End the run."""
        self._closed = True
