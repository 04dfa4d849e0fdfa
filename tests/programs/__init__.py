"""Kernels that are collected by themselves and put through every check of `tests/harness.py`."""

from __future__ import annotations

import importlib
import pkgutil

from difftile import ti

# Kernels of these name the language by difftile's own objects; their annotations stay Taichi's.
OWN = frozenset(
    (
        *("arguments", "casts", "decompositions", "functions", "in_place", "kinks", "lambdas"),
        *("matrices", "numbers", "random", "rules", "static", "vectors", "views"),
    )
)


def load() -> None:
    """Import every module of programs, which registers them."""
    for found in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{found.name}")
        if found.name in OWN:
            assert hasattr(module, "ti"), found.name
            vars(module)["ti"] = ti
