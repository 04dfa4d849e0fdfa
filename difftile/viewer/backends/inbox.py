"""What happens in a thread of viser, kept until it is reported."""

from __future__ import annotations

from collections import deque

from difftile.viewer.backends.messages import PageEvent


class Inbox:
    """A queue between two threads."""

    def __init__(self) -> None:
        self._waiting: deque[PageEvent] = deque()  # whose methods no other thread interrupts

    def add(self, *happened: PageEvent) -> None:
        """Put something in."""
        self._waiting.extend(happened)

    def take(self) -> list[PageEvent]:
        """Take out what there is, in the order in which it came."""
        return [self._waiting.popleft() for _ in range(len(self._waiting))]
