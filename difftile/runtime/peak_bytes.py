"""The most memory that the records of a tape have taken."""

from __future__ import annotations

from difftile.substrate import Pool, current_session


class PeakBytes:
    """The bytes of kept contents at their peak, in stretches of time that are measured.

    Attributes:
        most: The most so far, in the stretches that have ended.
    """

    def __init__(self) -> None:
        self.most = 0
        self._base = 0
        self._pool: Pool | None = None

    def begin(self) -> None:
        """Begin a stretch; the first one says in which session the others are."""
        if self._pool is None:
            self._pool = current_session().pool
        self._base = self._pool.peak = self._pool.kept

    @property
    def now(self) -> int:
        """The most in the present stretch."""
        return 0 if self._pool is None else self._pool.peak - self._base

    def note(self, before: int = 0) -> None:
        """End a stretch, before which so many bytes were kept."""
        self.most = max(self.most, self.now + before)
