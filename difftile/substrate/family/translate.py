"""Errors of the compiler to errors of difftile, with the user's line and the end of the message."""

from __future__ import annotations

import re

from difftile.diagnostics import CompileError
from difftile.ir.nodes import Program
from difftile.ir.walk import walk
from difftile.substrate.compiler import private
from difftile.substrate.emit import Emitted


def translated(
    emitted: Emitted, program: Program, error: Exception, at: int | None
) -> CompileError:
    """Return the error for a source that the compiler refused.

    Args:
        emitted: The source.
        program: The program of the source.
        error: The compiler's error.
        at: The number of the line of the source, if that is known.
    """
    line = None if at is None else _user_line(emitted, at)
    spans = (stmt.span for stmt in walk(program.body) if stmt.span is not None)
    return CompileError(
        f"{private.NAME} could not compile the source of '{emitted.name}'.",
        next((span for span in spans if span.line == line), None),
        "from here",
        notes=[said(error)],
        hint="this is a fault of difftile: please report it with kernel.source().",
    )


def said(error: Exception) -> str:
    """Return the last line of a message of the compiler, which has no place in emitted source."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _user_line(emitted: Emitted, at: int) -> int | None:
    """Return the user's line, which stands at the end of the emitted one."""
    found = re.search(r"# (\d+)$", emitted.text.splitlines()[at - 1])
    return None if found is None else int(found[1])
