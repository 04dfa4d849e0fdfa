"""How a rank waits for others: with a limit, and for as long as no rank has failed."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from difftile.diagnostics import RankError, counted, place
from difftile.ranks.watch import Watch

_NEWS = 1.0  # for the reason why a connection has ended [s]
_UNDER_WAY = 5.0  # for messages of a rank that has ended since [s]
_MOST = 8  # ranks whose places an error names
_LIBRARY = str(Path(__file__).parents[1]) + os.sep


class PeerFailed(RankError):
    """Another rank failed, and so this one cannot go on."""


class Waiting:
    """The waits of a rank, and its errors about them.

    Args:
        rank: This rank.
        size: The number of ranks.
        timeout: The limit of a wait [s].

    Attributes:
        watch: The connections by which ranks hear of failures; None without.
        begun: How often this rank has communicated.
        joined: How often with all ranks.
    """

    def __init__(self, rank: int, size: int, timeout: float) -> None:
        self.rank, self.size, self.timeout = rank, size, timeout
        self.watch: Watch | None = None
        self.begun = 0
        self.joined = 0
        self._steps: dict[int, tuple[str, Sequence[int], int]] = {}  # that threads wait in

    @contextmanager
    def step(self, what: str, peers: Sequence[int]) -> Generator[None]:
        """Say that this thread waits in a step for other ranks."""
        thread = threading.get_ident()
        outer = self._steps.get(thread)
        self._steps[thread] = what, peers, self.begun
        try:
            yield
        finally:
            if outer is None:
                self._steps.pop(thread, None)
            else:
                self._steps[thread] = outer

    def check(self, what: str, begun: float, peers: Sequence[int]) -> None:
        """Go on waiting, or not.

        Args:
            what: The step.
            begun: When the wait began, by `time.monotonic`.
            peers: The ranks that it is for; () for all.

        Raises:
            PeerFailed: A rank has failed.
            RankError: The time is up, or a rank has ended before it took part.
        """
        if self.watch is not None:
            if self.watch.failure is not None:
                raise PeerFailed(f"Rank {self.rank}: {what} cannot go on: {self.watch.failure}")
            gone = self._gone(peers)
            if gone:
                raise RankError(self._left(what, gone))
        if time.monotonic() - begun > self.timeout:
            raise RankError(self.late(what, peers))

    def late(self, what: str, peers: Sequence[int]) -> str:
        """Return the text of the error of a rank that has waited too long."""
        lines = [
            f"Rank {self.rank} has waited {self.timeout:g} s for {named(peers)} in {what}, "
            f"its communication {self.begun}."
        ]
        places = {} if self.watch is None else self.watch.ask()
        for rank in sorted(places, key=lambda one: (one not in peers, one))[:_MOST]:
            lines.append(f"  Rank {rank} {places[rank]}.")
        silent = [] if self.watch is None else [one for one in peers if one not in places]
        if silent:
            have = "has" if len(silent) == 1 else "have"
            begin = named(silent)
            lines.append(f"  {begin[0].upper()}{begin[1:]} {have} not answered.")
        lines.append(
            "  Hint: all ranks make the same calls in the same order; for steps that take longer, "
            "dist.start(timeout=...)."
        )
        return "\n".join(lines)

    def broken(self, what: str, peers: Sequence[int], reason: str) -> RankError:
        """Return the error of a wait that the engine has ended; `reason` is in its words."""
        watch, until = self.watch, time.monotonic() + _NEWS
        while watch is not None and time.monotonic() < until:
            if watch.failure is not None:
                return PeerFailed(f"Rank {self.rank}: {what} cannot go on: {watch.failure}")
            left = [one for one in peers or range(self.size) if one in watch.left]
            if left:
                return RankError(self._left(what, left))
            time.sleep(0.01)
        first = reason.strip().splitlines()[0] if reason.strip() else "no reason given"
        return RankError(f"Rank {self.rank}: {what} with {named(peers)} failed: {first}")

    def _gone(self, peers: Sequence[int]) -> list[int]:
        """Return the ranks that ended too early to take part in a step."""
        watch = self.watch
        if watch is None or not watch.left:
            return []
        left, before = dict(watch.left), time.monotonic() - _UNDER_WAY
        if not peers:
            return [rank for rank, (joined, _) in left.items() if joined < self.joined]
        return [rank for rank in peers if rank in left and left[rank][1] < before]

    def _left(self, what: str, gone: Sequence[int]) -> str:
        has = "it has" if len(gone) == 1 else "they have"
        return (
            f"Rank {self.rank} waits for {named(gone)} in {what}, its communication {self.begun}, "
            f"but {has} ended already."
        )

    def whereabouts(self) -> str:
        """Return where this rank is: the step in which it waits, or a line of its program."""
        main = threading.main_thread().ident or 0
        steps = dict(self._steps)
        if main in steps:
            what, peers, begun = steps[main]
            return f"waits for {named(peers)} in {what}, its communication {begun}"
        frames = sys._current_frames()  # the documented way
        frame = frames.get(main)
        while frame is not None and frame.f_code.co_filename.startswith((_LIBRARY, "<")):
            frame = frame.f_back
        after = f"after {counted(self.begun, 'communication')}"
        if frame is None:
            return f"is in difftile, {after}"
        return f"is at {place(frame.f_code.co_filename, frame.f_lineno)}, {after}"


def named(ranks: Sequence[int]) -> str:
    """Return the names of some ranks: 'rank 2', 'ranks 0 and 2', 'the other ranks'."""
    if not ranks:
        return "the other ranks"
    several = list(map(str, sorted(set(ranks))))
    if len(several) == 1:
        return f"rank {several[0]}"
    if len(several) > _MOST:
        return f"{len(several)} ranks from rank {several[0]} to rank {several[-1]}"
    return f"ranks {', '.join(several[:-1])} and {several[-1]}"
