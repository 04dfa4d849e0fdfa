"""Pixels, and what fills them: discs, strokes, triangles, boxes, letters.

Everything is in pixels, y down; the middle of the first pixel is at (0.5, 0.5). A pixel is covered
by how far inside a shape its middle is, from half a pixel outside to half a pixel inside.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import matplotlib
import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from difftile.viewer.discs import discs
from difftile.viewer.fragments import Fragments
from difftile.viewer.primitives import Bytes, Floats
from difftile.viewer.screen import Area
from difftile.viewer.strokes import strokes
from difftile.viewer.triangles import triangles

_Kind = TypeVar("_Kind", bound=np.generic)


class Surface:
    """A picture that is being drawn.

    Attributes:
        pixels: Red, green, blue and a byte that is unused, shape (height, width, 4).
        packed: The same, one number a pixel, shape (height, width).
        nearness: Of what in space is seen, as `Fragments` says; 0 where nothing is, likewise.
    """

    def __init__(self, width: int, height: int, background: Bytes) -> None:
        self.width, self.height = width, height
        self.pixels: Bytes = np.empty((height, width, 4), np.uint8)
        self.packed = self.pixels.view(np.uint32)[..., 0]
        self.packed[...] = pack(background)
        self.nearness: Floats = np.zeros((height, width), np.float32)
        # Of each pixel, while shapes are painted: how much is covered, and by which.
        self._most = np.zeros(height * width, np.float32)
        self._last = np.zeros(height * width, np.int32)

    def image(self) -> Bytes:
        """Return a copy of the colours, shape (height, width, 3), for reading."""
        size = (self.width, self.height)
        picture = Pictures.frombuffer("RGBX", size, self.pixels, "raw", "RGBX", 0, 1)
        flat = np.frombuffer(picture.tobytes("raw", "RGB"), np.uint8)
        return flat.reshape(self.height, self.width, 3)

    # Shapes

    def discs(
        self, centers: Floats, radii: Floats, colours: Bytes, nearness: Floats | None = None
    ) -> None:
        """Fill discs.

        Args:
            centers: Shape (n, 2); what is not finite is left out.
            radii: Shape (n,).
            colours: Shape (3,) or (n, 3).
            nearness: Of each, as `Fragments` says; None for what nothing hides.
        """
        self._lay(discs((self.width, self.height), centers, radii, nearness), colours)

    def rings(
        self,
        centers: Floats,
        radii: Floats,
        colours: Bytes,
        width: float,
        nearness: Floats | None = None,
    ) -> None:
        """Draw circles as strokes of a width, as `discs`."""
        turns = np.linspace(0.0, 2 * np.pi, 49, dtype=np.float32)
        around = np.stack([np.cos(turns), np.sin(turns)], axis=1)
        loops = centers[:, None] + radii[:, None, None] * around
        each = colours if colours.ndim == 1 else np.repeat(colours, 48, axis=0)
        near = None if nearness is None else np.repeat(nearness, 2 * 48).reshape(-1, 2)
        begins, ends = loops[:, :-1].reshape(-1, 2), loops[:, 1:].reshape(-1, 2)
        self.strokes(begins, ends, each, width, near)

    def strokes(
        self,
        begins: Floats,
        ends: Floats,
        colours: Bytes,
        width: float,
        nearness: Floats | None = None,
    ) -> None:
        """Draw segments with round ends.

        Args:
            begins: Shape (n, 2); what is not finite is left out.
            ends: Likewise.
            colours: Shape (3,) or (n, 3).
            width: Of each.
            nearness: At begin and end, shape (n, 2); None for what nothing hides.
        """
        self._lay(strokes((self.width, self.height), begins, ends, width, nearness), colours)

    def triangles(self, corners: Floats, colours: Bytes, nearness: Floats | None = None) -> None:
        """Fill triangles, with hard edges.

        Args:
            corners: Shape (n, 3, 2); triangles that are not finite are left out.
            colours: Shape (3,) or (n, 3).
            nearness: At the corners, shape (n, 3); None for what nothing hides.
        """
        self._lay(triangles((self.width, self.height), corners, nearness), colours)

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
        if (h, w) == (area.height, area.width):  # pixel by pixel
            smooth = False
        shrinks = min(w / area.width, h / area.height) > 1.0
        if smooth or shrinks:
            low = ((columns.start - area.left) / area.width, (rows.start - area.top) / area.height)
            high = ((columns.stop - area.left) / area.width, (rows.stop - area.top) / area.height)
            part = (max(low[0], 0.0) * w, max(low[1], 0.0) * h)
            part += (min(high[0], 1.0) * w, min(high[1], 1.0) * h)
            size = (columns.stop - columns.start, rows.stop - rows.start)
            kind = Pictures.Resampling.BOX if shrinks else Pictures.Resampling.BILINEAR
            resized = Pictures.fromarray(np.ascontiguousarray(pixels)).resize(size, kind, part)
            self.pixels[rows, columns, :3] = np.asarray(resized)
            return
        four = Pictures.fromarray(np.ascontiguousarray(pixels)).tobytes("raw", "RGBX")
        single: npt.NDArray[np.uint32] = np.frombuffer(four, np.uint32).reshape(h, w)
        self.packed[rows, columns] = _stretched(single, area, rows, columns)

    def note(self, area: Area, nearness: Floats) -> None:
        """Note how near is what fills a rectangle, as `Fragments` says, shape (h, w)."""
        rows, columns = _within(area, self.width, self.height)
        if rows.start < rows.stop and columns.start < columns.stop:
            self.nearness[rows, columns] = _stretched(nearness, area, rows, columns)

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

    def _lay(self, parts: Iterable[Fragments], colours: Bytes) -> None:
        """Paint fragments.

        Of those in one pixel that is seen which is nearest to the eye, if nothing nearer has been
        painted there; else the one that covers most of it, and of equals the last.
        """
        paint = pack(colours)
        for part in parts:
            self._paint(part, paint)

    def _paint(self, part: Fragments, paint: npt.NDArray[np.uint32]) -> None:
        picture = self.packed.reshape(-1)
        shown = part if part.nearness is None else self._in_front(part, part.nearness)
        if shown.cover is None:
            picture[shown.at] = paint[shown.which] if paint.ndim else paint
            return
        most, last = self._most, self._last
        np.maximum.at(most, shown.at, shown.cover)
        won = np.flatnonzero(shown.cover == most[shown.at])
        most[shown.at] = 0.0
        at, cover, over = shown.at[won], shown.cover[won], paint
        if paint.ndim:
            np.maximum.at(last, at, shown.which[won].astype(np.int32))
            over = paint[last[at]]
            last[at] = 0
        picture[at] = mixed(picture[at], over, cover)

    def _in_front(self, part: Fragments, nearness: Floats) -> Fragments:
        """Return the fragments that nothing hides, and note how near they are.

        What covers less than half of a pixel hides nothing that is painted later.
        """
        known = self.nearness.reshape(-1)
        solid = slice(None) if part.cover is None else np.flatnonzero(part.cover >= 0.5)
        np.maximum.at(known, part.at[solid], nearness[solid])
        return part.of(np.flatnonzero(nearness >= known[part.at]))


def pack(colours: Bytes) -> npt.NDArray[np.uint32]:
    """Return colours as one number each, shape () or (n,)."""
    four = np.full((*colours.shape[:-1], 4), 255, np.uint8)
    four[..., :3] = colours
    return four.view(np.uint32)[..., 0]


def mixed(
    below: npt.NDArray[np.uint32], above: npt.NDArray[np.uint32], share: Floats
) -> npt.NDArray[np.uint32]:
    """Return packed colours between two, where a share of 1 is that above.

    Two bytes of a colour are worked on at a time, each with room for the product above it.
    """
    weight = (share * np.float32(256.0) + np.float32(0.5)).astype(np.uint32)
    rest, bytes_ = 256 - weight, np.uint32(0x00FF00FF)
    even = ((below & bytes_) * rest + (above & bytes_) * weight) >> np.uint32(8)
    odd = ((below >> np.uint32(8)) & bytes_) * rest + ((above >> np.uint32(8)) & bytes_) * weight
    return (even & bytes_) | (odd & ~bytes_)


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


def text_width(text: str, size: float, fixed: bool = False, bold: bool = False) -> float:
    """Return how wide a line of text is [px]."""
    return _font(size, fixed, bold).getlength(text)


def fitted(text: str, room: float, size: float, bold: bool = False) -> str:
    """Return a line of text, cut where it would be wider than there is room [px]."""
    if text_width(text, size, bold=bold) <= room:
        return text
    while text and text_width(text + "…", size, bold=bold) > room:
        text = text[:-1]
    return text + "…"


@lru_cache(maxsize=64)
def _font(size: float, fixed: bool, bold: bool) -> ImageFont.FreeTypeFont:
    # matplotlib brings the font, so that it is the same everywhere.
    name = f"DejaVuSans{'Mono' if fixed else ''}{'-Bold' if bold else ''}.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path(), "fonts", "ttf", name)), size)


def _stretched(
    values: npt.NDArray[_Kind],
    area: Area,
    rows: slice[int, int, None],
    columns: slice[int, int, None],
) -> npt.NDArray[_Kind]:
    """Return the value of each pixel of a part of the picture, where values fill a rectangle."""
    h, w = values.shape
    y = (np.arange(rows.start, rows.stop) + 0.5 - area.top) * (h / area.height)
    x = (np.arange(columns.start, columns.stop) + 0.5 - area.left) * (w / area.width)
    at_rows = np.clip(y.astype(np.intp), 0, h - 1)
    at_columns = np.clip(x.astype(np.intp), 0, w - 1)
    return values[at_rows][:, at_columns]


def _within(
    area: Area, width: int, height: int
) -> tuple[slice[int, int, None], slice[int, int, None]]:
    """Return rows and columns of the pixels in a rectangle that are in the picture."""
    left, top = round(area.left), round(area.top)
    right, bottom = round(area.left + area.width), round(area.top + area.height)
    rows = slice(min(max(top, 0), height), min(max(bottom, 0), height))
    return rows, slice(min(max(left, 0), width), min(max(right, 0), width))
