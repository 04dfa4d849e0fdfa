"""Which backend an app opens."""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.base import Backend

VARIABLE = "DIFFTILE_VIEWER"


@dataclass(frozen=True, slots=True)
class _Row:
    """Where a backend is.

    Args:
        module: Imported when the backend is asked for.
        name: The class.
        library: What it needs and difftile does not bring along.
        extra: Of difftile's extras the one that does.
        addressed: Whether it is told where to be, as in "web:8080".
    """

    module: str
    name: str
    library: str = ""
    extra: str = ""
    addressed: bool = False


_BACKENDS = {
    "window": _Row("difftile.viewer.backends.native_window", "WindowBackend"),
    "web": _Row("difftile.viewer.backends.web", "WebBackend", "viser", "viewer", addressed=True),
    "null": _Row("difftile.viewer.backends.null", "NullBackend"),
}


def choose(wanted: str | Backend | None) -> Backend:
    """Return a backend that is not open yet.

    Args:
        wanted: The name of one, or one; None for what the environment variable DIFFTILE_VIEWER
            says, and else a window. The name may be followed by ":" and an address.

    Raises:
        ViewerError: There is none of that name, or a library is missing.
    """
    if wanted is not None and not isinstance(wanted, str):
        return wanted
    name, _, address = (wanted or os.environ.get(VARIABLE) or "window").partition(":")
    row = _BACKENDS.get(name)
    if row is None:
        raise ViewerError(
            f"there is no viewer backend {name!r}; take one of {', '.join(_BACKENDS)}"
        )
    if address and not row.addressed:
        raise ViewerError(f"the viewer backend {name!r} has no address, but {address!r} is given")
    if row.library and importlib.util.find_spec(row.library) is None:
        raise ViewerError(
            f"the viewer backend {name!r} needs {row.library}: pip install 'difftile[{row.extra}]',"
            " or take another one (environment variable DIFFTILE_VIEWER)"
        )
    make = getattr(importlib.import_module(row.module), row.name)
    made: Backend = make(address) if address else make()
    return made
