"""Turning the fusion of launches on and off in a session, so that its kernels stay compiled."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from unittest import mock

from difftile.fields.pending import PENDING, set_fusing
from difftile.runtime.queue import QUEUE


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


@contextmanager
def flushing_nothing() -> Generator[None]:
    """Break the queue inside the block: launches that wait never run."""
    with mock.patch.object(QUEUE, "run", lambda: None):
        try:
            yield
        finally:
            QUEUE._waiting, PENDING.run = [], None
