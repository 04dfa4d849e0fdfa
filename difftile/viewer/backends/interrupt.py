"""Ctrl+C, and the stop button of notebooks, as a request to close a viewer."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interrupt:
    """Catches the first interrupt between `begin` and `end`; a second one interrupts the program.

    Attributes:
        came: Whether the first one has come.
    """

    def __init__(self) -> None:
        self.came = False
        self._former: Any = None

    def begin(self) -> None:
        """Catch interrupts; only the main thread may, and elsewhere nothing changes."""
        self.came = False
        if threading.current_thread() is threading.main_thread():
            self._former = signal.signal(signal.SIGINT, self._take)

    def end(self) -> None:
        """Let interrupts act as before; a second call has no effect."""
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)
            self._former = None

    def _take(self, _: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGINT, self._former)
        self.came = True
