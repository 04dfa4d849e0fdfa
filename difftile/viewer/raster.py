"""Pictures from shapes: what a projection says where they are, and a surface fills."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from difftile.viewer.curve import curve
from difftile.viewer.perspective import Perspective
from difftile.viewer.picking import image_area
from difftile.viewer.primitives import (
    Arrows,
    Boxes,
    Bytes,
    Circles,
    Floats,
    Image,
    Lines,
    Mesh,
    Plot,
    Points,
    Primitive,
    Text,
)
from difftile.viewer.projection import Area, Pixels, Projection
from difftile.viewer.surface import Surface, letters

_HEAD = 0.3  # of an arrow: how long its head is
_HEAD_MOST = 12.0  # and at most [px]
_HEAD_ANGLE = np.radians(28.0)  # of the sides of a head to the shaft


def draw(surface: Surface, primitives: Iterable[Primitive], projection: Projection) -> None:
    """Draw shapes in order, the last on top."""
    for one in primitives:
        _DRAWN[type(one)](surface, one, projection)


def _image(surface: Surface, image: Image, projection: Projection) -> None:
    surface.picture(image_area(image, projection), image.pixels, image.smooth)


def _points(surface: Surface, points: Points, projection: Projection) -> None:
    pixels, depth, _ = projection.project(points.positions)
    _discs(surface, pixels, np.full(len(pixels), points.radius, np.float32), depth, points.colours)


def _circles(surface: Surface, circles: Circles, projection: Projection) -> None:
    pixels, depth, scale = projection.project(circles.centers)
    radii = circles.radii * scale
    if circles.outline:
        surface.rings(pixels, radii, circles.colours, circles.outline)
    else:
        _discs(surface, pixels, radii, depth, circles.colours)


def _discs(surface: Surface, pixels: Floats, radii: Floats, depth: Floats, colours: Bytes) -> None:
    """Draw discs, the far ones first."""
    if depth.any():
        order = np.argsort(-depth, kind="stable")
        colours = colours if colours.ndim == 1 else colours[order]
        pixels, radii = pixels[order], radii[order]
    surface.discs(pixels, radii, colours)


def _lines(surface: Surface, lines: Lines, projection: Projection) -> None:
    if isinstance(projection, Perspective):
        lines = projection.cut(lines)
    begins, ends = projection.project(lines.begins)[0], projection.project(lines.ends)[0]
    surface.strokes(begins, ends, lines.colours, lines.width)


def _arrows(surface: Surface, arrows: Arrows, projection: Projection) -> None:
    shafts = Lines(arrows.begins, arrows.begins + arrows.vectors, arrows.colours, arrows.width)
    if isinstance(projection, Perspective):
        shafts = projection.cut(shafts)
    begins, tips = projection.project(shafts.begins)[0], projection.project(shafts.ends)[0]
    back = begins - tips
    length = np.hypot(back[:, 0], back[:, 1])[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        back = np.where(length > 0, back / length, 0.0) * np.minimum(_HEAD * length, _HEAD_MOST)
    surface.strokes(begins, tips, shafts.colours, arrows.width)
    for angle in (_HEAD_ANGLE, -_HEAD_ANGLE):
        c, s = np.cos(angle), np.sin(angle)
        side = np.stack([c * back[:, 0] - s * back[:, 1], s * back[:, 0] + c * back[:, 1]], axis=1)
        surface.strokes(tips, (tips + side).astype(np.float32), shafts.colours, arrows.width)


def _mesh(surface: Surface, mesh: Mesh, projection: Projection) -> None:
    pixels, depth, _ = projection.project(mesh.vertices)
    colours = projection.shade(mesh) if isinstance(projection, Perspective) else mesh.colours
    faces = mesh.faces
    if depth.any():  # the painter's algorithm: faces that pass through each other are not parted
        order = np.argsort(-depth[faces].mean(axis=1), kind="stable")
        faces = faces[order]
        colours = colours if colours.ndim == 1 else colours[order]
    surface.triangles(pixels[faces], colours)


def _boxes(surface: Surface, boxes: Boxes, projection: Projection) -> None:
    lows, highs = projection.project(boxes.lows)[0], projection.project(boxes.highs)[0]
    colours = np.broadcast_to(boxes.colours, (len(lows), 3))
    for low, high, colour in zip(
        np.minimum(lows, highs).tolist(), np.maximum(lows, highs).tolist(), colours, strict=True
    ):
        area = Area(low[0], low[1], high[0] - low[0], high[1] - low[1])
        surface.box(area, colour, boxes.rounding)


def _text(surface: Surface, text: Text, projection: Projection) -> None:
    x, y = projection.project(text.at[None])[0][0].tolist()
    if not np.isfinite([x, y]).all():
        return
    mask = letters(text.text, text.size, text.fixed, text.bold)
    h, w = mask.shape
    shift = {"l": 0.0, "m": w / 2, "r": w}[text.anchor[0]]
    rise = {"t": 0.0, "m": h / 2, "b": h}[text.anchor[1]]
    surface.text(x - shift, y - rise, mask, text.colour)


def _plot(surface: Surface, plot: Plot, projection: Projection) -> None:
    left, bottom, right, top = plot.box
    ends = projection.project(np.array([[left, bottom], [right, top]], np.float32))[0]
    low, high = ends.min(axis=0).tolist(), ends.max(axis=0).tolist()
    area = Area(low[0], low[1], high[0] - low[0], high[1] - low[1])
    draw(surface, curve(plot, area), Pixels(area))


_DRAWN: dict[type[Any], Callable[[Surface, Any, Projection], None]] = {
    Image: _image,
    Points: _points,
    Circles: _circles,
    Lines: _lines,
    Arrows: _arrows,
    Mesh: _mesh,
    Boxes: _boxes,
    Text: _text,
    Plot: _plot,
}
