"""Progress bars, and the one place that decides whether there is a reader for them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

from tqdm import tqdm

from difftile.ranks import is_first


def progress_bar(
    *args: Any,
    desc: str,
    unit: str,
    total: int | None = None,
    initial: int = 0,
    leave: bool = True,
    shown: bool = True,
) -> tqdm[Any]:
    """A bar of tqdm on stderr, in a terminal or a notebook; elsewhere it shows nothing.

    Of several ranks, only the first one shows it.

    In a notebook it is a widget if `ipywidgets` is installed, as with `tqdm.auto`.

    A bar rewrites its line, which fills log files and pipes with copies of it.

    Args:
        args: What to iterate over, if anything.
        desc: The text before the bar.
        unit: The name of one step.
        total: The number of steps; None if it is unknown or the length of the iterable.
        initial: The number of steps that are done already.
        leave: Keep the bar on the screen after the last step.
        shown: Show the bar at all.
    """
    hidden = not (shown and is_first() and _has_reader())
    bar: type[tqdm[Any]] = tqdm
    if _in_notebook() and importlib.util.find_spec("ipywidgets") is not None:
        bar = importlib.import_module("tqdm.notebook").tqdm
    return bar(
        *args, desc=desc, unit=unit, total=total, initial=initial, leave=leave, disable=hidden
    )


def show_status(text: str) -> None:
    """Show a line on a terminal in place of the one before, or of a bar; '' removes it."""
    if is_first() and _has_reader() and not _in_notebook():
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def _has_reader() -> bool:
    """Return whether stderr is a terminal or the output of a notebook's cell."""
    if _in_notebook():
        return True
    return sys.stderr is not None and sys.stderr.isatty()  # pythonw.exe has no stderr


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
