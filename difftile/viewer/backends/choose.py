"""Which backend an app opens."""

from __future__ import annotations

import importlib
import os

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.base import Backend

_BACKENDS = {
    "window": ("difftile.viewer.backends.window", "WindowBackend"),
    "null": ("difftile.viewer.backends.null", "NullBackend"),
}
VARIABLE = "DIFFTILE_VIEWER"


def choose(wanted: str | Backend | None) -> Backend:
    """Return a backend that is not open yet.

    Args:
        wanted: The name of one, or one; None for what the environment variable DIFFTILE_VIEWER
            says, and else a window.

    Raises:
        ViewerError: There is none of that name.
    """
    if wanted is not None and not isinstance(wanted, str):
        return wanted
    name = wanted or os.environ.get(VARIABLE) or "window"
    if name not in _BACKENDS:
        raise ViewerError(
            f"there is no viewer backend {name!r}; take one of {', '.join(_BACKENDS)}"
        )
    module, attribute = _BACKENDS[name]
    made: Backend = getattr(importlib.import_module(module), attribute)()
    return made
