"""Events from the thread of viser, kept until the page process reports them."""

from __future__ import annotations

from collections import deque

from difftile.viewer.backends.messages import PageEvent


class Inbox:
    """A queue of events between two threads."""

    def __init__(self) -> None:
        self._events: deque[PageEvent] = deque()  # whose methods are atomic

    def add(self, *events: PageEvent) -> None:
        """Append events."""
        self._events.extend(events)

    def take(self) -> list[PageEvent]:
        """Remove and return all events, in the order of arrival."""
        return [self._events.popleft() for _ in range(len(self._events))]
