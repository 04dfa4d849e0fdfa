"""Kernels that are collected by themselves and put through every check of `tests/harness.py`."""

from __future__ import annotations

import importlib
import pkgutil


def load() -> None:
    """Import every module of programs, which registers them."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
