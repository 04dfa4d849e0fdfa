"""The shapes of pictures as NumPy arrays, in the coordinates of a projection.

Positions have two or three components. Colours are bytes, one for all, shape (3,), or one each,
shape (n, 3). The classes have no slots, since they are pickled for every picture, which slots slow
down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Box: TypeAlias = tuple[float, float, float, float]  # left, bottom, right, top


@dataclass(frozen=True)
class Image:
    """Pixels in a box.

    Args:
        pixels: Colours, shape (h, w, 3); row 0 is at the top.
        box: Its position; None for the largest box with its proportions in the view.
        smooth: Interpolate between pixels instead of showing them as squares.
        source: The field that it shows, for picking.
    """

    pixels: Bytes
    box: Box | None = None
    smooth: bool = False
    source: Any = None


@dataclass(frozen=True)
class Backdrop:
    """A picture that fills the scene behind the shapes in space.

    Args:
        pixels: Colours, shape (h, w, 3); row 0 is at the top.
        depth: Depth of each pixel along the axis of view [scene units], shape (h, w); empty pixels
            are 0, negative or not finite. None for a picture that is behind all shapes.
    """

    pixels: Bytes
    depth: Floats | None = None


@dataclass(frozen=True)
class Markers:
    """Discs of one size on the screen.

    Args:
        positions: Shape (n, 2) or (n, 3).
        colours: Shape (3,) or (n, 3).
        radius: Of each [px].
        source: The field that holds the positions, for picking.
    """

    positions: Floats
    colours: Bytes
    radius: float = 2.0
    source: Any = None


@dataclass(frozen=True)
class Lines:
    """Segments.

    Args:
        begins: Shape (n, 2) or (n, 3).
        ends: Same shape.
        colours: Shape (3,) or (n, 3).
        width: Of each [px].
    """

    begins: Floats
    ends: Floats
    colours: Bytes
    width: float = 1.5


@dataclass(frozen=True)
class Circles:
    """Discs or rings that scale with the view.

    Args:
        centers: Shape (n, 2) or (n, 3).
        radii: Of each, in the units of the positions, shape (n,).
        colours: Shape (3,) or (n, 3).
        outline: The width of rings [px]; 0 for discs.
        source: The field that holds the centers, for picking.
    """

    centers: Floats
    radii: Floats
    colours: Bytes
    outline: float = 0.0
    source: Any = None


@dataclass(frozen=True)
class Arrows:
    """Segments with a head.

    Args:
        begins: Shape (n, 2) or (n, 3).
        vectors: From begin to tip, same shape.
        colours: Shape (3,) or (n, 3).
        width: Of the shafts [px].
    """

    begins: Floats
    vectors: Floats
    colours: Bytes
    width: float = 1.5


@dataclass(frozen=True)
class Facets:
    """Triangles, shaded by their angle to the eye.

    Args:
        vertices: Shape (n, 2) or (n, 3).
        faces: Three vertices each, shape (m, 3).
        colours: Of the faces, shape (3,) or (m, 3).
        source: The field that holds the vertices, for picking.
    """

    vertices: Floats
    faces: Ints
    colours: Bytes
    source: Any = None


@dataclass(frozen=True)
class Boxes:
    """Filled rectangles along the axes.

    Args:
        lows: One corner, shape (n, 2).
        highs: The opposite corner, shape (n, 2).
        colours: Shape (3,) or (n, 3).
        rounding: Radius of the corners [px].
    """

    lows: Floats
    highs: Floats
    colours: Bytes
    rounding: float = 0.0


@dataclass(frozen=True)
class Text:
    """One or more lines of text.

    Args:
        at: The position of the anchor, shape (2,) or (3,).
        text: The text; newlines separate lines.
        colour: Shape (3,).
        size: Of the letters [px].
        anchor: The point of the text at `at`: "l", "m" or "r" (left, middle, right) and "t", "m" or
            "b" (top, middle, bottom).
        fixed: Use letters of one width.
        bold: Use heavy letters.
    """

    at: Floats
    text: str
    colour: Bytes
    size: float = 13.0
    anchor: str = "lt"
    fixed: bool = False
    bold: bool = False


@dataclass(frozen=True)
class Plot:
    """A curve with the range of its values.

    Args:
        name: The name of the curve.
        times: Indices of the kept values among all values, ascending, including the last one,
            shape (n,).
        values: The kept values, shape (n,).
        box: Its position.
        colour: Shape (3,).
        log: Show a logarithmic axis if all values are positive.
    """

    name: str
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    box: Box
    colour: Bytes
    log: bool = False


Primitive: TypeAlias = (
    Image | Backdrop | Markers | Lines | Circles | Arrows | Facets | Boxes | Text | Plot
)
