"""Rectangles and boxes of text in pixels, from which panel, plots and notices are built."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difftile.viewer.primitives import Boxes, Bytes, Floats, Primitive, Text
from difftile.viewer.screen import Area
from difftile.viewer.surface import letters
from difftile.viewer.theme import ACCENT, INK, PANEL

LETTERS = 12.0  # of a box of text [px]


def at(x: float, y: float) -> Floats:
    """Return a position, shape (2,)."""
    return np.array([x, y], np.float32)


def filled(area: Area, fill: Bytes, rounding: float = 0.0) -> Boxes:
    """Return a filled rectangle."""
    low, high = at(area.left, area.top), at(area.left + area.width, area.top + area.height)
    return Boxes(low[None], high[None], fill, rounding)


def text_box(
    words: str,
    place: Callable[[float, float], tuple[float, float]],
    pad: tuple[float, float],
    *,
    fill: Bytes = PANEL,
    rim: Bytes = ACCENT,
    rounding: float = 4.0,
    fixed: bool = True,
) -> list[Primitive]:
    """Return text in a box with a rim.

    Args:
        words: The text.
        place: Returns the upper left corner for the width and height of the box.
        pad: Space between rim and letters, horizontal and vertical [px].
        fill: The colour of the box.
        rim: The colour of the rim.
        rounding: Radius of the corners [px].
        fixed: Use letters of one width.
    """
    rows, columns = letters(words, LETTERS, fixed).shape
    size = at(columns + 2 * pad[0], rows + 2 * pad[1])
    low = at(*place(*size.tolist()))
    high: Floats = low + size
    return [
        Boxes(low[None] - 1, high[None] + 1, rim, rounding + 1),
        Boxes(low[None], high[None], fill, rounding),
        Text(low + at(*pad), words, INK, LETTERS, fixed=fixed),
    ]
