"""The only package that knows Quadrants: its import and the names of it that are not public."""

import importlib
import os

from difftile.substrate.cache import caches_named

# Quadrants is imported here first, without a line about itself, and also without HOME.
os.environ.setdefault("ENABLE_QUADRANTS_HEADER_PRINT", "0")
with caches_named():
    importlib.import_module("quadrants")
