"""The compiler of the process: Taichi or Quadrants, chosen once.

The modules of `family` read `ti`, the compiler's package, and `private`, the names of it that are
not public. Both are loaded when they are first asked for; from then on the choice stands.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from difftile.diagnostics import FieldError
from difftile.releases import VARIABLE, preferred, refusal
from difftile.substrate.lock import LOCK
from difftile.uncollected import uncollected

if TYPE_CHECKING:
    from difftile.substrate.backend import Backend

_chosen: list[str] = []
_loaded: dict[str, Any] = {}


def choose(name: str) -> None:
    """Name the compiler of the process, before it is loaded.

    Raises:
        FieldError: There is no such compiler, it is not installed or in another version than
            difftile needs, or another one is loaded.
    """
    if refused := refusal(name):
        raise FieldError(refused)
    with LOCK:
        if _loaded and _chosen != [name]:
            raise FieldError(
                f"This process runs on '{_chosen[0]}' already, and a process has one compiler. "
                f"Call dt.init(substrate='{name}') before fields are made and kernels are "
                f"launched, or set {VARIABLE}={name}."
            )
        _chosen[:] = [name]


def chosen() -> str:
    """Return the name of the compiler of the process.

    Raises:
        FieldError: None is installed in the version that difftile needs, or the environment names
            none that is.
    """
    with LOCK:
        if not _chosen:
            choose(preferred())
        return _chosen[0]


def backend() -> Backend:
    """Return the backend of the process, which is loaded if it is not yet."""
    return _load("backend").BACKEND


def _load(module: str) -> Any:
    found = _loaded.get(module)
    if found is None:
        with LOCK, uncollected():
            name = chosen()
            package = f"difftile.substrate.{name}"
            importlib.import_module(package)  # with the side effects of the compiler's import
            full = name if module == "ti" else f"{package}.{module}"
            found = _loaded[module] = importlib.import_module(full)
    return found


def __getattr__(name: str) -> Any:
    if name in ("ti", "private"):
        return _load(name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
