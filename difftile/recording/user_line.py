"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_LIBRARY = str(Path(__file__).parents[1])


def warn_user(warning: Warning) -> None:
    """Warn at the innermost line outside the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)
