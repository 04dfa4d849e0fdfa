"""Imports and compiling without searches for garbage, which they make hardly any of.

Some hundred modules are imported when the library starts, and their objects stay, as do programs
while they are compiled. Python's collector would go through all of them again and again: a sixth of
the time to start, and of the time that large kernels take until their source is emitted.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """While this is open, the collector of cyclic garbage does not start by itself."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
