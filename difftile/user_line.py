"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import sysconfig
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from difftile.records import dataclass

_LIBRARY = str(Path(__file__).parent)


@cache
def _installed() -> tuple[str, ...]:
    """Return the folders of the library, and of others and Python."""
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")}
    return (_LIBRARY, *folders)


@dataclass(frozen=True, slots=True)
class UserLine:
    """A line of the user.

    Args:
        file: Its file.
        line: Its number.
        module: The name of its module.
        registry: Where the module keeps which warnings were shown.
    """

    file: str
    line: int
    module: str
    registry: dict[Any, Any]

    def warn(self, warning: Warning) -> None:
        """Warn at the line."""
        warnings.warn_explicit(
            warning, type(warning), self.file, self.line, self.module, self.registry
        )


def user_line() -> UserLine:
    """Return the innermost line of the user, or of another library where there is none."""
    frame = first = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_installed()):
        if first.f_code.co_filename.startswith(_LIBRARY):
            first = frame
        frame = frame.f_back
    frame = first if frame is None else frame
    known = frame.f_globals
    registry = known.setdefault("__warningregistry__", {})
    return UserLine(
        frame.f_code.co_filename, frame.f_lineno, known.get("__name__", "<unknown>"), registry
    )


def warn_user(warning: Warning) -> None:
    """Warn at the innermost line of the user."""
    user_line().warn(warning)
