"""`dt.Texture`: a field that kernels sample between its elements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, brief, did_you_mean
from difftile.fields.exchange import as_integer
from difftile.textures.cube import lookup_on_cube, moderate, moved_on_cube, texel_on_cube
from difftile.textures.filters import FILTERS
from difftile.textures.footprint import (
    count_of,
    divided_footprint,
    footprint_lod,
    footprint_size,
    major_axis,
)
from difftile.textures.lookup import lookup, moved, nearby, texel
from difftile.textures.mips import Levels
from difftile.textures.texels import texels_of
from difftile.textures.wraps import WRAPS
from difftile.tracebacks import boundary

MIPS = ("off", "nearest", "linear")
AXES = ("image", "xy")
GRID = (lookup, texel, moved, nearby)
CUBE = (lookup_on_cube, texel_on_cube, moved_on_cube, moderate)
# Derived from the data and the options.
_FOLLOWING = {
    *("lookup", "texel", "moved", "nearby", "channels", "coordinates", "filtering", "grid"),
    *("wraps", "bordered", "repeats", "has_border", "levels", "chain", "offsets"),
}


@dt.data_oriented
class Texture:
    """A field of texels that kernels sample between its elements.

    Positions are normalised: texel i of N covers [i / N, (i + 1) / N), and its centre is in the
    middle. `sample`, `sample_lod`, `sample_grad` and `fetch` are funcs: kernels and other funcs
    call them on a texture that is captured, or an argument, and Python maps them over fields of
    positions. Gradients go to the texels, `data`, to positions, levels of detail, footprints, and
    to the border.

    Args:
        data: An array or a field of texels; see `dims`. Bytes are divided by 255.
        filter: "linear", "nearest", or "cubic": the uniform B-spline, which is smooth and blurs.
        wrap: The values outside: "clamp" (the nearest texel), "repeat", "mirror", or "border" (a
            constant). One for each coordinate, (u, v), or one for all.
        border: The constant: a number, a number for each channel, or a field of shape ().
        mip: "off", or the choice of levels for a level of detail: the "nearest" one, or "linear"
            between two. Levels are averages of two texels along each axis.
        max_aniso: The largest number of lookups along the longer axis of a footprint.
        srgb: The array is encoded as sRGB, and decoded here. Every fourth channel is linear.
        axes: "image", where u runs along the last axis of the data (columns), or "xy", where it
            runs along the first.
        dims: The number of spatial axes of an array. By default all up to two; of three axes the
            first two, of four the first three, and the last one counts channels.
        cube: The data is six faces, +x, -x, +y, -y, +z, -z, shape (6, N, N) or (6, N, N, channels),
            oriented as in OpenGL, Direct3D and Vulkan. Positions are then directions, vectors of
            three of any length; lookups continue from face to face, so there is no wrap.
        dtype: The number type of texels made of an array; by default its own, `ti.f32` for bytes.
        grad: Give gradients to the texels, and to a border in use.

    Attributes:
        data: The texels, a field of numbers or vectors.
        border: The constant outside, a field of shape ().
        levels: Fields of the texels of each level; the first is `data`.
        dims: The number of spatial axes.
        channels: Components of a texel; None if texels are numbers.

    Raises:
        FieldError: An argument is unknown, or does not fit the data.
    """

    @boundary
    def __init__(
        self,
        data: Any,
        filter: str = "linear",
        wrap: str | Iterable[str] = "clamp",
        border: Any = 0.0,
        mip: str = "off",
        max_aniso: int = 1,
        srgb: bool = False,
        *,
        axes: str = "image",
        dims: int | None = None,
        cube: bool = False,
        dtype: Any = None,
        grad: bool = False,
    ) -> None:
        self.data, self.dims = texels_of(data, dims, cube, srgb, dtype, grad)
        self.filter = _chosen("filter", filter, FILTERS)
        self.wrap = _wraps(wrap, self.dims)
        self.mip = _chosen("mip", mip, MIPS)
        self.axes = _chosen("axes", axes, AXES)
        count = as_integer(max_aniso)
        if count is None or count < 1:
            raise FieldError(f"max_aniso is an integer, 1 or more, not {brief(max_aniso)}.")
        self.max_aniso = count
        self.cube = cube
        if cube:
            _check_cube(self, border)
        self._choose()
        self.border = _border(border, self.data, grad and self.has_border)
        self._make_levels()

    def _choose(self) -> None:
        """Set the values that the funcs of `lookup` read, by the options."""
        self.lookup, self.texel, self.moved, self.nearby = CUBE if self.cube else GRID
        shape = self.data.element_shape
        self.channels = shape[0] if shape else None
        order = range(self.dims)  # of the axes
        self.coordinates = tuple(reversed(order)) if self.axes == "image" else tuple(order)
        self.filtering = FILTERS[self.filter]
        self.grid = (self.filtering.taps,) * self.dims
        self.wraps = tuple(WRAPS[self.wrap[c]] for c in self.coordinates)
        self.bordered = tuple(self.wrap[c] == "border" for c in self.coordinates)
        self.repeats = bool({"repeat", "mirror"} & set(self.wrap))
        self.has_border = any(self.bordered)

    def _make_levels(self) -> None:
        self.levels = [self.data]
        if self.mip != "off":
            built = Levels(self.data, (1, 2, 2) if self.cube else (2,) * self.dims)
            self.levels, self.chain, self.offsets = built.fields, built.chain, built.offsets

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _FOLLOWING}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._choose()
        self._make_levels()

    @dt.func
    def sample(self, uv):
        """Return the filtered value at a position, on level 0.

        Args:
            uv: A number in 1-D, else a vector: (u, v), (u, v, w), or a direction to a cube map.
        """
        value = ti.zero(self.border[None])
        at, found = self.nearby(self, uv)
        if found:
            value = self.lookup(self, self.data, None, at)
        return value

    @dt.func
    def sample_lod(self, uv, lod):
        """Return the filtered value at a position, at a level of detail.

        Args:
            uv: The position, as in `sample`.
            lod: 0 for level 0, 1 for the next; clamped between 0 and the last level, with gradient
                0 beyond. Without levels it is ignored.
        """
        if ti.static(self.mip == "off"):
            return self.sample(uv)
        last = self.offsets.shape[0] - 1
        wanted = 0.0 if math.isnan(lod) else lod
        shifted = wanted + 0.5 if ti.static(self.mip == "nearest") else wanted
        level = last if shifted >= last else int(max(shifted, 0.0))
        value = ti.zero(self.border[None])
        at, found = self.nearby(self, uv)
        if found:
            value = self.lookup(self, self.chain, level, at)
            if ti.static(self.mip == "linear") and not (wanted < 0 or wanted >= last):
                beyond = self.lookup(self, self.chain, min(level + 1, last), at)
                value += (wanted - level) * (beyond - value)
        return value

    @dt.func
    def sample_grad(self, uv, ddx, ddy):
        """Return the mean over the footprint of a pixel.

        Args:
            uv: The position, as in `sample`.
            ddx: The difference to the position at the next pixel in a row.
            ddy: The difference to the position at the next pixel in a column.
        """
        value = ti.zero(self.border[None])
        _, found = self.nearby(self, uv)
        if found:
            size = footprint_size(self, uv, ddx, ddy)
            lod, n, axis = size, 1, ti.zero(uv)
            if math.isfinite(size):
                dx, dy = divided_footprint(self, uv, ddx, ddy, size)
                lod, longer = footprint_lod(self, dx, dy, size)
                n = count_of(self, lod, longer)
                if n > 1:
                    of_x, of_y = major_axis(dx, dy)
                    axis = of_x * ddx + of_y * ddy
            for k in range(n):
                value += self.sample_lod(uv + ((k + 0.5) / n - 0.5) * axis, lod) / n
        return value

    @dt.func
    def fetch(self, index, level=None):
        """Return one texel, unfiltered; an index outside is wrapped.

        Args:
            index: An integer in 1-D, else a vector of integers, in the order of the data's axes; on
                cubes face, row and column, each clamped.
            level: The level, clamped between 0 and the last; None for level 0.
        """
        if ti.static(self.mip == "off" or level is None):
            return self.texel(self, self.data, None, index)
        at = max(0, min(level, self.offsets.shape[0] - 1))
        return self.texel(self, self.chain, at, index)

    def __repr__(self) -> str:
        kind = "cube map" if self.cube else "texture"
        levels = f", {len(self.levels)} levels" if self.mip != "off" else ""
        return f"<{kind} {self.data.element} {self.data.shape}, {self.filter}{levels}>"


def _chosen(what: str, name: Any, known: Mapping[str, Any] | Iterable[str]) -> str:
    names = list(known)
    if isinstance(name, str) and name in names:
        return name
    question = did_you_mean(name, names) if isinstance(name, str) else None
    listed = ", ".join(f"'{one}'" for one in names)
    hint = f" {question[0].upper()}{question[1:]}" if question else ""
    raise FieldError(f"{what}={name!r} is not one of {listed}.{hint}")


def _wraps(wrap: Any, dims: int) -> tuple[str, ...]:
    """Return the wrap of each coordinate."""
    if isinstance(wrap, str) or not isinstance(wrap, Iterable):
        return (_chosen("wrap", wrap, WRAPS),) * dims
    found = tuple(_chosen("wrap", one, WRAPS) for one in wrap)
    if len(found) != dims:
        raise FieldError(f"wrap={found!r} does not have an entry for each of {dims} coordinates.")
    return found


def _check_cube(texture: Texture, border: Any) -> None:
    """Refuse options without a meaning on the surface of a cube."""
    if texture.filter == "cubic":
        raise FieldError(
            "filter='cubic' has no meaning at the corners of a cube map; use 'linear'."
        )
    plain = (
        set(texture.wrap) == {"clamp"}
        and not isinstance(border, dt.ArrayLike)
        and np.all(border == 0)
    )
    if not plain or texture.axes != "image":
        raise FieldError("A cube map has no outside: leave wrap, border and axes out.")


def _border(border: Any, data: dt.Field, grad: bool) -> dt.Field:
    """Return the field of the constant outside a texture."""
    if not isinstance(border, dt.ArrayLike):
        return dt.full((), border, dtype=data.dtype, grad=grad)
    if not isinstance(border, dt.Field) or border.shape != () or border.element != data.element:
        raise FieldError(
            f"The border is a field of shape () of {data.element}, not {brief(border)}."
        )
    return border.with_grads() if grad and not border.has_grads else border
