"""What is counted over all tapes, and whose turn it is to change gradients."""

from __future__ import annotations

import os
import threading

# Held while a tape that opens sets gradients to zero, and while a backward pass adds to them: both
# may touch the gradients of any field. It is not held for as long as a tape records.
TURN = threading.RLock()
if hasattr(os, "register_at_fork"):  # a thread that holds it is not there in the child
    os.register_at_fork(after_in_child=TURN._at_fork_reinit)  # pyright: ignore


class Live:
    """How many tapes hold old values; so do steps of tapes while they run."""

    tapes = 0


class Replays:
    """Counts the backward passes of all tapes."""

    count = 0


LIVE = Live()
REPLAYS = Replays()
