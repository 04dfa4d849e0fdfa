"""Which pass over recorded steps runs, for steps that hold something from one record to another."""

from __future__ import annotations

import threading


class _PassOfThread(threading.local):
    number = 0


_PASSES = _PassOfThread()


def begin_pass() -> None:
    """Note that a pass begins in this thread."""
    _PASSES.number += 1


def number_of_pass() -> int:
    """Return a number that stays the same until a pass begins in this thread."""
    return _PASSES.number
