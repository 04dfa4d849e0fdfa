"""The icon of windows and pages: a curve that comes to rest at a dot."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difftile.viewer.primitives import Bytes, Lines, Markers
from difftile.viewer.raster import draw
from difftile.viewer.screen import Area, Pixels
from difftile.viewer.surface import Surface
from difftile.viewer.theme import ACCENT, BACKGROUND, SERIES

_SIDE = 32  # of the square that the numbers below are in
_CURVE = ((5, 6), (8, 22), (15, 25), (24, 25))  # control points of a cubic Bézier curve
_WIDTH, _DOT, _RADIUS = 4, (25, 25), 4.5


def as_svg() -> str:
    """Return the icon as a document of SVG."""
    (x, y), *others = _CURVE
    rest = " ".join(f"{a} {b}" for a, b in others)
    return f"""<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_SIDE} {_SIDE}'>
<rect width='{_SIDE}' height='{_SIDE}' rx='7' fill='{as_hex(BACKGROUND)}'/>
<path d='M{x} {y}C{rest}' fill='none' stroke='{as_hex(ACCENT)}' stroke-width='{_WIDTH}'
 stroke-linecap='round'/><circle cx='{_DOT[0]}' cy='{_DOT[1]}' r='{_RADIUS}' \
fill='{as_hex(SERIES[1])}'/></svg>"""


def as_picture(side: int = 64) -> Bytes:
    """Return the icon as a picture, shape (side, side, 3)."""
    scale = side / _SIDE
    t = np.linspace(0, 1, 25)[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    curve = (scale * weights @ np.array(_CURVE)).astype(np.float32)
    dot = scale * np.array([_DOT], np.float32)
    surface = Surface(side, side, BACKGROUND)
    shapes = [
        Markers(curve, ACCENT, scale * _WIDTH / 2),  # round where segments meet
        Lines(curve[:-1], curve[1:], ACCENT, scale * _WIDTH),
        Markers(dot, SERIES[1], scale * _RADIUS),
    ]
    draw(surface, shapes, Pixels(Area(0, 0, side, side)))
    return surface.image()


def as_hex(colour: npt.NDArray[np.uint8]) -> str:
    """Return a colour as browsers and Tk write it."""
    return "#" + colour.tobytes().hex()
