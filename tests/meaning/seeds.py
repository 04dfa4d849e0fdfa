"""Which programs are drawn: nine of ten are always the same, the tenth follows from the draw."""

from __future__ import annotations

import functools
from zlib import crc32

from tests import tiers


@functools.cache
def of_draw() -> int:
    """Return a number that follows from what draws tests."""
    return crc32(tiers.draw().encode()) >> 4


def numbers(part: int, together: int) -> list[int]:
    """Return the numbers of the programs of a part, of which each has so many."""
    first = part * together
    varying = 10**6 + of_draw() * 1000 + first
    return [varying + k if k % 10 == 9 else first + k for k in range(together)]
