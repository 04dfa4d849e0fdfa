"""Runs of training in a session that a test has started."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import difftile as dt


class Started:
    """The package as a run sees it whose `dt.init` only notes its options.

    Args:
        note: Takes them.
    """

    def __init__(self, note: Callable[[dict[str, Any]], object] = lambda options: None) -> None:
        self._note = note

    def init(self, **options: Any) -> None:
        """Note the options."""
        self._note(options)

    def __getattr__(self, name: str) -> Any:
        return getattr(dt, name)
