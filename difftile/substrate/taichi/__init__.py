"""The only package that knows Taichi: its names, memory, generated source and launches."""

import importlib
import os

from difftile.caches import caches_named
from difftile.substrate.family.methods import answered_quickly, imported_quickly

# Taichi is imported here first, with the side effects of its import suppressed: a line about
# itself, a question about newer versions over the network, and the end of a process without HOME.
os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
os.environ.setdefault("TI_SKIP_VERSION_CHECK", "ON")
with caches_named(), imported_quickly():
    importlib.import_module("taichi")

# Before the functions of Taichi in `family`, which start sooner with it.
answered_quickly(importlib.import_module("taichi.lang.kernel_impl"))
