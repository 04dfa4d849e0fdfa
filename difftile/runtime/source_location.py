"""Lines of the user's Python, for errors."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import FunctionType

from difftile.diagnostics import Span

_LIBRARY = str(Path(__file__).parents[1])


def caller() -> tuple[str, int]:
    """Return the file and line of the running code outside the library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def span_of(file: str, line: int) -> Span:
    """Return the span of a whole line."""
    text = linecache.getline(file, line).rstrip("\n")
    indent = len(text) - len(text.lstrip())
    return Span(file, line, indent, max(indent + 1, len(text)), text)


def definition_of(function: FunctionType) -> Span:
    """Return the span of the line that begins a function, below its decorators."""
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    while linecache.getline(file, line).lstrip().startswith("@"):
        line += 1
    return span_of(file, line)
