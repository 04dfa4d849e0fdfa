"""State that all tapes of the process share."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from difftile.fields.field import Storage


class _Tapes:
    """Counts over all tapes, and whose turn it is to change gradients.

    Attributes:
        holders: A token for each tape that holds old values, and for each opaque step that runs.
            Only a tape that is the only one may write into memory that its records need, and undo
            that in reverse. A set, since threads add and remove tokens at any time.
        replays: How many backward passes there have been.
        pass_of: The thread whose backward pass runs, and the memory of those that it changes.
        turn: Held by a backward pass: two may add to the gradients of the same fields.
    """

    def __init__(self) -> None:
        self.holders: set[object] = set()
        self.replays = 0
        self.pass_of: tuple[int, set[Storage]] | None = None
        self.turn = threading.RLock()

    def works_on(self) -> set[Storage]:
        """Return the memory of the gradients that a backward pass of another thread changes."""
        running = self.pass_of
        if running is None or running[0] == threading.get_ident():
            return set()
        return set(running[1])


TAPES = _Tapes()
if hasattr(os, "register_at_fork"):  # a thread that holds it is not there in the child
    os.register_at_fork(after_in_child=TAPES.turn._at_fork_reinit)  # pyright: ignore
