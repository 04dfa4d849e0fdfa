"""What happens in threads of a library, kept until the app asks for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from difftile.viewer.events import Event

Happening: TypeAlias = Event | Callable[[], object]


class Inbox:
    """A queue that any thread puts things into, and the app's thread takes out."""

    def __init__(self) -> None:
        self._waiting: deque[Happening | None] = deque()  # a deque is safe between threads

    @property
    def waiting(self) -> bool:
        """Whether there is anything to take out."""
        return bool(self._waiting)

    def add(self, *happenings: Happening | None) -> None:
        """Put events and actions in; what follows a None is taken out by a later call."""
        self._waiting.extend(happenings)

    def take(self) -> list[Event]:
        """Do the actions and return the events, in the order in which they came."""
        found: list[Event] = []
        for _ in range(len(self._waiting)):
            one = self._waiting.popleft()
            if one is None:
                break
            if callable(one):
                one()
            else:
                found.append(one)
        return found
