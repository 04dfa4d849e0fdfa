"""Picking: the element of a field under the mouse, its value and its gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.viewer.discs import discs
from difftile.viewer.overlay import is_of_overwritten
from difftile.viewer.perspective import Perspective
from difftile.viewer.primitives import Backdrop, Circles, Facets, Floats, Image, Markers, Primitive
from difftile.viewer.screen import Area, Projection
from difftile.viewer.triangles import triangles

_SLACK = 6.0  # largest distance of the mouse from a point [px]
_AS_NEAR = 1.5  # depth decides between points whose distances differ by less [px]


@dataclass(frozen=True, slots=True)
class Pick:
    """An element under the mouse.

    Attributes:
        index: Its index in the source field.
        at: Its position on the screen [px].
        value: Its value when it was picked.
        gradient: Of the loss with respect to it; None if the field has no gradient.
        depth: Its depth; 0 in the plane.
        is_of_overwritten: Whether the gradient is with respect to a value before this one.
    """

    index: tuple[int, ...]
    at: tuple[float, float]
    value: Any
    gradient: Any
    depth: float = 0.0
    is_of_overwritten: bool = False

    def __str__(self) -> str:
        index = ", ".join(map(str, self.index))
        lines = [f"[{index}] = {_shown(self.value)}"]
        if self.gradient is not None:
            which = " (of the value before the tape)" if self.is_of_overwritten else ""
            lines.append(f"grad = {_shown(self.gradient)}{which}")
        return "\n".join(lines)


def pick(
    primitives: Iterable[Primitive], projection: Projection, x: float, y: float
) -> Pick | None:
    """Return the element under a pixel, of shapes with a source field; None if there is none.

    Points, circles and the vertices of meshes are picked by their distance on the screen, then by
    depth, unless faces, discs or a backdrop hide them. An image is picked where no point is. Later
    shapes are on top.
    """
    shapes = list(primitives)
    below: Pick | None = None
    for one in reversed(shapes):
        match one:
            case Markers(positions=places, radius=radius) if one.source is not None:
                found = nearest(places, projection, x, y, radius + _SLACK)
            case Circles(centers=places, radii=radii) if one.source is not None:
                found = nearest(places, projection, x, y, _SLACK, radii)
            case Facets(vertices=places) if one.source is not None:
                found = nearest(places, projection, x, y, _SLACK)
            case Image() if one.source is not None and below is None:
                area, (rows, columns) = image_area(one, projection), one.pixels.shape[:2]
                if area.holds(x, y) and tuple(one.source.shape[:2]) == (rows, columns):
                    row = min(int((y - area.top) / area.height * rows), rows - 1)
                    column = min(int((x - area.left) / area.width * columns), columns - 1)
                    below = _read(one.source, (row, column), (x, y), 0.0)
                continue
            case _:
                continue
        if found is not None:
            number, at, depth = found
            if isinstance(projection, Perspective) and _hidden(shapes, projection, at, depth):
                continue
            shape = tuple(one.source.shape)
            if math.prod(shape) != len(places):
                shape = shape[:-1]  # of components, which arrays have and fields of vectors do not
            index = tuple(int(k) for k in np.unravel_index(number, shape))
            return _read(one.source, index, at, depth)
    return below


def nearest(
    positions: Floats,
    projection: Projection,
    x: float,
    y: float,
    within: float,
    radii: Floats | None = None,
) -> tuple[int, tuple[float, float], float] | None:
    """Return the index of the position nearest to a pixel, its pixel and its depth, or None.

    Args:
        positions: Shape (n, 2) or (n, 3).
        projection: Maps them to pixels.
        x: The pixel.
        y: The pixel.
        within: The largest distance that counts [px].
        radii: Radii of discs around the positions, in their units; the distance inside is 0.
    """
    if not len(positions):
        return None
    pixels, depths, scales = projection.project(positions)
    gaps = np.hypot(pixels[:, 0] - x, pixels[:, 1] - y)
    if radii is not None:
        gaps = np.maximum(gaps - radii * scales, 0.0)
    gaps = np.where(np.isfinite(gaps), gaps, np.inf)
    least = gaps.min()
    if not least <= within:
        return None
    close = np.flatnonzero(gaps <= least + _AS_NEAR)
    k = int(close[np.argmin(depths[close])])
    return k, (float(pixels[k, 0]), float(pixels[k, 1])), float(depths[k])


def _hidden(
    shapes: list[Primitive], projection: Perspective, at: tuple[float, float], depth: float
) -> bool:
    """Return whether a face, disc or backdrop hides a point."""
    near = float(projection.lifted(np.array([projection.focal / depth], np.float32), _SLACK)[0])
    size = (1, 1)  # a picture of the one pixel
    begin = np.array([np.floor(at)], np.float32)
    for one in shapes:
        match one:
            case Facets():
                corners, scale, _ = projection.faces(one)
                parts = triangles(size, corners - begin, scale)
            case Circles(outline=0.0):
                pixels, _, scale = projection.project(one.centers)
                parts = discs(size, pixels - begin, one.radii * scale, scale)
            case Backdrop(depth=depths) if depths is not None:
                area, (rows, columns) = projection.area, depths.shape
                row = int((at[1] - area.top) / area.height * rows)
                column = int((at[0] - area.left) / area.width * columns)
                there = float(depths[min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)])
                if 0.0 < there < np.inf and projection.focal / there > near:
                    return True
                continue
            case _:
                continue
        if any(part.nearness is not None and (part.nearness > near).any() for part in parts):
            return True
    return False


def image_area(image: Image, projection: Projection) -> Area:
    """Return the area of an image on the screen."""
    rows, columns = image.pixels.shape[:2]
    if image.box is None:
        area = projection.area
        scale = min(area.width / columns, area.height / rows)
        width, height = columns * scale, rows * scale
        middle_x, middle_y = area.center
        return Area(middle_x - width / 2, middle_y - height / 2, width, height)
    left, bottom, right, top = image.box
    pixels, _, _ = projection.project(np.array([[left, top], [right, bottom]], np.float32))
    return Area.between(*pixels.ravel().tolist())


def _read(source: Any, index: tuple[int, ...], at: tuple[float, float], depth: float) -> Pick:
    value, gradient = _element(source, index), getattr(source, "grad_out", None)
    slope = None if gradient is None else _element(gradient, index)
    return Pick(index, at, value, slope, depth, is_of_overwritten(source))


def _element(values: Any, index: tuple[int, ...]) -> Any:
    """Return one element, with all of the axes that the index leaves out."""
    rest = len(values.shape) - len(index)
    return np.asarray(values[(*index, *[slice(None)] * rest)] if rest else values[index])


def _shown(value: npt.ArrayLike) -> str:
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{array.item():.4g}"
    return "(" + ", ".join(f"{number:.4g}" for number in array.ravel().tolist()) + ")"
