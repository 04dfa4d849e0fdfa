"""A picture in memory, and operations that fill its pixels: fragments, boxes, images, letters.

Coordinates are in pixels, y down; the middle of the first pixel is at (0.5, 0.5). The cover of a
pixel grows from 0 to 1 as its middle goes from half a pixel outside of a shape to half a pixel
inside.
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

from difftile.viewer.fragments import Fragments
from difftile.viewer.primitives import Bytes, Floats
from difftile.viewer.screen import Area

_Kind = TypeVar("_Kind", bound=np.generic)


class Surface:
    """A picture that is being drawn.

    Attributes:
        pixels: Red, green, blue and an unused byte, shape (height, width, 4).
        packed: The same memory with one number per pixel, shape (height, width).
        nearness: Nearness of the visible shapes in space, see `Fragments`, shape (height, width);
            0 where there is none.
    """

    def __init__(self, width: int, height: int, background: Bytes) -> None:
        self.width, self.height = width, height
        self.pixels: Bytes = np.empty((height, width, 4), np.uint8)
        self.packed = self.pixels.view(np.uint32)[..., 0]
        self.packed[...] = pack(background)
        self.nearness: Floats = np.zeros((height, width), np.float32)
        # Buffers of `paint`: the largest cover of each pixel, and its shape.
        self._most = np.zeros(height * width, np.float32)
        self._last = np.zeros(height * width, np.int32)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height [px]."""
        return self.width, self.height

    def image(self) -> Bytes:
        """Return a read-only copy of the colours, shape (height, width, 3)."""
        picture = Pictures.frombuffer("RGBX", self.size, self.pixels, "raw", "RGBX", 0, 1)
        flat = np.frombuffer(picture.tobytes("raw", "RGB"), np.uint8)
        return flat.reshape(self.height, self.width, 3)

    # Shapes

    def paint(self, parts: Iterable[Fragments], colours: Bytes) -> None:
        """Paint the fragments of shapes, in one colour or one per shape.

        Of the fragments in one pixel the nearest to the eye is seen, if nothing nearer has been
        painted there; without nearness the one with the largest cover, and of equals the last.
        """
        paint = pack(colours)
        picture = self.packed.reshape(-1)
        most, last = self._most, self._last
        for part in parts:
            shown = part if part.nearness is None else self._in_front(part, part.nearness)
            if shown.cover is None:
                picture[shown.at] = paint[shown.which] if paint.ndim else paint
                continue
            np.maximum.at(most, shown.at, shown.cover)
            won = np.flatnonzero(shown.cover == most[shown.at])
            most[shown.at] = 0.0
            at, cover, over = shown.at[won], shown.cover[won], paint
            if paint.ndim:
                np.maximum.at(last, at, shown.which[won].astype(np.int32))
                over = paint[last[at]]
                last[at] = 0
            picture[at] = mixed(picture[at], over, cover)

    def box(self, area: Area, colour: Bytes, rounding: float = 0.0) -> None:
        """Fill a rectangle; `rounding` is the radius of its corners."""
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
        """Draw an image, shape (h, w, 3), stretched to a rectangle."""
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
        """Set the nearness in a rectangle, see `Fragments`, shape (h, w)."""
        rows, columns = _within(area, self.width, self.height)
        if rows.start < rows.stop and columns.start < columns.stop:
            self.nearness[rows, columns] = _stretched(nearness, area, rows, columns)

    def text(self, x: float, y: float, mask: npt.NDArray[np.float32], colour: Bytes) -> None:
        """Draw a mask of `letters` with its upper left corner at a pixel."""
        left, top = round(x), round(y)
        area = Area(left, top, mask.shape[1], mask.shape[0])
        rows, columns = _within(area, self.width, self.height)
        part = mask[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
        self._cover(rows, columns, part, colour)

    # Pixels

    def _cover(self, rows: slice, columns: slice, cover: Floats, colour: Bytes) -> None:
        below = self.pixels[rows, columns, :3]
        below[...] = below + cover[..., None] * (colour.astype(np.float32) - below)

    def _in_front(self, part: Fragments, nearness: Floats) -> Fragments:
        """Return the visible fragments, and update the nearness of their pixels.

        Fragments that cover less than half of a pixel hide no later ones.
        """
        known = self.nearness.reshape(-1)
        solid = slice(None) if part.cover is None else np.flatnonzero(part.cover >= 0.5)
        np.maximum.at(known, part.at[solid], nearness[solid])
        return part.of(np.flatnonzero(nearness >= known[part.at]))


def pack(colours: Bytes) -> npt.NDArray[np.uint32]:
    """Return colours as packed numbers, shape () or (n,)."""
    four = np.full((*colours.shape[:-1], 4), 255, np.uint8)
    four[..., :3] = colours
    return four.view(np.uint32)[..., 0]


def mixed(
    below: npt.NDArray[np.uint32], above: npt.NDArray[np.uint32], share: Floats
) -> npt.NDArray[np.uint32]:
    """Return packed colours between two; a share of 1 gives `above`.

    The arithmetic handles two bytes of a colour at a time, each with room for a product.
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
    """Return the share of each pixel that the letters of a text cover, shape (h, w).

    The height depends only on the number of lines, so that texts next to each other align.
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
    """Return the width of a line of text [px]."""
    return _font(size, fixed, bold).getlength(text)


def fitted(text: str, room: float, size: float, bold: bool = False) -> str:
    """Return a line of text, cut off with an ellipsis to fit into `room` [px]."""
    if text_width(text, size, bold=bold) <= room:
        return text
    while text and text_width(text + "…", size, bold=bold) > room:
        text = text[:-1]
    return text + "…"


@lru_cache(maxsize=64)
def _font(size: float, fixed: bool, bold: bool) -> ImageFont.FreeTypeFont:
    # The font comes with matplotlib, so that it is the same everywhere.
    name = f"DejaVuSans{'Mono' if fixed else ''}{'-Bold' if bold else ''}.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path(), "fonts", "ttf", name)), size)


def _stretched(
    values: npt.NDArray[_Kind],
    area: Area,
    rows: slice[int, int, None],
    columns: slice[int, int, None],
) -> npt.NDArray[_Kind]:
    """Return the values at the pixels of a part of a rectangle over which they are stretched."""
    h, w = values.shape
    y = (np.arange(rows.start, rows.stop) + 0.5 - area.top) * (h / area.height)
    x = (np.arange(columns.start, columns.stop) + 0.5 - area.left) * (w / area.width)
    at_rows = np.clip(y.astype(np.intp), 0, h - 1)
    at_columns = np.clip(x.astype(np.intp), 0, w - 1)
    return values[at_rows][:, at_columns]


def _within(
    area: Area, width: int, height: int
) -> tuple[slice[int, int, None], slice[int, int, None]]:
    """Return the rows and columns of a rectangle, clipped to the picture."""
    left, top = round(area.left), round(area.top)
    right, bottom = round(area.left + area.width), round(area.top + area.height)
    rows = slice(min(max(top, 0), height), min(max(bottom, 0), height))
    return rows, slice(min(max(left, 0), width), min(max(right, 0), width))
