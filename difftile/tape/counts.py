"""What is counted over all tapes."""

from __future__ import annotations


class Live:
    """How many tapes hold old values; so do steps of tapes while they run."""

    tapes = 0


class Replays:
    """Counts the backward passes of all tapes."""

    count = 0


LIVE = Live()
REPLAYS = Replays()
