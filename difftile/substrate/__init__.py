"""The only package that knows Taichi: its names, memory, generated source and launches."""

import os

# Or else Taichi prints a line about itself when it is imported, which any module here may do first.
os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
