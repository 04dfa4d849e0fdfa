"""Errors of Taichi to errors of difftile: the user's line, and what Taichi said, once."""

from __future__ import annotations

import re
from collections.abc import Callable

from difftile.diagnostics import CompileError, Span
from difftile.ir.nodes import Program
from difftile.ir.walk import walk
from difftile.substrate.emit import Emitted


def translated(
    emitted: Emitted, program: Program, error: Exception, again: Callable[[], object]
) -> CompileError:
    """Return the error for a source that Taichi did not compile.

    Args:
        emitted: The source.
        program: What it was emitted from.
        error: What Taichi raised.
        again: Compiles the source once more, with places in what Taichi raises.
    """
    try:
        again()
        place = None
    except Exception as plain:
        place = _user_line(emitted, str(plain))
    return CompileError(
        f"Taichi could not compile the source of '{emitted.name}'.",
        _span(program, place),
        "from here",
        notes=[said(error)],
        hint="this is a fault of difftile: please report it with kernel.source().",
    )


def said(error: Exception) -> str:
    """Return the last line of what Taichi said, without a place in emitted source."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _user_line(emitted: Emitted, text: str) -> int | None:
    """Return the user's line, which stands at the end of the emitted one."""
    places = re.findall(r'File "<difftile [^"]*", line (\d+)', text)
    lines = emitted.text.splitlines()
    for place in reversed(places):
        if int(place) <= len(lines):
            found = re.search(r"# (\d+)$", lines[int(place) - 1])
            if found is not None:
                return int(found[1])
    return None


def _span(program: Program, line: int | None) -> Span | None:
    spans = (stmt.span for stmt in walk(program.body))
    return next((span for span in spans if span is not None and span.line == line), None)
