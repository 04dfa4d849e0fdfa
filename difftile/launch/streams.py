"""The streams of random numbers that launches take."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from difftile.substrate import Session


class Streams:
    """Counts the streams that launches have taken since difftile was started."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._next = 0

    def take(self, session: Session, count: int) -> tuple[int, int]:
        """Return the seed, and the first of some unused streams."""
        if session is not self._session:
            self._session, self._next = session, 0
        first = self._next
        self._next += count
        return _word(session.seed), _word(first)

    @contextmanager
    def given_back(self) -> Generator[None]:
        """Give back at the end the streams that were taken inside: the next launches take them."""
        before = self._session, self._next
        try:
            yield
        finally:
            self._session, self._next = before

    def position(self, session: Session) -> int:
        """Return the first unused stream."""
        return self._next if session is self._session else 0

    def go_back(self, session: Session, position: int) -> None:
        """Give the next launches the streams from an earlier position on."""
        self._session, self._next = session, position

    @contextmanager
    def again_from(self, session: Session, position: int) -> Generator[None]:
        """Give launches in the block the streams from an earlier position on."""
        with self.given_back():
            self.go_back(session, position)
            yield


STREAMS = Streams()


def _word(number: int) -> int:
    """Return the low 32 bits, as a signed number."""
    return (number + 2**31) % 2**32 - 2**31
