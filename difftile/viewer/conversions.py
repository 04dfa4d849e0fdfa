"""Positions, colours and pixels from users' fields and arrays.

All data is copied: shapes do not change when their fields do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

import matplotlib
import matplotlib.colors
import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import ViewerError, did_you_mean
from difftile.viewer.checks import as_array
from difftile.viewer.primitives import Backdrop, Bytes, Floats

Data: TypeAlias = "dt.ArrayLike | npt.ArrayLike"
Colour: TypeAlias = Any  # "#4db6ac", "teal", three numbers, or an array or field with one each
ColourMap: TypeAlias = str | matplotlib.colors.Colormap

_PIECE = 1 << 16  # numbers per piece, which stays in the cache


def as_backdrop(rendered: Data | tuple[Data, Data] | None) -> Backdrop | None:
    """Return the result of the function of `App.backdrop` as a shape; None stays None."""
    if rendered is None:
        return None
    pair = isinstance(rendered, tuple) and len(rendered) == 2
    image, depth = cast("tuple[Data, Data | None]", rendered if pair else (rendered, None))
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
    array = as_floats(values, "positions")
    if array.ndim == 0 or array.shape[-1] not in (2, 3):
        raise ViewerError(f"positions have two or three components, not the shape {array.shape}")
    return array.reshape(-1, array.shape[-1])


def as_colours(colour: Colour, count: int) -> Bytes:
    """Return colours as bytes, shape (3,) for one or (count, 3) for one each.

    Args:
        colour: A name or "#rrggbb"; three numbers; a list of names or triples, one each, shape
            (count, 3); or one number each, shape (count,), shown in a colour map.
        count: The number of shapes.

    Raises:
        ViewerError: The argument is not a colour, or not one for each shape.
    """
    if isinstance(colour, str):
        return _named_colour(colour)
    if isinstance(colour, (list, tuple)):
        given = cast(Sequence[Any], colour)
        if given and all(isinstance(one, str) for one in given):
            colour = np.array([_named_colour(one) for one in given])
        elif len(given) in (3, 4) and all(isinstance(one, (int, float)) for one in given):
            return _single_colour(np.array(given))  # even if there are three shapes
    array = as_array(colour, "colours")
    if array.ndim >= 2 and array.shape[-1] in (3, 4):
        array = array.reshape(-1, array.shape[-1])[:, :3]
        refuse_large_integers(array, "colours")
        if len(array) == count:
            return as_bytes(array)
    elif array.shape in ((3,), (4,)) and count != array.shape[0]:
        return _single_colour(array)
    elif array.size == count:
        return mapped(array.reshape(-1), None, None, colour_table("viridis"))
    elif array.shape == (3,):
        return _single_colour(array)
    if array.ndim == 0:
        raise ViewerError(f"{colour!r} is not a colour; write '#4db6ac' or 'teal'")
    raise ViewerError(
        f"colours of the shape {array.shape} do not fit {count} shapes: pass one for all, or one "
        "for each"
    )


def _single_colour(numbers: npt.NDArray[Any]) -> Bytes:
    if numbers.dtype != np.uint8 and not ((numbers >= 0) & (numbers <= 1)).all():
        shown = tuple(numbers.tolist())
        raise ViewerError(f"a colour is three numbers from 0 to 1, or np.uint8, not {shown}")
    return as_bytes(numbers[:3])


def refuse_large_integers(colours: npt.NDArray[Any], noun: str) -> None:
    """Refuse colours that are bytes in another type, since they would be shown as white.

    Raises:
        ViewerError: The colours are integers above 1, but not bytes.
    """
    if colours.dtype.kind in "iu" and colours.dtype != np.uint8 and colours.max(initial=0) > 1:
        raise ViewerError(
            f"{noun} are floats from 0 to 1 or np.uint8, not {colours.dtype} up to {colours.max()};"
            " convert bytes by astype(np.uint8)"
        )


def mapped(values: npt.NDArray[Any], low: float | None, high: float | None, table: Bytes) -> Bytes:
    """Return numbers as the 256 colours of a map, shape (..., 3); magenta if not finite."""
    numbers = values.astype(np.float32, copy=False)
    finite = np.isfinite(numbers)
    known = numbers if finite.all() else numbers[finite]
    least = float(known.min(initial=np.inf)) if low is None else low
    most = float(known.max(initial=-np.inf)) if high is None else high
    span = most - least if most > least else 1.0
    with np.errstate(invalid="ignore"):
        levels = np.clip((numbers - least) * (255 / span), 0, 255)
        indices = levels.astype(np.uint8)
    found = np.take(table, indices, axis=0)  # five times as fast as indexing
    if known is not numbers:
        found[~finite] = (255, 0, 255)
    return found


def as_floats(values: Data, noun: str) -> Floats:
    """Return a copy with NaN for infinite numbers: NaN never causes warnings in sums.

    Raises:
        ViewerError: The argument is not an array of real numbers.
    """
    array = as_array(values, noun).astype(np.float32)
    array[np.isinf(array)] = np.nan
    return array


@lru_cache(maxsize=256)
def _named_colour(colour: str) -> Bytes:
    try:
        return as_bytes(np.array(matplotlib.colors.to_rgb(colour)))
    except ValueError:
        close = did_you_mean(colour, matplotlib.colors.CSS4_COLORS)
        hint = close or "write '#4db6ac' or 'teal'"
        raise ViewerError(f"{colour!r} is not a colour; {hint}") from None


def colour_table(colours: ColourMap) -> Bytes:
    """Return the colours of a map, shape (256, 3).

    Raises:
        ViewerError: There is no such map.
    """
    if isinstance(colours, matplotlib.colors.Colormap):
        return as_bytes(np.asarray(colours(np.linspace(0.0, 1.0, 256)))[:, :3])
    if isinstance(cast(object, colours), str) and colours in matplotlib.colormaps:
        return _named_table(colours)
    close = did_you_mean(str(colours), matplotlib.colormaps)
    raise ViewerError(
        f"{colours!r} is not a colour map of matplotlib; {close or 'use viridis or another one'}"
    )


@lru_cache(maxsize=16)
def _named_table(name: str) -> Bytes:
    return as_bytes(np.asarray(matplotlib.colormaps[name](np.linspace(0.0, 1.0, 256)))[:, :3])


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
    return values if isinstance(values, (dt.ArrayLike, shown)) else None
