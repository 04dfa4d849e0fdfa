"""Image files as arrays."""

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image, ImageOps

from difftile.datasets.splats import Floats
from difftile.diagnostics import DatasetError
from difftile.files.regular import opened, size_of, understood
from difftile.tracebacks import boundary

# The formats of photographs that Pillow decodes itself.
_FORMATS = ("PNG", "JPEG", "MPO", "WEBP", "TIFF", "BMP", "PPM", "GIF", "JPEG2000")
# Bytes of pixels that any file may have, and for larger images the limit of pixel bytes per file
# byte: deflate reaches at most 1032, and photographs much less.
_FREE, _PACKED = 2**25, 1032
_WIDE = 65535  # the largest number of 16 bits
_ORIENTATION = 0x0112  # the tag of EXIF
# Modes of Pillow whose conversion to RGB cannot fail.
_PLAIN = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr")
# Without logging handlers Pillow's messages on broken files would go to stderr.
logging.getLogger("PIL").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Header:
    """The header of an image.

    Args:
        width: [pixels]
        height: [pixels]
        turned: Whether EXIF says that the pixels are to be turned or mirrored for display.
        clear: Whether pixels may be transparent.
    """

    width: int
    height: int
    turned: bool
    clear: bool


def read_header(path: Path) -> Header:
    """Return the header of an image.

    Raises:
        DatasetError: The file is missing, not an image, or claims an impossible size.
    """
    with open_picture(path) as image:
        try:
            turned = "exif" in image.info and image.getexif().get(_ORIENTATION, 1) != 1
        except Exception:  # broken EXIF says nothing
            turned = False
        return Header(*image.size, turned, _is_clear(image))


def picture_size(path: Path) -> tuple[int, int]:
    """Return the width and height of an image, from its header.

    Raises:
        DatasetError: See `read_header`.
    """
    header = read_header(path)
    return header.width, header.height


def check_picture(path: Path) -> tuple[int, int]:
    """Decode an image; return its width and height.

    Raises:
        DatasetError: `read_picture` cannot read the file.
    """
    with open_picture(path) as image, understood(path, "a whole picture"):
        image.load()
        if image.mode in _PLAIN:
            return image.size
    height, width, _ = read_picture(path, (0.0, 0.0, 0.0)).shape
    return width, height


def read_picture(path: Path, background: tuple[float, float, float]) -> Floats:
    """Return the colours of an image as they are stored (sRGB), 0 ... 1, shape (H, W, 3).

    Args:
        path: The file.
        background: The colour of transparent pixels, shape (3,).

    Raises:
        DatasetError: The file is missing, not an image, or truncated.
    """
    with open_picture(path) as image, understood(path, "a whole picture"):
        if image.mode == "F":
            raise DatasetError(path, "has floats for colours", "8 or 16 bits a channel")
        if image.mode.startswith("I"):  # 16 bits of grey
            grey = np.asarray(image, np.float32) / np.float32(_WIDE)
            if grey.min() < 0 or grey.max() > 1:
                raise DatasetError(path, "has 32 bits a channel", "8 or 16")
            colours = np.repeat(grey[:, :, None], 3, axis=2)
        else:
            colours = np.array(image.convert("RGBA" if _is_clear(image) else "RGB"), np.float32)
            colours /= np.float32(255)
    if colours.shape[2] == 4:
        alpha = colours[:, :, 3:]
        colours = colours[:, :, :3] * alpha + np.asarray(background, np.float32) * (1 - alpha)
    return np.ascontiguousarray(colours, np.float32)


def _is_clear(image: Image.Image) -> bool:
    return "A" in image.mode or "transparency" in image.info


def scaled_down(colours: Floats, downscale: int) -> Floats:
    """Return the means of squares of pixels.

    Args:
        colours: Shape (H, W, channels).
        downscale: The side of the squares; remaining pixels at the right and lower edges are cut
            off.
    """
    if downscale == 1:
        return colours
    height, width = colours.shape[0] // downscale, colours.shape[1] // downscale
    cut = colours[: height * downscale, : width * downscale]
    blocks = cut.reshape(height, downscale, width, downscale, colours.shape[2])
    return np.ascontiguousarray(blocks.mean(axis=(1, 3), dtype=np.float64), np.float32)


@boundary
def read_image(path: str | os.PathLike[str]) -> Image.Image:
    """Return a decoded image of Pillow, in the orientation that its camera recorded.

    Raises:
        DatasetError: The file is missing, not an image, or truncated.
    """
    file = Path(path)
    with open_picture(file) as image, understood(file, "a whole picture"):
        image.load()
        return ImageOps.exif_transpose(image)


@contextmanager
def open_picture(path: Path) -> Generator[Image.Image]:
    """Open an image and read its header.

    Its size is limited by the size of the file, and by twice `Image.MAX_IMAGE_PIXELS`.

    Raises:
        DatasetError: See `picture_size`.
    """
    with opened(path, "a picture") as file, picture_in(path, file, size_of(file)) as image:
        yield image


@contextmanager
def picture_in(path: Path, file: BinaryIO, size: int) -> Generator[Image.Image]:
    """Read the header of an image in an open file; see `open_picture`.

    Args:
        path: The name of the file, for errors.
        file: The file.
        size: Its number of bytes.
    """
    with understood(path, "a picture", hint=f"{', '.join(_FORMATS)} are read."):
        try:
            Image.init()
            image = Image.open(file, formats=[one for one in _FORMATS if one in Image.OPEN])
        except Image.UnidentifiedImageError:
            raise DatasetError(path, "cannot be read (unknown format)", "a picture") from None
        except Image.DecompressionBombError:
            raise DatasetError(
                path,
                "has too many pixels",
                f"at most {2 * (Image.MAX_IMAGE_PIXELS or 0)} of them",
                hint="if you trust the file, raise PIL.Image.MAX_IMAGE_PIXELS.",
            ) from None
    with image:
        width, height = image.size
        if width * height * len(image.getbands()) > max(_FREE, _PACKED * size):
            raise DatasetError(
                path,
                f"says that it is {width} x {height}, in {size} bytes",
                "a whole picture",
            )
        yield image
