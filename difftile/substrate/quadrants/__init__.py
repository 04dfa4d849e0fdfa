"""The only package that knows Quadrants: its import and the names of it that are not public."""

import importlib
import os

from difftile.caches import caches_named
from difftile.substrate.family.methods import answered_quickly, imported_quickly
from difftile.substrate.quadrants.without_torch import without_torch

# Quadrants is imported here first, without a line about itself, and also without HOME.
os.environ.setdefault("ENABLE_QUADRANTS_HEADER_PRINT", "0")
with caches_named(), imported_quickly(), without_torch():
    importlib.import_module("quadrants")

# Before the functions of Quadrants in `family`, which start sooner with it.
answered_quickly(importlib.import_module("quadrants.lang.kernel_impl"))
