"""What an app asks of a backend: a place to show pictures, which reports events."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from difftile.viewer.events import Event


class Backend(Protocol):
    """A window, a page or nothing at all. One is made without arguments and opened once."""

    @property
    def closed(self) -> bool:
        """Whether the person has closed it, or `close` was called."""
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

    def show(self, image: npt.NDArray[np.uint8]) -> None:
        """Show a picture, shape (height, width, 3), row 0 at the top; it may be kept no longer."""
        ...

    def time(self) -> float:
        """Return the time by which frames are paced [s]."""
        ...

    def close(self) -> None:
        """Close the window; a second call does nothing."""
        ...
