"""What lies over a picture: what went wrong, what was done, which keys there are."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

import numpy as np

from difftile.viewer.primitives import Boxes, Bytes, Floats, Primitive, Text
from difftile.viewer.screen import Area
from difftile.viewer.surface import letters, text_width
from difftile.viewer.theme import ACCENT, INK, PANEL, WARNING

_LETTERS = 12.0  # [px]
_MARGIN = 12.0  # to the edge of the picture [px]
_PAD = 10.0  # between the rim and the letters [px]
_MOST = 18  # lines of an error
_GOES_ON = "Paused. Space goes on, n does a step, r resets."
_MOUSE = (
    ("drag", "handles and sliders; turns the camera in space"),
    ("right", "drag moves the view"),
    ("wheel", "zooms"),
)


def failure(error: str, area: Area) -> list[Primitive]:
    """Return the shapes that tell of an error, at the bottom of an area, in which they fit."""
    across = int((area.width - 2 * (_MARGIN + _PAD)) / text_width("m", _LETTERS, fixed=True))
    lines = [
        part
        for line in error.split("\n")
        for part in textwrap.wrap(line, across, drop_whitespace=False) or [""]
    ]
    most = min(_MOST, int((area.height - 80) / 15))
    shown = lines if len(lines) <= most else [*lines[:most], "…"]
    words = "\n".join([*shown, *textwrap.wrap(_GOES_ON, across)])
    return _box(words, area, WARNING, INK, fixed=True)


def message(words: str, area: Area) -> list[Primitive]:
    """Return the shapes of a message at the bottom of an area."""
    return _box(words, area, PANEL, ACCENT)


def overview(keys: Iterable[tuple[str, str]], area: Area) -> list[Primitive]:
    """Return the shapes that explain keys and the mouse, at the top of an area."""
    known = [*keys]
    width = max(len(what) for what, _ in (*known, *_MOUSE))
    lines = [f"{what:>{width}}  {said}" for what, said in (*known, *_MOUSE)]
    rows = [*lines[: len(known)], "", *lines[len(known) :]]
    return _box("\n".join(rows), area, PANEL, ACCENT, fixed=True, at_top=True)


def _box(
    words: str, area: Area, fill: Bytes, rim: Bytes, *, fixed: bool = False, at_top: bool = False
) -> list[Primitive]:
    height, width = letters(words, _LETTERS, fixed).shape
    size = np.array([width + 2 * _PAD, height + 2 * _PAD], np.float32)
    free = area.height - _MARGIN - float(size[1])
    top = area.top + (_MARGIN if at_top else max(free, _MARGIN))
    low = np.array([area.left + _MARGIN, top], np.float32)
    high: Floats = low + size
    return [
        Boxes(low[None] - 1, high[None] + 1, rim, 7),
        Boxes(low[None], high[None], fill, 6),
        Text(low + np.array([_PAD, _PAD], np.float32), words, INK, _LETTERS, fixed=fixed),
    ]
