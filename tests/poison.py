"""Memory that nobody may read: of floats, on the host, from when it is given back."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from unittest import mock

import numpy as np

from difftile.substrate import Buffer


@contextmanager
def poisoned() -> Generator[None]:
    """Fill memory with NaN when it is given back, so that what reads it afterwards shows."""
    free = Buffer.free

    def fill(self: Buffer) -> None:
        own = self.device is None and self.packed is None and self.lender is None
        array = self.view if own and not self.contents.sharers else None
        if array is not None and array.dtype.kind == "f":
            array.fill(np.nan)
        free(self)

    with mock.patch.object(Buffer, "free", fill):
        yield
