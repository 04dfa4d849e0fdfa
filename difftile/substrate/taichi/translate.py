"""Errors of Taichi to errors of difftile, with the user's line and the last line of the message."""

from __future__ import annotations

import re
from collections.abc import Callable

from difftile.diagnostics import CompileError
from difftile.ir.nodes import Program
from difftile.ir.walk import walk
from difftile.substrate.emit import Emitted


def translated(
    emitted: Emitted, program: Program, error: Exception, again: Callable[[], object]
) -> CompileError:
    """Return the error for a source that Taichi did not compile.

    Args:
        emitted: The source.
        program: The program of the source.
        error: Taichi's error.
        again: Compiles the source once more, with places in Taichi's errors.
    """
    try:
        again()
        line = None
    except Exception as plain:
        line = _user_line(emitted, str(plain))
    spans = (stmt.span for stmt in walk(program.body) if stmt.span is not None)
    return CompileError(
        f"Taichi could not compile the source of '{emitted.name}'.",
        next((span for span in spans if span.line == line), None),
        "from here",
        notes=[said(error)],
        hint="this is a fault of difftile: please report it with kernel.source().",
    )


def said(error: Exception) -> str:
    """Return the last line of a message of Taichi, which has no place in emitted source."""
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
