"""Who hears when gradients change: prepared launches, and other threads that keep gradients."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from typing import ClassVar

from difftile.fields.storage import Storage
from difftile.substrate import LOCK


class GradientBuffers:
    """Counts how often gradient buffers were exchanged, so that prepared launches notice."""

    epoch = 0


GRADIENTS = GradientBuffers()


class GradientGuard:
    """Hears which gradients other threads change while a thread keeps all of them as they are.

    Attributes:
        others: The memory of those gradients, which is theirs.
    """

    open: ClassVar[weakref.WeakSet[GradientGuard]] = weakref.WeakSet()
    """The guards of all threads."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self.others: set[Storage] = set()

    @staticmethod
    def changes(gradients: Iterable[Storage]) -> None:
        """Tell the guards of other threads that this one changes the memory of some gradients."""
        here = threading.get_ident()
        with LOCK:
            for guard in list(GradientGuard.open):
                if guard._thread != here:
                    guard.others.update(gradients)
