"""Drawing of shapes: a projection gives their pixels, and a surface paints them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from difftile.viewer.curve import curve
from difftile.viewer.discs import discs
from difftile.viewer.perspective import Perspective
from difftile.viewer.picking import image_area
from difftile.viewer.primitives import (
    Arrows,
    Backdrop,
    Boxes,
    Circles,
    Facets,
    Floats,
    Image,
    Lines,
    Markers,
    Plot,
    Primitive,
    Text,
)
from difftile.viewer.screen import Area, Pixels, Projection
from difftile.viewer.strokes import RING, rings, strokes
from difftile.viewer.surface import Surface, letters
from difftile.viewer.triangles import triangles

_LIFT = 1.5  # by which points and lines count as nearer, in widths or radii
_HEAD = 0.3  # length of the head, as a share of the arrow
_HEAD_MOST = 12.0  # its largest length [px]
_HEAD_ANGLE = np.radians(28.0)  # between the sides of a head and the shaft


def draw(surface: Surface, primitives: Iterable[Primitive], projection: Projection) -> None:
    """Draw shapes: in the plane the last on top, in space the nearest.

    In space faces with hard edges come first, then shapes with smooth edges, which blend with the
    pixels below, then text, which is never hidden.
    """
    if isinstance(projection, Perspective):
        primitives = sorted(primitives, key=lambda one: _ORDER.get(type(one), 0))
    for one in primitives:
        _DRAWN[type(one)](surface, one, projection)


def _image(surface: Surface, image: Image, projection: Projection) -> None:
    surface.picture(image_area(image, projection), image.pixels, image.smooth)


def _backdrop(surface: Surface, backdrop: Backdrop, projection: Projection) -> None:
    surface.picture(projection.area, backdrop.pixels, smooth=True)
    if backdrop.depth is not None and isinstance(projection, Perspective):
        depth = backdrop.depth
        with np.errstate(invalid="ignore", divide="ignore"):
            scale = np.where((depth > 0.0) & np.isfinite(depth), projection.focal / depth, 0.0)
        surface.note(projection.area, scale.astype(np.float32))


def _points(surface: Surface, points: Markers, projection: Projection) -> None:
    pixels, _, scale = projection.project(points.positions)
    near = _nearness(projection, scale, _LIFT * points.radius)
    radii = np.full(len(pixels), points.radius, np.float32)
    surface.paint(discs(surface.size, pixels, radii, near), points.colours)


def _circles(surface: Surface, circles: Circles, projection: Projection) -> None:
    pixels, _, scale = projection.project(circles.centers)
    radii, colours = circles.radii * scale, circles.colours
    near = _nearness(projection, scale, _LIFT * circles.outline)
    if circles.outline:
        each = colours if colours.ndim == 1 else np.repeat(colours, RING, axis=0)
        surface.paint(rings(surface.size, pixels, radii, circles.outline, near), each)
    else:
        surface.paint(discs(surface.size, pixels, radii, near), colours)


def _lines(surface: Surface, lines: Lines, projection: Projection) -> None:
    if isinstance(projection, Perspective):
        lines = projection.cut(lines)
    begins, _, scale0 = projection.project(lines.begins)
    ends, _, scale1 = projection.project(lines.ends)
    near = _nearness(projection, np.stack([scale0, scale1], axis=1), _LIFT * lines.width)
    surface.paint(strokes(surface.size, begins, ends, lines.width, near), lines.colours)


def _arrows(surface: Surface, arrows: Arrows, projection: Projection) -> None:
    shafts = Lines(arrows.begins, arrows.begins + arrows.vectors, arrows.colours, arrows.width)
    if isinstance(projection, Perspective):
        shafts = projection.cut(shafts)
    begins, _, scale0 = projection.project(shafts.begins)
    tips, _, scale1 = projection.project(shafts.ends)
    back = begins - tips
    length = np.hypot(back[:, 0], back[:, 1])[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        back = np.where(length > 0, back / length, 0.0) * np.minimum(_HEAD * length, _HEAD_MOST)
    sides: list[Floats] = []
    for angle in (_HEAD_ANGLE, -_HEAD_ANGLE):
        c, s = np.cos(angle), np.sin(angle)
        side = np.stack([c * back[:, 0] - s * back[:, 1], s * back[:, 0] + c * back[:, 1]], axis=1)
        sides.append((tips + side).astype(np.float32))
    # A head lies in the plane of the screen, at the depth of its tip.
    near = np.stack([np.stack([scale, scale1], axis=1) for scale in (scale0, scale1, scale1)])
    parts = strokes(
        surface.size,
        np.concatenate([begins, *sides]),
        np.concatenate([tips] * 3),
        arrows.width,
        _nearness(projection, near.reshape(-1, 2), _LIFT * arrows.width),
    )
    colours = shafts.colours if shafts.colours.ndim == 1 else np.tile(shafts.colours, (3, 1))
    surface.paint(parts, colours)


def _mesh(surface: Surface, mesh: Facets, projection: Projection) -> None:
    if isinstance(projection, Perspective):
        corners, scale, kept = projection.faces(mesh)
        near, colours = projection.nearness(scale), projection.shade(mesh)[kept]
    else:
        corners, near = projection.project(mesh.vertices)[0][mesh.faces], None
        colours = mesh.colours
    surface.paint(triangles(surface.size, corners, near), colours)


def _nearness(projection: Projection, scale: Floats, thickness: float = 0.0) -> Floats | None:
    """Return the nearness of shapes; None in the plane."""
    if isinstance(projection, Perspective):
        return projection.nearness(scale, thickness)
    return None


def _boxes(surface: Surface, boxes: Boxes, projection: Projection) -> None:
    lows, highs = projection.project(boxes.lows)[0], projection.project(boxes.highs)[0]
    colours = np.broadcast_to(boxes.colours, (len(lows), 3))
    for low, high, colour in zip(
        np.minimum(lows, highs).tolist(), np.maximum(lows, highs).tolist(), colours, strict=True
    ):
        surface.box(Area.between(*low, *high), colour, boxes.rounding)


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
    area = Area.between(*ends.min(axis=0).tolist(), *ends.max(axis=0).tolist())
    draw(surface, curve(plot, area), Pixels(area))


_DRAWN: dict[type[Any], Callable[[Surface, Any, Projection], None]] = {
    Image: _image,
    Backdrop: _backdrop,
    Markers: _points,
    Circles: _circles,
    Lines: _lines,
    Arrows: _arrows,
    Facets: _mesh,
    Boxes: _boxes,
    Text: _text,
    Plot: _plot,
}
_ORDER: dict[type[Any], int] = {Facets: 1, Markers: 2, Circles: 2, Lines: 3, Arrows: 3, Text: 4}
