"""Progress bars, and the one place that decides whether there is a reader for them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from difftile.ranks import is_first
from difftile.ticking import columns

_SILENCE = 10.0  # between plain lines [s], at first
_ROWS = 20  # more than there are bars: a terminal that does not know its size says 0
_SHARE = 0.25  # of the time so far, which a later silence may take


class _Plain:
    """When the program has begun, and written its latest plain line."""

    started = latest = time.monotonic()


def progress_bar(
    *args: Any,
    desc: str,
    unit: str,
    total: int | None = None,
    initial: int = 0,
    leave: bool = True,
    shown: bool = True,
) -> tqdm[Any]:
    """A bar of tqdm on stderr, in a terminal or a notebook; elsewhere a plain line now and then.

    Of several ranks, only the first one shows it.

    In a notebook it is a widget if `ipywidgets` is installed, as with `tqdm.auto`.

    A bar rewrites its line, which would fill log files and pipes with copies of it. They get a line
    every ten seconds, and later fewer: one whenever a quarter more time has passed.

    Args:
        args: What to iterate over, if anything.
        desc: The text before the bar.
        unit: The name of one step.
        total: The number of steps; None if it is unknown or the length of the iterable.
        initial: The number of steps that are done already.
        leave: Keep the bar on the screen after the last step.
        shown: Show the bar at all.
    """
    hidden = not (shown and is_first())
    if not hidden and not _has_reader():
        return _Lines(*args, desc=desc, unit=unit, total=total, initial=initial)
    bar: type[tqdm[Any]] = tqdm
    if _in_notebook() and importlib.util.find_spec("ipywidgets") is not None:
        bar = importlib.import_module("tqdm.notebook").tqdm
    width = None if _in_notebook() else columns()
    return bar(
        *args,
        desc=desc,
        unit=unit,
        total=total,
        initial=initial,
        leave=leave,
        disable=hidden,
        ncols=width,
        nrows=_ROWS,
    )


def show_status(text: str) -> None:
    """Show a line on a terminal in place of the one before, or of a bar; '' removes it.

    Elsewhere it is a plain line, if there was none for some time.
    """
    if not is_first() or _in_notebook():
        return
    if _has_reader():
        print(f"\r{text[: columns()]}\x1b[K", end="", file=sys.stderr, flush=True)
    elif text:
        _say(text)


if TYPE_CHECKING:
    _Bar = tqdm[Any]
else:
    _Bar = tqdm


class _Lines(_Bar):
    """A bar for files and pipes."""

    def __init__(self, *args: Any, desc: str, unit: str, total: int | None, initial: int) -> None:
        super().__init__(*args, total=total, initial=initial, disable=True)
        self._label, self._unit, self._more = desc, unit, ""

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            yield item
            self.update()

    def update(self, n: float | None = 1) -> bool:
        """Count steps, and say so if it is time."""
        self.n += n or 0
        of = "" if self.total is None else f" of {self.total}"
        return _say(f"{self._label}: {self._unit} {self.n}{of}{self._more}")

    def set_description(self, desc: str | None = None, refresh: bool | None = True) -> None:
        """Set the text before the count."""
        self._label = desc or ""

    def set_postfix_str(self, s: str = "", refresh: bool | None = True) -> None:
        """Set the text after the count."""
        self._more = f", {s}" if s else ""

    def set_postfix(
        self, ordered_dict: Any = None, refresh: bool | None = True, **more: Any
    ) -> None:
        """Set the names and values after the count."""
        self.set_postfix_str(", ".join(f"{name} {value}" for name, value in more.items()))


def _say(text: str) -> bool:
    """Write a plain line, unless there was one a short time ago; return whether it was written."""
    now = time.monotonic()
    silence = max(_SILENCE, _SHARE * (now - _Plain.started))
    if sys.stderr is None or now - _Plain.latest < silence:
        return False
    _Plain.latest = now
    print(text, file=sys.stderr, flush=True)
    return True


def _has_reader() -> bool:
    """Return whether stderr is a terminal or the output of a notebook's cell."""
    if _in_notebook():
        return True
    return sys.stderr is not None and sys.stderr.isatty()  # pythonw.exe has no stderr


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
