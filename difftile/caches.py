"""The folder where Taichi keeps compiled kernels.

When Taichi is imported and started, it asks only the environment for such a folder. If the
environment names none, Taichi ends the process; if it cannot write there, it crashes when it ends.
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


def name_caches() -> None:
    """Name the folder of caches for good where there is no HOME, in which Taichi looks for it.

    A program may import Taichi itself after difftile; before it, there is no help.
    """
    if "HOME" not in os.environ and not os.path.isabs(os.environ.get(_CACHES, "")):
        os.environ[_CACHES] = str(_caches())


def can_keep(folder: Path) -> bool:
    """Tell whether files can be written to a folder, which is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _caches() -> Path:
    """Return the user's folder of caches; one that cannot exist if there is no home for it.

    As in the XDG Base Directory Specification, names that are not absolute are ignored.
    """
    given = os.environ.get(_CACHES, "")
    if os.path.isabs(given):
        return Path(given)
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        try:
            home = importlib.import_module("pwd").getpwuid(os.getuid()).pw_dir
        except (ImportError, KeyError):  # Windows, or a user that the system does not know
            home = ""
    return Path(home if os.path.isdir(home) else os.devnull) / ".cache"
