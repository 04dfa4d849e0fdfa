"""Targets of programs that are finished without a session."""

from __future__ import annotations

from difftile.schedule.grids import Grids
from difftile.schedule.target import Target


def host(blocks: int = 8) -> Target:
    """Return a CPU, with the largest number of blocks of a sum."""
    return Target(blocks=blocks)


def device(blocks: int = 8, *, warps: bool = True) -> Target:
    """Return a GPU, with the largest number of blocks of a sum."""
    return Target(grids=Grids.on(132, warps=warps), warps=warps, blocks=blocks)
