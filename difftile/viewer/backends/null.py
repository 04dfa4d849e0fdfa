"""No window at all: the app runs the same, and its pictures can be looked at or written."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difftile.viewer.events import Event


class NullBackend:
    """Shows nothing and reports nothing; what happens is what `app.run(events=...)` says.

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

    def open(self, title: str, width: int, height: int) -> None:
        """Begin; nothing is needed."""
        self._closed = False
        self._shown = 0

    def poll(self) -> list[Event]:
        """Return nothing: nobody is there."""
        return []

    def show(self, image: npt.NDArray[np.uint8]) -> None:
        """Keep the picture."""
        self.image = image
        self._shown += 1

    def time(self) -> float:
        """Return a time that goes on by 1/30 s a picture, so that runs repeat exactly."""
        return self._shown / 30.0

    def close(self) -> None:
        """End."""
        self._closed = True
