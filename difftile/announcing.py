"""The first line of a demo: what it shows, and about how long it takes.

`difftile demo` prints it before it imports the demo, which takes most of a second, on a busy
machine several; a demo that is started in another way prints it itself.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from difftile.ticking import clock_time

DURATIONS = Path("demos") / "support" / "durations.txt"
"""In the folder of `demos` and `scenes`; `benchmarks/first_minutes.py --record` writes it."""

_announced: set[str] = set()


@contextmanager
def announced(name: str, summary: str | None, folder: Path) -> Generator[None]:
    """Announce a demo, which does not announce itself inside the block; None for no summary."""
    if summary is not None:
        announce(name, summary, folder)
    _announced.add(name)
    try:
        yield
    finally:
        _announced.discard(name)


def announce(name: str, summary: str, folder: Path) -> None:
    """Print what a demo shows and about how long it takes, unless that was done.

    Of several ranks, only the first one prints.

    Args:
        name: The demo.
        summary: The first line of its docstring.
        folder: One with the packages `demos` and `scenes`.
    """
    ranks: Any = import_module("difftile.ranks.first")  # loads NumPy, which --list does without
    if name in _announced or not ranks.is_first():
        return
    took = durations(folder).get(name)
    end = "" if took is None else f" Takes {_rounded(took)} of processor time."
    print(f"{name}: {summary}{end}", flush=True)


def durations(folder: Path) -> dict[str, str]:
    """Return the processor time that demos take with their defaults and without caches [s].

    A ">" before it says that the demo was stopped then.

    Args:
        folder: One with the packages `demos` and `scenes`.
    """
    file = folder / DURATIONS
    rows = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {name: seconds for name, seconds in map(str.split, rows)}


def _rounded(took: str) -> str:
    """Return a duration to 10 s, or to a minute: it varies by a factor between machines."""
    seconds = float(took.removeprefix(">"))
    unit = 10 if seconds < 100.0 else 60
    time = clock_time(max(unit * round(seconds / unit), 5))
    return f"{'more than' if took.startswith('>') else 'about'} {time} (minutes:seconds)"
