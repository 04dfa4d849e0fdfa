"""Positions, colours and pixels from users' fields and arrays.

All data is copied: shapes do not change when their fields do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias, cast

import matplotlib
import matplotlib.colors
import numpy as np
import numpy.typing as npt

from difftile.diagnostics import ViewerError
from difftile.fields.array_like import ArrayLike
from difftile.viewer.primitives import Backdrop, Bytes, Floats

Data: TypeAlias = ArrayLike | npt.ArrayLike
Colour: TypeAlias = Any  # "#4db6ac", "teal", three numbers, or an array or field with one each

_PIECE = 1 << 16  # numbers per piece, which stays in the cache


def as_backdrop(rendered: Data | tuple[Data, Data] | None) -> Backdrop | None:
    """Return the result of the function of `App.backdrop` as a shape; None stays None."""
    if rendered is None:
        return None
    pair = isinstance(rendered, tuple) and len(rendered) == 2
    image, depth = cast(tuple[Data, Data | None], rendered if pair else (rendered, None))
    pixels = np.asarray(image)
    pixels = pixels[0] if pixels.ndim == 4 and len(pixels) == 1 else pixels  # a batch of one camera
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        raise ViewerError(f"a backdrop has colours of the shape (h, w, 3), not {pixels.shape}")
    colours = as_bytes(pixels)[..., :3]
    if depth is None:
        return Backdrop(colours)
    depths = np.array(depth, np.float32)
    if depths.size != colours.shape[0] * colours.shape[1]:
        raise ViewerError(
            f"the depth of a backdrop of {colours.shape[:2]} pixels has the shape {depths.shape}"
        )
    return Backdrop(colours, depths.reshape(colours.shape[:2]))


def as_positions(values: Data) -> Floats:
    """Return positions, shape (n, 2) or (n, 3).

    Raises:
        ViewerError: They do not have two or three components.
    """
    array = as_floats(values)
    if array.ndim == 0 or array.shape[-1] not in (2, 3):
        raise ViewerError(f"positions have two or three components, not the shape {array.shape}")
    return array.reshape(-1, array.shape[-1])


def as_colours(colour: Colour, count: int) -> Bytes:
    """Return colours as bytes, shape (3,) for one or (count, 3) for one each.

    Args:
        colour: A name or "#rrggbb"; three numbers; one such triple each, shape (count, 3); or one
            number each, shape (count,), shown in a colour map.
        count: The number of shapes.

    Raises:
        ViewerError: The argument is not a colour, or not one for each shape.
    """
    if isinstance(colour, str):
        return _named_colour(colour)
    array = np.asarray(colour)
    if array.ndim >= 2 and array.shape[-1] in (3, 4):
        array = array.reshape(-1, array.shape[-1])[:, :3]
        if len(array) == count:
            return as_bytes(array)
    elif array.shape in ((3,), (4,)) and count != array.shape[0]:
        return as_bytes(array[:3])
    elif array.size == count:
        return mapped(array.reshape(-1), None, None, "viridis")
    elif array.shape == (3,):
        return as_bytes(array)
    raise ViewerError(f"colours of the shape {array.shape} do not fit {count} shapes")


def mapped(values: npt.NDArray[Any], low: float | None, high: float | None, colours: str) -> Bytes:
    """Return numbers as colours of a map, shape (..., 3); non-finite numbers are magenta."""
    numbers = values.astype(np.float32, copy=False)
    finite = np.isfinite(numbers)
    known = numbers if finite.all() else numbers[finite]
    least = float(known.min(initial=np.inf)) if low is None else low
    most = float(known.max(initial=-np.inf)) if high is None else high
    span = most - least if most > least else 1.0
    with np.errstate(invalid="ignore"):
        levels = np.clip((numbers - least) * (255 / span), 0, 255)
        indices = levels.astype(np.uint8)
    found = np.take(_colour_table(colours), indices, axis=0)  # five times as fast as indexing
    if known is not numbers:
        found[~finite] = (255, 0, 255)
    return found


def as_floats(values: Data) -> Floats:
    """Return a copy with NaN for infinite numbers: NaN never causes warnings in sums."""
    array = np.array(values, np.float32)
    array[np.isinf(array)] = np.nan
    return array


@lru_cache(maxsize=256)
def _named_colour(colour: str) -> Bytes:
    try:
        return as_bytes(np.array(matplotlib.colors.to_rgb(colour)))
    except ValueError:
        raise ViewerError(f"{colour!r} is not a colour; write '#4db6ac' or 'teal'") from None


@lru_cache(maxsize=16)
def _colour_table(name: str) -> Bytes:
    try:
        return as_bytes(np.asarray(matplotlib.colormaps[name](np.arange(256)))[:, :3])
    except KeyError:
        raise ViewerError(
            f"{name!r} is not a colour map of matplotlib; use 'viridis' or another one"
        ) from None


def as_bytes(colours: npt.NDArray[Any]) -> Bytes:
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


def source_of(values: Any) -> Any:
    """Return the field or array that the mouse reads values from, or None."""
    shown: type[Any] = np.ndarray
    return values if isinstance(values, (ArrayLike, shown)) else None
