"""Flow control between an app and the process that shows its frames: one message at a time."""

from __future__ import annotations

import sys
import time
from typing import Any, Generic, TypeVar

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.child_process import ChildProcess, Ended
from difftile.viewer.events import Close

_Event = TypeVar("_Event")


class FlowControl(Generic[_Event]):
    """The part that window and page share: sends a message only after the last one is shown.

    Args:
        place: "window" or "page", for the message that says how the process ended.

    Attributes:
        child: The process; None while the window or page is closed.
        arrived: Events that were received and not yet returned, in order.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self.child: ChildProcess | None = None
        self.arrived: list[_Event | Close] = []
        self._ready = True
        self._fault: str | None = None

    @property
    def closed(self) -> bool:
        """See `Backend`."""
        return self.child is None

    @property
    def ready(self) -> bool:
        """See `Backend`; a frame that is shown too early is dropped."""
        if not self._ready:
            self._receive()
        return self._ready

    def time(self) -> float:
        """See `Backend`."""
        return time.perf_counter()

    def close(self) -> None:
        """See `Backend`."""
        if self.child is not None:
            self.child.close()
            self.child = None
        self._ready, self._fault = True, None

    def _start(self, module: str, *words: object) -> Any:
        """Start the process and return its first message; raises `Ended`."""
        self.arrived = []
        self.child = ChildProcess(module, *words)
        return self.child.greeting

    def _can_send(self) -> bool:
        """Return whether a message may be sent now.

        Raises:
            ViewerError: The last message could not be drawn.
        """
        if not self.ready or self.child is None:
            return False
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise ViewerError(f"a shape cannot be drawn: {fault}")
        return True

    def _send(self, message: object) -> None:
        if self.child is not None:
            self._ready = False
            self.child.send(message)

    def _receive(self) -> None:
        """Take the reports that have arrived; a process that ended by itself counts as closed."""
        if self.child is None or Close() in self.arrived:
            return
        try:
            for report in self.child.receive():
                # A closed window does not report that the last frame is shown.
                self._ready = self._ready or report.ready or Close() in report.events
                self._fault = report.fault or self._fault
                self.arrived += report.events
        except Ended as ended:
            said = f"the {self._place} process {ended}; the app ends as if it had been closed"
            print(f"difftile: {said}", file=sys.stderr)
            self.arrived.append(Close())
            self._ready = True
