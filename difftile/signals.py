"""Signals that ask a run to end, deferred to the end of a step."""

from __future__ import annotations

import signal
import threading
from typing import Any, final

# Ctrl-C, `kill` and schedulers of clusters, and a terminal that closes.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP


@final
class Signals:
    """Defers signals that end a program to the end of a step; a second one is not deferred.

    Signals that are ignored, as SIGHUP under `nohup`, stay so. In threads other than the main one
    nothing is deferred.

    Attributes:
        code: The exit code that a shell reports for a program ended by the signal that came, or 0.
    """

    def __init__(self) -> None:
        self.code = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for name in _NAMES:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._come)
        return self

    def __exit__(self, *_: object) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def _come(self, number: int, _: object) -> None:
        if self.code:
            raise KeyboardInterrupt
        self.code = 128 + number
