"""The choice of the backend that an app opens."""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass

from difftile.diagnostics import ViewerError
from difftile.ranks import is_first
from difftile.viewer.backends.base import Backend
from difftile.viewer.backends.notebook import in_notebook

VARIABLE = "DIFFTILE_VIEWER"


@dataclass(frozen=True, slots=True)
class _BackendRow:
    """The class of a backend, and what it needs.

    Args:
        module: Its module, imported on demand.
        name: The class.
        library: A library that difftile does not depend on.
        extra: The extra of difftile that installs the library.
        addressed: Whether the name may be followed by ":" and an address, as in "web:8080", or by
            the name of a toolkit, as in "window:tk".
    """

    module: str
    name: str
    library: str = ""
    extra: str = ""
    addressed: bool = False


_BACKENDS = {
    "window": _BackendRow(
        "difftile.viewer.backends.native_window", "WindowBackend", addressed=True
    ),
    "web": _BackendRow(
        "difftile.viewer.backends.web", "WebBackend", "viser", "viewer", addressed=True
    ),
    "notebook": _BackendRow("difftile.viewer.backends.notebook", "NotebookBackend"),
    "null": _BackendRow("difftile.viewer.backends.null", "NullBackend"),
}


def _default() -> str:
    if in_notebook():
        return "web" if is_installed("web") else "notebook"
    return "window"


def is_free(wanted: str | Backend | None) -> bool:
    """Return whether neither the program nor the environment names a backend."""
    return wanted is None and not os.environ.get(VARIABLE)


def is_installed(name: str) -> bool:
    """Return whether the library that a backend needs is installed."""
    library = _BACKENDS[name].library
    return not library or importlib.util.find_spec(library) is not None


def choose(wanted: str | Backend | None) -> Backend:
    """Return a backend that is not open yet.

    Args:
        wanted: A backend, or a name with an optional ":" and address or toolkit; None for the name
            in the environment variable DIFFTILE_VIEWER, or else a window; in a notebook a page, or
            pictures if the library for pages is missing. Ranks other than the first one have no
            display, whatever is named.

    Raises:
        ViewerError: No backend has that name, or a library is missing.
    """
    if wanted is not None and not isinstance(wanted, str):
        return wanted
    named = (wanted or os.environ.get(VARIABLE) or _default()) if is_first() else "null"
    name, _, address = named.partition(":")
    row = _BACKENDS.get(name)
    if row is None:
        raise ViewerError(
            f"there is no viewer backend {name!r}; choose one of {', '.join(_BACKENDS)}"
        )
    if address and not row.addressed:
        raise ViewerError(f"the viewer backend {name!r} takes no address; leave out {address!r}")
    if not is_installed(name):
        raise ViewerError(
            f"the viewer backend {name!r} needs {row.library}: pip install 'difftile[{row.extra}]',"
            " or choose another backend (environment variable DIFFTILE_VIEWER)"
        )
    make = getattr(importlib.import_module(row.module), row.name)
    made: Backend = make(address) if address else make()
    return made
