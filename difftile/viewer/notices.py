"""Notices over a picture: an error, a message, and the overview of keys."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from difftile.viewer.boxes import LETTERS, text_box
from difftile.viewer.primitives import Bytes, Primitive
from difftile.viewer.screen import Area
from difftile.viewer.surface import text_width
from difftile.viewer.theme import ACCENT, INK, PANEL, WARNING

_MARGIN = 12.0  # to the edge of the picture [px]
_PAD = 10.0  # between the rim and the letters [px]
_MOST = 18  # lines of an error
_CONTINUE = "Paused. Space goes on, n does a step, r resets."
_MOUSE = (
    ("drag", "handles and sliders; turns the camera in space"),
    ("right", "drag moves the view"),
    ("wheel", "zooms"),
)


def failure(error: str, area: Area) -> list[Primitive]:
    """Return the shapes of an error message at the bottom of an area, wrapped and cut to fit."""
    across = int((area.width - 2 * (_MARGIN + _PAD)) / text_width("m", LETTERS, fixed=True))
    lines = [
        part
        for line in error.split("\n")
        for part in textwrap.wrap(line, across, drop_whitespace=False) or [""]
    ]
    most = min(_MOST, int((area.height - 80) / 15))
    shown = lines if len(lines) <= most else [*lines[:most], "…"]
    words = "\n".join([*shown, *textwrap.wrap(_CONTINUE, across)])
    return _notice(words, area, WARNING, INK, fixed=True)


def message(words: str, area: Area) -> list[Primitive]:
    """Return the shapes of a message at the bottom of an area."""
    return _notice(words, area, PANEL, ACCENT)


def overview(keys: Iterable[tuple[str, str]], area: Area) -> list[Primitive]:
    """Return the shapes that explain keys and the mouse, at the top of an area."""
    known = [*keys]
    width = max(len(key) for key, _ in (*known, *_MOUSE))
    lines = [f"{key:>{width}}  {said}" for key, said in (*known, *_MOUSE)]
    rows = [*lines[: len(known)], "", *lines[len(known) :]]
    return _notice("\n".join(rows), area, PANEL, ACCENT, fixed=True, at_top=True)


def _notice(
    words: str, area: Area, fill: Bytes, rim: Bytes, *, fixed: bool = False, at_top: bool = False
) -> list[Primitive]:
    def place(_: float, height: float) -> tuple[float, float]:
        free = area.height - _MARGIN - height
        top = _MARGIN if at_top else max(free, _MARGIN)
        return area.left + _MARGIN, area.top + top

    return text_box(words, place, (_PAD, _PAD), fill=fill, rim=rim, rounding=6.0, fixed=fixed)
