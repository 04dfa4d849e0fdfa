"""Shapes from what users have: fields or arrays of positions, pixels and colours.

All of it is copied: shapes stay as they are while what they were made from goes on changing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias, cast

import matplotlib
import matplotlib.colors
import numpy as np
import numpy.typing as npt

from difftile.diagnostics import ViewerError
from difftile.fields.values import Values
from difftile.viewer.primitives import (
    Arrows,
    Backdrop,
    Box,
    Bytes,
    Circles,
    Floats,
    Image,
    Ints,
    Lines,
    Markers,
    Mesh,
    Text,
)

Data: TypeAlias = Values | npt.ArrayLike
Colour: TypeAlias = Any  # "#4db6ac", "teal", three numbers, or an array or field with one each

_PIECE = 1 << 16  # numbers worked on at a time, which then stay in the cache


def image(
    values: Data,
    *,
    low: float | None = None,
    high: float | None = None,
    colours: str = "viridis",
    box: Box | None = None,
    smooth: bool = False,
) -> Image:
    """Return an image; see `Canvas.image`."""
    array = np.asarray(values)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise ViewerError(
            f"an image has the shape (h, w), (h, w, 3) or (h, w, 4), not {array.shape}"
        )
    if array.size == 0:
        raise ViewerError(f"an image has pixels, and one of the shape {array.shape} has none")
    if array.ndim == 2 and array.dtype != np.uint8:
        pixels = mapped(array, low, high, colours)
    else:
        pixels = _as_bytes(array)
        pixels = np.repeat(pixels[..., None], 3, axis=2) if array.ndim == 2 else pixels[..., :3]
    return Image(pixels, box, smooth, _source(values))


def as_backdrop(rendered: Data | tuple[Data, Data] | None) -> Backdrop | None:
    """Return what `App.backdrop` rendered as a shape; None for nothing."""
    if rendered is None:
        return None
    pair = isinstance(rendered, tuple) and len(rendered) == 2
    image, depth = cast(tuple[Data, Data | None], rendered if pair else (rendered, None))
    pixels = np.asarray(image)
    pixels = pixels[0] if pixels.ndim == 4 and len(pixels) == 1 else pixels  # a batch of one camera
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        raise ViewerError(f"a backdrop has colours of the shape (h, w, 3), not {pixels.shape}")
    colours = _as_bytes(pixels)[..., :3]
    if depth is None:
        return Backdrop(colours)
    depths = np.array(depth, np.float32)
    if depths.size != colours.shape[0] * colours.shape[1]:
        raise ViewerError(
            f"the depth of a backdrop of {colours.shape[:2]} pixels has the shape {depths.shape}"
        )
    return Backdrop(colours, depths.reshape(colours.shape[:2]))


def points(positions: Data, *, colour: Colour = "#4db6ac", radius: float = 2.5) -> Markers:
    """Return points; see `Canvas.points`."""
    places = as_positions(positions)
    return Markers(places, as_colours(colour, len(places)), radius, _source(positions))


def circles(
    centers: Data, radii: Data, *, colour: Colour = "#4db6ac", outline: float = 0.0
) -> Circles:
    """Return circles; see `Canvas.circles`."""
    places = as_positions(centers)
    each = _known(radii).reshape(-1)
    if len(each) not in (1, len(places)):
        raise ViewerError(f"{len(each)} radii do not fit {len(places)} circles")
    each = np.broadcast_to(each, len(places))
    return Circles(places, each, as_colours(colour, len(places)), outline, _source(centers))


def lines(
    begins: Data,
    ends: Data | None = None,
    *,
    edges: Data | None = None,
    colour: Colour = "#98a2ae",
    width: float = 1.5,
) -> Lines:
    """Return segments; see `Canvas.lines`."""
    places = as_positions(begins)
    if ends is not None:
        first, last = places, as_positions(ends)
    elif edges is not None:
        pairs = np.asarray(edges).reshape(-1, 2).astype(np.intp)
        first, last = places[pairs[:, 0]], places[pairs[:, 1]]
    else:
        first, last = places[:-1], places[1:]
    if first.shape != last.shape:
        raise ViewerError(f"lines begin at {len(first)} positions and end at {len(last)}")
    return Lines(first, last, as_colours(colour, len(first)), width)


def arrows(
    begins: Data,
    vectors: Data,
    *,
    scale: float = 1.0,
    colour: Colour = "#f2a65a",
    width: float = 1.5,
) -> Arrows:
    """Return arrows; see `Canvas.arrows`."""
    places, ways = as_positions(begins), as_positions(vectors) * np.float32(scale)
    if places.shape != ways.shape:
        raise ViewerError(f"arrows begin at {len(places)} positions and have {len(ways)} vectors")
    return Arrows(places, ways, as_colours(colour, len(places)), width)


def mesh(vertices: Data, faces: Data, *, colour: Colour = "#7aa6f0") -> Mesh:
    """Return a mesh; see `Canvas.mesh`."""
    corners: Ints = np.asarray(faces).reshape(-1, 3).astype(np.int32)
    places, colours = as_positions(vertices), as_colours(colour, len(corners))
    if corners.size and not 0 <= corners.min() <= corners.max() < len(places):
        raise ViewerError(
            f"faces of {len(places)} vertices have indices from 0 to {len(places) - 1}, "
            f"not from {corners.min()} to {corners.max()}"
        )
    return Mesh(places, corners, colours, _source(vertices))


def text(at: Data, words: str, *, colour: Colour = "#e6e9ed", size: float = 13.0) -> Text:
    """Return a text; see `Canvas.text`."""
    return Text(as_positions(at)[0], words, as_colours(colour, 1).reshape(-1, 3)[0], size)


def as_positions(values: Data) -> Floats:
    """Return positions, shape (n, 2) or (n, 3).

    Raises:
        ViewerError: They have another number of components.
    """
    array = _known(values)
    if array.ndim == 0 or array.shape[-1] not in (2, 3):
        raise ViewerError(f"positions have two or three components, not the shape {array.shape}")
    return array.reshape(-1, array.shape[-1])


def as_colours(colour: Colour, count: int) -> Bytes:
    """Return colours as bytes, shape (3,) for one or (count, 3) for one each.

    Args:
        colour: A name or "#rrggbb"; three numbers; one such triple each, shape (count, 3); or one
            number each, shape (count,), which a colour map shows.
        count: How many there are.

    Raises:
        ViewerError: It is none of these.
    """
    if isinstance(colour, str):
        return _named(colour)
    array = np.asarray(colour)
    if array.ndim >= 2 and array.shape[-1] in (3, 4):
        array = array.reshape(-1, array.shape[-1])[:, :3]
        if len(array) == count:
            return _as_bytes(array)
    elif array.shape in ((3,), (4,)) and count != array.shape[0]:
        return _as_bytes(array[:3])
    elif array.size == count:
        return mapped(array.reshape(-1), None, None, "viridis")
    elif array.shape == (3,):
        return _as_bytes(array)
    raise ViewerError(f"colours of the shape {array.shape} do not fit {count} shapes")


def mapped(values: npt.NDArray[Any], low: float | None, high: float | None, colours: str) -> Bytes:
    """Return numbers as colours of a map, shape (..., 3); what is not finite is magenta."""
    numbers = values.astype(np.float32, copy=False)
    finite = np.isfinite(numbers)
    known = numbers if finite.all() else numbers[finite]
    least = float(known.min(initial=np.inf)) if low is None else low
    most = float(known.max(initial=-np.inf)) if high is None else high
    span = most - least if most > least else 1.0
    with np.errstate(invalid="ignore"):
        levels = np.clip((numbers - least) * (255 / span), 0, 255)
        indices = levels.astype(np.uint8)
    found = np.take(_table(colours), indices, axis=0)  # five times as fast as by brackets
    if known is not numbers:
        found[~finite] = (255, 0, 255)
    return found


def _known(values: Data) -> Floats:
    """Return a copy in which all that is not finite is NaN, which goes through sums unnoticed."""
    array = np.array(values, np.float32)
    array[np.isinf(array)] = np.nan
    return array


@lru_cache(maxsize=256)
def _named(colour: str) -> Bytes:
    try:
        return _as_bytes(np.array(matplotlib.colors.to_rgb(colour)))
    except ValueError:
        raise ViewerError(f"{colour!r} is no colour; write '#4db6ac' or 'teal'") from None


@lru_cache(maxsize=16)
def _table(name: str) -> Bytes:
    try:
        return _as_bytes(np.asarray(matplotlib.colormaps[name](np.arange(256)))[:, :3])
    except KeyError:
        raise ViewerError(f"{name!r} is no colour map of matplotlib, as 'viridis' is") from None


def _as_bytes(colours: npt.NDArray[Any]) -> Bytes:
    """Return colours as bytes; floats are from 0 to 1."""
    if colours.dtype == np.uint8:
        return colours.copy()
    found = np.empty(colours.shape, np.uint8)
    flat, out = colours.reshape(-1), found.reshape(-1)
    for start in range(0, len(flat), _PIECE):
        piece = slice(start, start + _PIECE)
        levels = flat[piece].astype(np.float32) * np.float32(255)
        np.clip(levels, 0.0, 255.0, out=levels)
        levels += np.float32(0.5)
        missing = np.isnan(levels)
        if missing.any():
            levels[missing] = 0.0
        out[piece] = levels
    return found


def _source(values: Any) -> Any:
    """What is read for the value under the mouse: a field or an array."""
    shown: type[Any] = np.ndarray
    return values if isinstance(values, (Values, shown)) else None
