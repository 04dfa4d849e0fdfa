"""State that all tapes of the process share."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from difftile.fields.field import Storage


class Turn:
    """A lock for one backward pass at a time: two may add to the gradients of the same fields.

    While a pass runs code of the user, that code may wait for another thread, such as one of
    torch's autograd, that runs a private pass: one that changes no gradients of fields. Such a pass
    takes `private()`, and the pass that waits goes on when the private ones are done.
    """

    def __init__(self) -> None:
        # The last lock is for private passes: the lock of all passes, or another one for passes
        # that a waiting pass depends on. A thread notes the locks that it holds.
        self._locks = [threading.RLock()]
        self._own = threading.local()

    @contextmanager
    def whole(self) -> Generator[None]:
        """Wait for the turn of a pass that may change any gradient."""
        with self._taken(self._locks[0]):
            yield

    @contextmanager
    def private(self) -> Generator[None]:
        """Wait for the turn of a private pass."""
        while True:
            lock = self._locks[-1]
            with self._taken(lock):
                if lock is self._locks[-1]:
                    yield
                    return

    @contextmanager
    def lent(self) -> Generator[None]:
        """Let private passes of other threads run, if this thread has the turn."""
        if self._locks[-1] not in self._held:
            yield
            return
        lock = threading.RLock()
        self._locks.append(lock)
        try:
            yield
        finally:
            with lock:
                self._locks.remove(lock)

    def reset(self) -> None:
        """Forget the locks of threads that a forked child does not have."""
        self.__init__()

    @property
    def _held(self) -> list[threading.RLock]:
        found: list[threading.RLock] | None = getattr(self._own, "locks", None)
        if found is None:
            found = self._own.locks = []
        return found

    @contextmanager
    def _taken(self, lock: threading.RLock) -> Generator[None]:
        held = self._held
        with lock:
            held.append(lock)
            try:
                yield
            finally:
                held.pop()


class _Tapes:
    """Counts over all tapes, and whose turn it is to change gradients.

    Attributes:
        holders: A token for each tape that holds old values, and for each opaque step that runs.
            Only a tape that is the only one may write into memory that its records need, and undo
            that in reverse. A set, since threads add and remove tokens at any time.
        replays: How many backward passes there have been.
        pass_of: The thread whose backward pass runs, and the memory of the gradients it changes.
        turn: Held by a backward pass.
    """

    def __init__(self) -> None:
        self.holders: set[object] = set()
        self.replays = 0
        self.pass_of: tuple[int, set[Storage]] | None = None
        self.turn = Turn()

    def works_on(self) -> set[Storage]:
        """Return the memory of the gradients that a backward pass of another thread changes."""
        running = self.pass_of
        if running is None or running[0] == threading.get_ident():
            return set()
        return set(running[1])


TAPES = _Tapes()
if hasattr(os, "register_at_fork"):  # a thread that holds it is not there in the child
    os.register_at_fork(after_in_child=TAPES.turn.reset)
