"""Turns between an app and the process that shows its frames: whose it is, and what has come."""

from __future__ import annotations

import sys
import time
from typing import Any, Generic, TypeVar

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.child_process import ChildProcess, Ended
from difftile.viewer.backends.messages import DisplayReport
from difftile.viewer.events import Close

_Happening = TypeVar("_Happening")


class FlowControl(Generic[_Happening]):
    """The app's side. It sends something when it has been told that there is room for it.

    Args:
        place: What the process has, "window" or "page", for the line that says how it ended.

    Attributes:
        child: The process; None while there is none.
        happened: What has come and is not taken out yet, in order.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self.child: ChildProcess | None = None
        self.happened: list[_Happening | Close] = []
        self._ready = True
        self._fault: str | None = None

    @property
    def ready(self) -> bool:
        """Whether what was sent before is shown; so it is where nobody is left to show it."""
        if not self._ready:
            self.receive()
        return self._ready

    def open(self, module: str, *words: object) -> Any:
        """Start the process, as `ChildProcess` does, and return the first thing that it says.

        Raises:
            Ended: It does not start, or ends without a word.
        """
        self.happened = []
        self.child = ChildProcess(module, *words)
        return self.child.said

    def free(self) -> bool:
        """Tell whether something may be sent now.

        Raises:
            ViewerError: What was sent before could not be drawn.
        """
        if not self.ready or self.child is None:
            return False
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise ViewerError(f"a shape cannot be drawn: {fault}")
        return True

    def send(self, message: object) -> None:
        """Send something, for which it has to be free."""
        if self.child is not None:
            self._ready = False
            self.child.send(message)

    def receive(self) -> None:
        """Take what was reported; a process that has ended without a word was closed."""
        if self.child is None or Close() in self.happened:
            return
        try:
            for report in self.child.receive():
                self._take(report)
        except Ended as ended:
            said = f"the process of the {self._place} {ended}: the app ends as if it was closed"
            print(f"difftile: {said}", file=sys.stderr)
            self.happened.append(Close())
            self._ready = True

    def time(self) -> float:
        """Return the time by which frames are paced [s]."""
        return time.perf_counter()

    def close(self) -> None:
        """Have the process end; a second call does nothing."""
        if self.child is not None:
            self.child.close()
            self.child = None
        self._ready, self._fault = True, None

    def _take(self, report: DisplayReport[_Happening]) -> None:
        # One that is closed does not answer for the last frame.
        self._ready = self._ready or report.ready or Close() in report.happened
        self._fault = report.fault or self._fault
        self.happened += report.happened
