"""What is under the mouse: the element of a field, its value and its gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.viewer.discs import discs
from difftile.viewer.perspective import Perspective
from difftile.viewer.primitives import Backdrop, Circles, Floats, Image, Markers, Mesh, Primitive
from difftile.viewer.screen import Area, Projection
from difftile.viewer.triangles import triangles

_SLACK = 6.0  # how far from a point the mouse may be [px]
_AS_NEAR = 1.5  # points whose distances from the mouse differ by less are told apart by depth [px]


@dataclass(frozen=True, slots=True)
class Pick:
    """An element that is under the mouse.

    Attributes:
        index: Its index in the field that is shown.
        at: Where it is on the screen [px].
        value: Of the element; read when it was picked.
        gradient: Of the loss with respect to it; None where the field has none.
        depth: How far it is from the eye; 0 in the plane.
    """

    index: tuple[int, ...]
    at: tuple[float, float]
    value: Any
    gradient: Any
    depth: float = 0.0

    def __str__(self) -> str:
        index = ", ".join(map(str, self.index))
        lines = [f"[{index}] = {_shown(self.value)}"]
        if self.gradient is not None:
            lines.append(f"grad = {_shown(self.gradient)}")
        return "\n".join(lines)


def pick(
    primitives: Iterable[Primitive], projection: Projection, x: float, y: float
) -> Pick | None:
    """Return what is under a pixel, of the shapes that show a field; None if that is nothing.

    Points, circles and the vertices of meshes are picked by their distance on the screen, the one
    nearer to the eye first where they are on each other, unless faces, discs or a backdrop hide it.
    An image is picked where no point is. What was drawn later is on top.
    """
    shapes = list(primitives)
    below: Pick | None = None
    for one in reversed(shapes):
        match one:
            case Markers(positions=places, radius=radius) if one.source is not None:
                found = nearest(places, projection, x, y, radius + _SLACK)
            case Circles(centers=places, radii=radii) if one.source is not None:
                found = nearest(places, projection, x, y, _SLACK, radii)
            case Mesh(vertices=places) if one.source is not None:
                found = nearest(places, projection, x, y, _SLACK)
            case Image() if one.source is not None and below is None:
                below = _pixel(one, projection, x, y)
                continue
            case _:
                continue
        if found is not None:
            number, at, depth = found
            if isinstance(projection, Perspective) and _hidden(shapes, projection, at, depth):
                continue
            shape = _grid(one.source, len(places))
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
    """Return which position is the nearest to a pixel, with its own pixel and its depth.

    Args:
        positions: Shape (n, 2) or (n, 3).
        projection: Where they are on the screen.
        x: The pixel.
        y: Likewise.
        within: The largest distance that counts [px].
        radii: Of discs around them, in their units, inside of which the distance is 0.
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
    """Tell whether something that fills pixels is nearer to the eye than a point."""
    near = float(projection.lifted(np.array([projection.focal / depth], np.float32), _SLACK)[0])
    size = (1, 1)  # a picture of the one pixel
    begin = np.array([np.floor(at)], np.float32)
    for one in shapes:
        match one:
            case Mesh():
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
    """Return where an image is on the screen."""
    rows, columns = image.pixels.shape[:2]
    if image.box is None:
        area = projection.area
        scale = min(area.width / columns, area.height / rows)
        width, height = columns * scale, rows * scale
        middle_x, middle_y = area.center
        return Area(middle_x - width / 2, middle_y - height / 2, width, height)
    left, bottom, right, top = image.box
    pixels, _, _ = projection.project(np.array([[left, top], [right, bottom]], np.float32))
    (x0, y0), (x1, y1) = pixels.tolist()
    return Area(x0, y0, x1 - x0, y1 - y0)


def _pixel(image: Image, projection: Projection, x: float, y: float) -> Pick | None:
    area = image_area(image, projection)
    rows, columns = image.pixels.shape[:2]
    if not area.holds(x, y) or tuple(image.source.shape[:2]) != (rows, columns):
        return None
    row = min(int((y - area.top) / area.height * rows), rows - 1)
    column = min(int((x - area.left) / area.width * columns), columns - 1)
    return _read(image.source, (row, column), (x, y), 0.0)


def _grid(source: Any, count: int) -> tuple[int, ...]:
    """The shape of a field of positions, without the axis of components that arrays have."""
    shape = tuple(source.shape)
    return shape if math.prod(shape) == count else shape[:-1]


def _read(source: Any, index: tuple[int, ...], at: tuple[float, float], depth: float) -> Pick:
    value, gradient = _element(source, index), getattr(source, "grad_out", None)
    slope = None if gradient is None else _element(gradient, index)
    return Pick(index, at, value, slope, depth)


def _element(values: Any, index: tuple[int, ...]) -> Any:
    """Return one element; of axes that the index leaves out, all."""
    rest = len(values.shape) - len(index)
    return np.asarray(values[(*index, *[slice(None)] * rest)] if rest else values[index])


def _shown(value: npt.ArrayLike) -> str:
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{array.item():.4g}"
    return "(" + ", ".join(f"{number:.4g}" for number in array.ravel().tolist()) + ")"
