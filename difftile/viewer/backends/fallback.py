"""The display of an app that names no backend, where no window can be opened: a page."""

from __future__ import annotations

import sys

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.base import Backend
from difftile.viewer.backends.choose import choose, is_installed
from difftile.viewer.backends.native_window import NoWindow

_said: set[str] = set()  # reasons, so that a program of several apps gives each only once


def instead_of_window(missing: NoWindow, *, is_recording: bool) -> Backend:
    """Return a page, or no display for a recording of known length; give the reason on stderr.

    Args:
        missing: Why there is no window.
        is_recording: Whether the run ends by itself and is recorded.

    Raises:
        ViewerError: The library for pages is missing, and nothing is recorded.
    """
    if is_installed("web"):
        _say(f"no window can be opened, since {missing.reason}; a page shows the app")
        return choose("web")
    if is_recording:
        _say(
            f"no window can be opened, since {missing.reason}; the app is only recorded (to see it "
            "in a browser: pip install 'difftile[viewer]')"
        )
        return choose("null")
    raise ViewerError(
        f"cannot open a window: {missing.reason}; to see the app in a browser, run "
        "pip install 'difftile[viewer]', and to record it without a display, "
        "app.run(frames=100, record='run.gif')"
    )


def _say(words: str) -> None:
    if words not in _said:
        _said.add(words)
        print(f"difftile: {words}", file=sys.stderr)
