"""The only package that knows Taichi: its names, memory, generated source and launches."""

import importlib
import os

from difftile.substrate.cache import caches_named

# Taichi is imported here first, with the side effects of its import suppressed: a line about
# itself, a question about newer versions over the network, and the end of a process without HOME.
os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
os.environ.setdefault("TI_SKIP_VERSION_CHECK", "ON")
with caches_named():
    importlib.import_module("taichi")

# Before the Taichi functions in this package, which start sooner with it.
importlib.import_module("difftile.substrate.taichi.methods")
