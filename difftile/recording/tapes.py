"""State that all tapes of the process share."""

from __future__ import annotations

import os
import threading


class _Tapes:
    """Counts over all tapes, and whose turn it is to change gradients.

    Attributes:
        live: How many tapes hold old values; so do opaque steps while they run. Only a tape that is
            the only one may write into memory that its records need, and undo that in reverse.
        replays: How many backward passes there have been.
        turn: Held by a backward pass: two may add to the gradients of the same fields.
    """

    def __init__(self) -> None:
        self.live = 0
        self.replays = 0
        self.turn = threading.RLock()


TAPES = _Tapes()
if hasattr(os, "register_at_fork"):  # a thread that holds it is not there in the child
    os.register_at_fork(after_in_child=TAPES.turn._at_fork_reinit)  # pyright: ignore
