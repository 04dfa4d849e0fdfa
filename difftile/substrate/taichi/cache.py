"""The folder where Taichi keeps compiled kernels, and what becomes of it where nothing can be kept.

Taichi looks for a folder of its own, in the environment alone, as it is imported and started. It
ends the process where that names none, and crashes at its end where it could not write there.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_CACHES = "XDG_CACHE_HOME"


@contextmanager
def caches_named() -> Generator[None]:
    """While this is open, the environment names the folder of caches, for Taichi."""
    before = os.environ.get(_CACHES)
    os.environ[_CACHES] = str(_caches())
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CACHES]
        else:
            os.environ[_CACHES] = before


def can_keep(folder: Path) -> bool:
    """Tell whether files can be written to a folder, which is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _caches() -> Path:
    """Return the user's folder of caches; one that cannot exist if there is no home for it.

    As the XDG Base Directory Specification has it, names that are not absolute count for nothing.
    """
    given = os.environ.get(_CACHES, "")
    if os.path.isabs(given):
        return Path(given)
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        home = _home_of_user()
    return Path(home if os.path.isdir(home) else os.devnull) / ".cache"


def _home_of_user() -> str:
    try:
        return importlib.import_module("pwd").getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):  # Windows, or a user that the system does not know
        return ""
