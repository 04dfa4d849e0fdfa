"""The names of Taichi, with which tests are written, where Taichi is not installed."""

from __future__ import annotations

import importlib
import sys

from difftile.releases import RELEASES
from difftile.substrate import chosen


def name_taichi() -> None:
    """Let 'import taichi' find Quadrants on Pythons for which there is no Taichi."""
    if RELEASES["taichi"].is_installed:
        return
    importlib.import_module(chosen())
    for name in [name for name in sys.modules if name.partition(".")[0] == chosen()]:
        sys.modules[name.replace(chosen(), "taichi", 1)] = sys.modules[name]
