"""Programs at a terminal of their own."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress


def at_terminal(arguments: Sequence[str], columns: int = 80, **environment: str) -> str:
    """Run Python with arguments, and return what it wrote.

    Args:
        arguments: Of the interpreter.
        columns: The width of the terminal; new ones have 0.
        environment: Variables that differ.
    """
    import fcntl  # noqa: PLC0415  # these are missing on Windows
    import termios  # noqa: PLC0415

    outer, inner = os.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("4H", 24 if columns else 0, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(inner)
    written = b""
    with suppress(OSError):  # Linux says so where the other end has closed
        while said := os.read(outer, 65536):
            written += said
    os.close(outer)
    assert process.wait() == 0, written
    return written.decode()
