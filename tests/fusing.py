"""Turning the fusion of launches on and off in a session, so that its kernels stay compiled."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def fusing(mode: object) -> Generator[None]:
    """Launch inside the block as if `dt.init(fuse=mode)` had been called.

    Args:
        mode: False, True or "always".
    """
    yield
