"""A clock at the right edge of the terminal: a program is at work, whatever it does.

Compilers hold Python's lock for seconds, so that no thread could draw it. This file is therefore
also a program, which a process of its own runs; it imports nothing else of difftile.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

WIDTH = 9  # of the clock, with a blank before it: 9:59:59
_NARROWEST = 40  # terminals below this have no room for a clock
_USUAL = 80  # of terminals that do not know their width, and say 0


@contextmanager
def ticking(*, shown: bool = True) -> Generator[None]:
    """Show each second, on a terminal, how long the block has run.

    The clock leaves the cursor and the rest of the line alone. It is not shown on terminals without
    control sequences (TERM=dumb), nor outside of POSIX.

    Args:
        shown: Show it at all.
    """
    if not (shown and _has_clock()):
        yield
        return
    clock = subprocess.Popen([sys.executable, "-I", "-S", __file__], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        assert clock.stdin is not None
        clock.stdin.close()
        try:
            clock.wait(1.0)
        except subprocess.TimeoutExpired:  # the terminal takes no more text
            clock.kill()
            clock.wait()


def columns() -> int:
    """Return how many columns bars and status lines may fill, next to the clock."""
    return _columns() - WIDTH


def _columns() -> int:
    try:
        return os.get_terminal_size(2).columns or _USUAL
    except OSError:
        return _USUAL


def _has_clock() -> bool:
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    return os.name == "posix" and not dumb and os.isatty(2) and _columns() >= _NARROWEST


def _tick() -> None:
    """Draw until the other end of stdin is closed, which the end of its process does as well."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program
    started, seconds = time.monotonic(), 0
    while not select.select([0], [], [], started + seconds + 1 - time.monotonic())[0]:
        seconds += 1
        _draw(clock_time(seconds))
    _draw("")


def clock_time(seconds: int) -> str:
    """Return a duration as a clock shows it: '0:07' or '1:02:07'."""
    minutes, hours = seconds // 60, seconds // 3600
    return (
        f"{hours}:{minutes % 60:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
    )


def _draw(text: str) -> None:
    """Write over the right end of the line, and put the cursor back."""
    column = _columns() - WIDTH + 1
    with suppress(OSError):  # the terminal was closed
        os.write(2, f"\x1b7\x1b[{column}G\x1b[K{text:>{WIDTH}}".rstrip(" ").encode() + b"\x1b8")


if __name__ == "__main__":
    _tick()
