"""Plots as basic shapes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.viewer.boxes import at, filled
from difftile.viewer.primitives import Lines, Plot, Primitive, Text
from difftile.viewer.screen import Area
from difftile.viewer.surface import fitted, text_width
from difftile.viewer.theme import FAINT, INK, RAISED

Numbers: TypeAlias = npt.NDArray[Any]

_LETTERS = 11.0  # [px]
_PAD = 6.0  # between the edge and the curve [px]
_SPACE = 8.0  # between the name and the last value, at least [px]


def curve(plot: Plot, area: Area) -> list[Primitive]:
    """Return the shapes of a plot in a rectangle, in pixels: name, last value, range, curve."""
    left, top = area.left, area.top
    right, bottom = left + area.width, top + area.height
    last = f"{plot.values[-1]:.4g}" if len(plot.values) else "no values yet"
    room = area.width - text_width(last, _LETTERS) - 2 * _PAD - _SPACE
    name = fitted(plot.name, room, _LETTERS, bold=True)
    found: list[Primitive] = [
        filled(area, RAISED, 4.0),
        Text(at(left + _PAD, top + 4), name, INK, _LETTERS, bold=True),
        Text(at(right - _PAD, top + 4), last, INK, _LETTERS, "rt"),
    ]
    finite = np.flatnonzero(np.isfinite(plot.values))
    if not len(finite):
        return found
    values, count = plot.values[finite], int(plot.times[-1]) + 1
    low, high = float(values.min()), float(values.max())
    log = plot.log and low > 0.0
    ends = f"{low:.3g} … {high:.3g}{', log' if log else ''}"
    found.append(Text(at(left + _PAD, bottom - 3), ends, FAINT, _LETTERS - 1, "lb"))
    found.append(Text(at(right - _PAD, bottom - 3), f"n = {count}", FAINT, 10.0, "rb"))
    heights = np.log(values) if log else values
    least, span = heights.min(), np.ptp(heights)
    share = (heights - least) / span if span > 0 else np.full(len(heights), 0.5)
    y0, y1 = bottom - 20, top + 22
    x = left + _PAD + (area.width - 2 * _PAD) * plot.times[finite] / max(count - 1, 1)
    line = np.stack(thinned(x, y0 + (y1 - y0) * share, area.width), axis=1).astype(np.float32)
    if len(line) == 1:
        line = np.repeat(line, 2, axis=0)
    found.append(Lines(line[:-1], line[1:], plot.colour, 1.6))
    return found


def thinned(x: Numbers, y: Numbers, columns: float) -> tuple[Numbers, Numbers]:
    """Keep the first, least, greatest and last point in each column of pixels.

    A curve of a million values looks the same afterwards, and costs as little as a short one.

    Args:
        x: Ascending, shape (n,).
        y: Shape (n,).
        columns: The number of columns from the first point to the last.
    """
    if len(x) <= 4 * columns:
        return x, y
    column = np.floor((x - x[0]) * (columns / max(x[-1] - x[0], 1e-300))).astype(np.intp)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    stops = np.append(starts[1:], len(x)) - 1
    order = np.lexsort((y, column))  # sorted within columns: ends are least and greatest
    kept = np.unique(np.concatenate([starts, order[starts], order[stops], stops]))
    return x[kept], y[kept]
