"""Warnings of ranks: the same warning of several ranks is shown once, by the first of them."""

from __future__ import annotations

import sys
import threading
import warnings
from typing import TextIO

from difftile.ranks.watch import Watch

_DELAY = 1.0  # until a warning is shown that a rank before may have, too [s]


class Warned:
    """The warnings of one rank.

    Rank 0 shows its own at once. Other ranks wait for a moment, and show the warnings that no rank
    before them has announced, with the rank before each line.

    Args:
        watch: The connections of the rank.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._waiting: list[tuple[str, str]] = []
        self._lock = threading.Lock()
        self._show = warnings.showwarning
        warnings.showwarning = self._take

    def _take(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if file is not None:
            self._show(message, category, filename, lineno, file, line)
            return
        place = f"{category.__name__} {filename}:{lineno}"
        self._watch.warn(place)
        if self._watch.rank == 0:
            self._show(message, category, filename, lineno, file, line)
            return
        text = warnings.formatwarning(message, category, filename, lineno, line)
        with self._lock:
            first = not self._waiting
            self._waiting.append((place, text))
        if first:
            timer = threading.Timer(_DELAY, self.show)
            timer.daemon = True
            timer.start()

    def show(self) -> None:
        """Show the warnings that wait, and have not been announced by a rank before this one."""
        rank = self._watch.rank
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for place, text in waiting:
            if self._watch.warned.get(place, rank) >= rank:
                sys.stderr.write("".join(f"[rank {rank}] {one}\n" for one in text.splitlines()))
        sys.stderr.flush()
