"""Turning the fusion of launches on and off in a session, so that its kernels stay compiled."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from difftile.fields.pending import set_fusing


@contextmanager
def fusing(mode: bool | str) -> Generator[None]:
    """Launch inside the block as if `dt.init(fuse=mode)` had been called.

    Args:
        mode: False, True or "always".
    """
    set_fusing(mode)
    try:
        yield
    finally:
        set_fusing(True)
