"""Pixels, and what fills them: discs, strokes, triangles, boxes, letters, with smooth edges.

Everything is in pixels, y down; the middle of the first pixel is at (0.5, 0.5). A pixel is covered
by how far inside a shape its middle is, from half a pixel outside to half a pixel inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from difftile.viewer.primitives import Bytes, Floats
from difftile.viewer.projection import Area

Indices = npt.NDArray[np.intp]

_MANY = 4000  # discs; more are drawn with hard edges, which takes a tenth of the time
_CHUNK = 1_000_000  # pixels worked on at a time, which bounds the memory
_FAR = 16.0  # how far outside of the picture strokes still are looked at [px]


class Surface:
    """A picture that is being drawn.

    Attributes:
        pixels: Red, green, blue and a byte that is unused, shape (height, width, 4).
    """

    def __init__(self, width: int, height: int, background: Bytes) -> None:
        self.width, self.height = width, height
        self.pixels: Bytes = np.empty((height, width, 4), np.uint8)
        self.packed = self.pixels.view(np.uint32)[..., 0]
        self.packed[...] = pack(background)

    def image(self) -> Bytes:
        """Return a copy of the colours, shape (height, width, 3), for reading."""
        size = (self.width, self.height)
        picture = Pictures.frombuffer("RGBX", size, self.pixels, "raw", "RGBX", 0, 1)
        flat = np.frombuffer(picture.tobytes("raw", "RGB"), np.uint8)
        return flat.reshape(self.height, self.width, 3)

    # Shapes

    def discs(self, centers: Floats, radii: Floats, colours: Bytes) -> None:
        """Fill discs.

        Args:
            centers: Shape (n, 2); what is not finite is left out.
            radii: Shape (n,).
            colours: Shape (3,) or (n, 3).
        """
        size = np.array([self.width, self.height], np.float32)
        with np.errstate(invalid="ignore"):
            reach = radii[:, None]
            seen = ((centers > -reach) & (centers < size + reach)).all(axis=1)
        kept = np.flatnonzero(seen)
        centers, radii, colours = centers[kept], radii[kept], _of(colours, kept)
        if len(kept) > _MANY and float(radii.max()) <= _FAR:
            self._hard_discs(centers, radii, colours)
            return
        half = np.ceil(radii + 0.5).astype(np.intp)
        first = np.floor(centers).astype(np.intp) - half[:, None]
        side = 2 * half + 1
        for part in _chunks(side * side):
            which, number = _spread((side * side)[part])
            which += part.start
            x = first[which, 0] + number % side[which]
            y = first[which, 1] + number // side[which]
            gap = np.hypot(x + 0.5 - centers[which, 0], y + 0.5 - centers[which, 1])
            cover = np.where(self._has(x, y), radii[which] + 0.5 - gap, 0.0)
            self._blend(y * self.width + x, cover, which, colours)

    def rings(self, centers: Floats, radii: Floats, colours: Bytes, width: float) -> None:
        """Draw circles as strokes of a width, as `discs`."""
        turns = np.linspace(0.0, 2 * np.pi, 49, dtype=np.float32)
        around = np.stack([np.cos(turns), np.sin(turns)], axis=1)
        loops = centers[:, None] + radii[:, None, None] * around
        each = colours if colours.ndim == 1 else np.repeat(colours, 48, axis=0)
        self.strokes(loops[:, :-1].reshape(-1, 2), loops[:, 1:].reshape(-1, 2), each, width)

    def strokes(self, begins: Floats, ends: Floats, colours: Bytes, width: float) -> None:
        """Draw segments with round ends.

        Args:
            begins: Shape (n, 2); what is not finite is left out.
            ends: Likewise.
            colours: Shape (3,) or (n, 3).
            width: Of each.
        """
        begins, ends, kept = self._clipped(begins, ends, width)
        colours = _of(colours, kept)
        along = ends - begins
        steep = np.abs(along[:, 1]) > np.abs(along[:, 0])
        # Along the axis in which it is longer, a segment has one run of pixels at each pixel.
        along, start = _swapped(along, steep), _swapped(begins, steep)
        with np.errstate(invalid="ignore"):
            slope = np.nan_to_num(along[:, 1] / along[:, 0], nan=0.0)
        low, high = start[:, 0], start[:, 0] + along[:, 0]
        low, high = np.minimum(low, high), np.maximum(low, high)
        cosine = 1.0 / np.hypot(1.0, slope)
        reach = np.float32(width / 2 + 0.5)
        first = np.floor(low - reach).astype(np.intp)
        length = np.ceil(high + reach).astype(np.intp) - first
        across = int(np.floor(reach * np.sqrt(2) + 0.5))
        run = np.arange(-across, across + 1)
        for part in _chunks(length * len(run)):
            which, number = _spread(length[part])
            which += part.start
            u = first[which] + number
            place = u.astype(np.float32) + np.float32(0.5)
            middle = start[which, 1] + slope[which] * (place - start[which, 0])
            v = np.floor(middle).astype(np.intp)[:, None] + run
            beyond = np.maximum(np.maximum(low[which] - place, place - high[which]), 0.0)
            gap = (v + np.float32(0.5) - middle[:, None]) * cosine[which, None]
            turned, u = steep[which, None], u[:, None]
            x, y = np.where(turned, v, u), np.where(turned, u, v)
            cover = reach - np.hypot(gap, beyond[:, None])
            cover = np.where(self._has(x, y), cover, 0.0)
            owner = np.broadcast_to(which[:, None], cover.shape)
            self._blend((y * self.width + x).ravel(), cover.ravel(), owner.ravel(), colours)

    def triangles(self, corners: Floats, colours: Bytes) -> None:
        """Fill triangles in order, with hard edges.

        Args:
            corners: Shape (n, 3, 2); triangles that are not finite are left out.
            colours: Shape (3,) or (n, 3).
        """
        kept = np.flatnonzero(np.isfinite(corners).all(axis=(1, 2)))
        each = np.broadcast_to(_of(colours, kept), (len(kept), 3)).tolist()
        picture = Pictures.fromarray(self.image())
        draw = ImageDraw.Draw(picture)
        limit = 4 * max(self.width, self.height)  # coordinates beyond overflow in Pillow
        places = np.clip(corners[kept], -limit, limit).reshape(-1, 6).tolist()
        for place, colour in zip(places, each, strict=True):
            draw.polygon(place, fill=tuple(colour))
        self.pixels[..., :3] = np.asarray(picture)

    def box(self, area: Area, colour: Bytes, rounding: float = 0.0) -> None:
        """Fill a rectangle, with round corners if wanted."""
        if rounding == 0.0:
            rows, columns = _within(area, self.width, self.height)
            self.packed[rows, columns] = pack(colour)
            return
        grown = Area(area.left - 1, area.top - 1, area.width + 2, area.height + 2)
        rows, columns = _within(grown, self.width, self.height)
        middle_x, middle_y = area.center
        x = np.abs(np.arange(columns.start, columns.stop) + 0.5 - middle_x)
        y = np.abs(np.arange(rows.start, rows.stop) + 0.5 - middle_y)[:, None]
        out_x, out_y = x - area.width / 2 + rounding, y - area.height / 2 + rounding
        gap = np.hypot(np.maximum(out_x, 0.0), np.maximum(out_y, 0.0))
        gap = gap + np.minimum(np.maximum(out_x, out_y), 0.0) - rounding
        self._cover(rows, columns, np.clip(0.5 - gap, 0.0, 1.0).astype(np.float32), colour)

    def picture(self, area: Area, pixels: Bytes, smooth: bool) -> None:
        """Show pixels, shape (h, w, 3), stretched to a rectangle."""
        rows, columns = _within(area, self.width, self.height)
        if rows.start >= rows.stop or columns.start >= columns.stop:
            return
        h, w = pixels.shape[:2]
        y = (np.arange(rows.start, rows.stop) + 0.5 - area.top) * (h / area.height)
        x = (np.arange(columns.start, columns.stop) + 0.5 - area.left) * (w / area.width)
        shrinks = min(w / area.width, h / area.height) > 1.0
        if smooth or shrinks:
            source = (float(x[0]) - 0.5 * w / area.width, float(y[0]) - 0.5 * h / area.height)
            last = (float(x[-1]) + 0.5 * w / area.width, float(y[-1]) + 0.5 * h / area.height)
            part = (max(source[0], 0.0), max(source[1], 0.0), min(last[0], w), min(last[1], h))
            size = (columns.stop - columns.start, rows.stop - rows.start)
            kind = Pictures.Resampling.BOX if shrinks else Pictures.Resampling.BILINEAR
            resized = Pictures.fromarray(np.ascontiguousarray(pixels)).resize(size, kind, part)
            self.pixels[rows, columns, :3] = np.asarray(resized)
            return
        four = Pictures.fromarray(np.ascontiguousarray(pixels)).tobytes("raw", "RGBX")
        single: npt.NDArray[np.uint32] = np.frombuffer(four, np.uint32).reshape(h, w)
        at_rows: Indices = np.clip(y.astype(np.intp), 0, h - 1)
        at_columns: Indices = np.clip(x.astype(np.intp), 0, w - 1)
        self.packed[rows, columns] = single[at_rows][:, at_columns]

    def text(self, x: float, y: float, mask: npt.NDArray[np.float32], colour: Bytes) -> None:
        """Show letters, as `letters` makes them, with their left upper corner at a pixel."""
        left, top = round(x), round(y)
        area = Area(left, top, mask.shape[1], mask.shape[0])
        rows, columns = _within(area, self.width, self.height)
        part = mask[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
        self._cover(rows, columns, part, colour)

    # Pixels

    def _cover(self, rows: slice, columns: slice, cover: Floats, colour: Bytes) -> None:
        below = self.pixels[rows, columns, :3]
        below[...] = below + cover[..., None] * (colour.astype(np.float32) - below)

    def _has(self, x: Indices, y: Indices) -> npt.NDArray[np.bool_]:
        return (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)

    def _blend(self, at: Indices, cover: Floats, which: Indices, colours: Bytes) -> None:
        """Mix colours into pixels.

        Args:
            at: The pixels, counted row by row.
            cover: How much of each; 0 and less is nothing, 1 and more is all.
            which: The shape that covers it.
            colours: Of all shapes or of each.
        """
        flat = self.pixels.reshape(-1, 4)
        # Edges first: where shapes meet, the inside of one must not get the edge of the other.
        edge, inside = np.flatnonzero((cover > 0.0) & (cover < 1.0)), np.flatnonzero(cover >= 1.0)
        below = flat[at[edge]].astype(np.float32)
        paint = pack(colours).reshape(-1, 1).view(np.uint8)
        owner = which if colours.ndim == 2 else np.zeros_like(which)
        flat[at[edge]] = below + cover[edge, None] * (paint[owner[edge]] - below)
        self.packed.reshape(-1)[at[inside]] = pack(colours).reshape(-1)[owner[inside]]

    def _hard_discs(self, centers: Floats, radii: Floats, colours: Bytes) -> None:
        """Fill many small discs: for each offset from a center, one pixel of all of them."""
        flat, paint = self.packed.reshape(-1), np.broadcast_to(pack(colours), len(centers))
        at = np.floor(centers).astype(np.intp)
        reach = int(np.ceil(radii.max()))
        low, high = reach, np.array([self.width, self.height]) - reach
        inner = ((at >= low) & (at < high)).all(axis=1)
        places = at[:, 1] * self.width + at[:, 0]
        same = bool(np.all(radii == radii[0]))
        for dy in range(-reach, reach + 1):
            for dx in range(-reach, reach + 1):
                gap = dx * dx + dy * dy
                if same and gap > radii[0] ** 2:
                    continue
                hit = inner if same else inner & (radii**2 >= gap)
                flat[places[hit] + dy * self.width + dx] = paint[hit]
        rest = np.flatnonzero(~inner)
        for part in np.array_split(rest, len(rest) // _MANY + 1):
            self.discs(centers[part], radii[part], _of(colours, part))

    def _clipped(
        self, begins: Floats, ends: Floats, width: float
    ) -> tuple[Floats, Floats, Indices]:
        """Cut segments off far outside, so that no segment is longer than the picture.

        The method is that of Liang and Barsky (1984).
        """
        kept = np.flatnonzero(np.isfinite(begins).all(axis=1) & np.isfinite(ends).all(axis=1))
        first, last = begins[kept].astype(np.float64), ends[kept].astype(np.float64)
        low = -_FAR - width
        high = np.array([self.width, self.height]) - low
        along = last - first
        with np.errstate(invalid="ignore", divide="ignore"):
            enters, leaves = (low - first) / along, (high - first) / along
        still = along == 0.0
        outside = still & ((first < low) | (first > high))
        t0 = np.where(still, 0.0, np.minimum(enters, leaves)).max(axis=1, initial=0.0)
        t1 = np.where(still, 1.0, np.maximum(enters, leaves)).min(axis=1, initial=1.0)
        seen = np.flatnonzero((t0 <= t1) & ~outside.any(axis=1))
        begin, way = first[seen], along[seen]
        cut = (begin + t0[seen, None] * way, begin + t1[seen, None] * way)
        return cut[0].astype(np.float32), cut[1].astype(np.float32), kept[seen]


def pack(colours: Bytes) -> npt.NDArray[np.uint32]:
    """Return colours as one number each, shape () or (n,)."""
    four = np.full((*colours.shape[:-1], 4), 255, np.uint8)
    four[..., :3] = colours
    return four.view(np.uint32)[..., 0]


@lru_cache(maxsize=1024)
def letters(
    text: str, size: float, fixed: bool = False, bold: bool = False
) -> npt.NDArray[np.float32]:
    """Return how much of each pixel the letters of a text cover, shape (h, w).

    The height is that of its lines, whatever letters there are, so that texts stand on one line.
    """
    font = _font(size, fixed, bold)
    ascent, descent = font.getmetrics()
    height = ascent + descent
    lines = text.split("\n")
    width = max(1, *(int(np.ceil(font.getlength(line))) for line in lines))
    picture = Pictures.new("L", (width + 1, height * len(lines)))
    draw = ImageDraw.Draw(picture)
    for k, line in enumerate(lines):
        draw.text((0, k * height), line, fill=255, font=font)
    mask = np.asarray(picture, np.float32) / np.float32(255)
    mask.flags.writeable = False
    return mask


def text_width(text: str, size: float, fixed: bool = False) -> float:
    """Return how wide a line of text is [px]."""
    return _font(size, fixed, False).getlength(text)


@lru_cache(maxsize=64)
def _font(size: float, fixed: bool, bold: bool) -> ImageFont.FreeTypeFont:
    # matplotlib brings the font, so that it is the same everywhere.
    name = f"DejaVuSans{'Mono' if fixed else ''}{'-Bold' if bold else ''}.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path(), "fonts", "ttf", name)), size)


def _of(colours: Bytes, which: Indices) -> Bytes:
    """Select colours; one for all stays one."""
    return colours if colours.ndim == 1 else colours[which]


def _swapped(places: Floats, where: npt.NDArray[np.bool_]) -> Floats:
    """Exchange the components of some positions, shape (n, 2)."""
    return np.where(where[:, None], places[:, ::-1], places)


def _within(
    area: Area, width: int, height: int
) -> tuple[slice[int, int, None], slice[int, int, None]]:
    """Return rows and columns of the pixels in a rectangle that are in the picture."""
    left, top = round(area.left), round(area.top)
    right, bottom = round(area.left + area.width), round(area.top + area.height)
    rows = slice(min(max(top, 0), height), min(max(bottom, 0), height))
    return rows, slice(min(max(left, 0), width), min(max(right, 0), width))


def _chunks(sizes: npt.NDArray[np.intp]) -> Iterator[slice]:
    """Cut a list of shapes where their pixels are too many to be worked on at a time."""
    total = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(total[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + _CHUNK, "right")))
        yield slice(start, stop)
        start = stop


def _spread(sizes: npt.NDArray[np.intp]) -> tuple[Indices, Indices]:
    """Return, for every pixel of every shape, the shape and the number of the pixel in it."""
    which = np.repeat(np.arange(len(sizes)), sizes)
    begins = np.cumsum(sizes) - sizes
    return which, np.arange(len(which)) - begins[which]
