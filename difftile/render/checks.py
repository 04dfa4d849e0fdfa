"""Checks of options of cameras and renderers: integers and numbers in a range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import difftile as dt
from difftile.diagnostics import DifftileError, brief
from difftile.fields.exchange import as_integer

LONGEST = 2**16  # the longest side of an image, whose pixels an integer can count
LONGEST_TILE = 2**10


def check_integers(
    owner: str, error: type[DifftileError], most: int = LONGEST, **given: Any
) -> None:
    """Raise an error unless the options given by name are integers from 1 to `most`."""
    for name, value in given.items():
        number = as_integer(value)
        if number is None or not 1 <= number <= most:
            raise error(f"{owner}: {name} is an integer from 1 to {most}, not {brief(value)}.")


def check_size(
    owner: str, error: type[DifftileError], width: int, height: int, tile: int = 1
) -> None:
    """Raise an error unless images of a size can be drawn in tiles of a size."""
    check_integers(owner, error, width=width, height=height)
    check_integers(owner, error, LONGEST_TILE, tile=tile)


def check_range(
    owner: str, error: type[DifftileError], low: float, *, open: bool = False, **given: Any
) -> None:
    """Raise an error unless the options given by name are finite and from `low` on, or above it."""
    for name, value in given.items():
        number = isinstance(value, (int, float, np.number)) and math.isfinite(value)
        if not number or value < low or (open and value == low):
            bound = f"above {low:g}" if open else f"from {low:g} on"
            raise error(f"{owner}: {name} is a finite number {bound}, not {brief(value)}.")


def check_background(owner: str, error: type[DifftileError], background: Any) -> None:
    """Raise an error unless a colour is None, a field, or finite."""
    if background is None or isinstance(background, dt.Field):
        return
    if not np.isfinite(np.asarray(background, np.float64)).all():
        raise error(f"{owner}: the background is a finite colour, not {brief(background)}.")
