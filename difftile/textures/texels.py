"""Fields of texels, made of arrays or of a user's fields."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import difftile as dt
from difftile.diagnostics import FieldError, brief
from difftile.fields.exchange import as_array

MOST_CHANNELS = 16  # kernels do not unroll longer vectors well
MOST_DIMENSIONS = 3
_EXAMPLES = {1: "(W, C)", 2: "(H, W, C)", 3: "(D, H, W, C)"}


def texels_of(
    data: Any, dims: int | None, cube: bool, srgb: bool, dtype: Any, grad: bool
) -> tuple[dt.Field, int]:
    """Return a field of texels, and the number of its spatial axes.

    Args:
        data: An array, or a field of numbers or vectors.
        dims: The number of spatial axes; None for the usual one.
        cube: The first axis counts six faces, each a square.
        srgb: The array is encoded for displays.
        dtype: The number type of the texels; None for the type of the data, `ti.f32` for bytes.
        grad: Give the field a gradient.

    Raises:
        FieldError: The data does not fit a texture.
    """
    if cube and dims not in (None, 2):
        raise FieldError(f"The faces of a cube map have 2 dimensions, not {brief(dims)}.")
    if dims is not None and dims not in range(1, MOST_DIMENSIONS + 1):
        raise FieldError(f"A texture has 1 to {MOST_DIMENSIONS} dimensions, not {brief(dims)}.")
    if isinstance(data, dt.ArrayLike):
        found = _taken(data, srgb, dtype, grad)
        axes = len(found.shape)
    else:
        found, axes = _made(data, 2 if cube else dims, cube, srgb, dtype, grad)
    space = axes - 1 if cube else axes
    if not found.size:
        raise FieldError(f"A texture of shape {found.shape} has no elements.")
    if dims not in (None, space) or not 1 <= space <= MOST_DIMENSIONS:
        wanted = "3 axes: six faces, rows, columns" if cube else f"1 to {MOST_DIMENSIONS} axes"
        if dims is not None and not cube:
            wanted = f"as many axes as dims says: {dims}"
        raise FieldError(f"{data!r} is not a field of texels; give it {wanted}.")
    if cube and (found.shape[0] != 6 or found.shape[1] != found.shape[2]):
        raise FieldError(f"A cube map has the shape (6, N, N), not {found.shape}.")
    return found, space


def _taken(data: dt.ArrayLike, srgb: bool, dtype: Any, grad: bool) -> dt.Field:
    """Return a user's field, which the texture shares."""
    if not isinstance(data, dt.Field):
        raise FieldError(
            f"A texture is made of a whole field, not {brief(data)}; make a copy of it."
        )
    if srgb:
        raise FieldError(
            "The texels of a field are linear. Pass an array to decode it with srgb=True, or leave "
            "srgb out."
        )
    shape, floats = data.element_shape, data.numpy_dtype.kind == "f"
    if not floats or len(shape) > 1 or math.prod(shape) > MOST_CHANNELS:
        raise FieldError(
            f"Texels are floats, or vectors of up to {MOST_CHANNELS} floats; {data!r} holds "
            f"{data.element}."
        )
    wanted = None if dtype is None else dt.empty(0, dtype)
    if wanted is not None and (wanted.element_shape or wanted.numpy_dtype != data.numpy_dtype):
        raise FieldError(f"{data!r} does not hold {wanted.element}; leave dtype out.")
    return data.with_grads() if grad and not data.has_grads else data


def _made(
    data: Any, dims: int | None, cube: bool, srgb: bool, dtype: Any, grad: bool
) -> tuple[dt.Field, int]:
    array = as_array(data)
    space = (dims or min(array.ndim, 2 if array.ndim < 4 else 3)) + cube
    if array.ndim not in (space, space + 1) or array.ndim == 0:
        usual = "(6, N, N, C)" if cube else _EXAMPLES.get(dims or 2, "")
        raise FieldError(
            f"An array of shape {array.shape} is not a texture of {space - cube} dimensions; pass "
            f"one of shape {usual}, or without C for one channel."
        )
    channels = array.shape[-1] if array.ndim == space + 1 else None
    if channels is not None and not 1 <= channels <= MOST_CHANNELS:
        raise FieldError(
            f"An array of shape {array.shape} has {channels} channels; a texture has up to "
            f"{MOST_CHANNELS}. Give the number of spatial axes: dims={array.ndim}."
        )
    if array.dtype.kind != "f" and array.dtype != np.uint8:
        raise FieldError(
            f"Texels are floats or bytes, not {array.dtype}: divide them by their largest value."
        )
    values = array / 255.0 if array.dtype == np.uint8 else array.astype(np.float64)
    if srgb:
        if not (np.min(values, initial=0.0) >= 0 and np.max(values, initial=1.0) <= 1):
            raise FieldError("Texels encoded as sRGB are bytes, or floats from 0 to 1.")
        # Source: IEC 61966-2-1. Every fourth channel is linear.
        light = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
        if channels is not None:
            light[..., 3::4] = values[..., 3::4]
        values = light
    given = dtype if dtype is not None else float if array.dtype == np.uint8 else array.dtype
    element = given if channels is None else dt.vec(channels, given)
    return dt.from_numpy(values, dtype=element, grad=grad), space
