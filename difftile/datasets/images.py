"""Picture files as arrays."""

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from difftile.datasets.splats import Floats
from difftile.diagnostics import DatasetError
from difftile.files.regular import opened, size_of, understood
from difftile.files.writing import whole

# Of what Pillow reads, the formats that hold photographs and that it decodes itself.
_FORMATS = ("PNG", "JPEG", "MPO", "WEBP", "TIFF", "BMP", "PPM", "GIF", "JPEG2000")
# Bytes of pixels that any file may have, and how many one of its own may stand for beyond: deflate
# packs 1032 to 1, and no photograph so far.
_FREE, _PACKED = 2**25, 1032
_WIDE = 65535  # the largest of 16 bits
# What Pillow logs of broken files would go to stderr where nobody has set up logging.
logging.getLogger("PIL").addHandler(logging.NullHandler())


def picture_size(path: Path) -> tuple[int, int]:
    """Return width and height of a picture, of which only the header is read.

    Raises:
        DatasetError: It is not there, is no picture, or says that it is larger than can be.
    """
    with open_picture(path) as image:
        return image.size


def read_picture(path: Path, background: tuple[float, float, float], downscale: int = 1) -> Floats:
    """Return a picture as colours 0 ... 1, as they are stored (sRGB), shape (H, W, 3).

    Args:
        path: The file.
        background: What shows where the picture is transparent, shape (3,).
        downscale: Squares of so many pixels become their mean; what is left over on the right and
            below is cut off.

    Raises:
        DatasetError: It is not there, is no picture, or is cut short.
    """
    with open_picture(path) as image, understood(path, "a whole picture"):
        colours = _colours(path, image)
    if colours.shape[2] == 4:
        alpha = colours[:, :, 3:]
        colours = colours[:, :, :3] * alpha + np.asarray(background, np.float32) * (1 - alpha)
    if downscale > 1:
        height, width = colours.shape[0] // downscale, colours.shape[1] // downscale
        cut = colours[: height * downscale, : width * downscale]
        blocks = cut.reshape(height, downscale, width, downscale, 3)
        colours = blocks.mean(axis=(1, 3), dtype=np.float64)
    return np.ascontiguousarray(colours, np.float32)


def read_image(path: str | os.PathLike[str]) -> Image.Image:
    """Return a picture as one of Pillow, decoded, the way up that its camera noted.

    Raises:
        DatasetError: It is not there, is no picture, or is cut short.
    """
    file = Path(path)
    with open_picture(file) as image, understood(file, "a whole picture"):
        image.load()
        return ImageOps.exif_transpose(image)


def write_picture(path: Path, colours: npt.NDArray[Any]) -> None:
    """Write colours 0 ... 1, shape (H, W), (H, W, 3) or (H, W, 4), with 8 bits a channel."""
    image = Image.fromarray(np.rint(np.clip(colours, 0.0, 1.0) * 255.0).astype(np.uint8))
    kind = Image.registered_extensions()[path.suffix.lower()]
    with whole(path) as file:
        image.save(file, format=kind)


@contextmanager
def open_picture(path: Path) -> Generator[Image.Image]:
    """Give a picture of which the header is read.

    Its size is bounded by what a file of so many bytes can hold, and by `Image.MAX_IMAGE_PIXELS`,
    twice.

    Raises:
        DatasetError: See `picture_size`.
    """
    with opened(path, "a picture") as file:
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
                    hint="raise PIL.Image.MAX_IMAGE_PIXELS if it is what you want.",
                ) from None
        with image:
            (width, height), size = image.size, size_of(file)
            if width * height * len(image.getbands()) > max(_FREE, _PACKED * size):
                raise DatasetError(
                    path,
                    f"says that it is {width} x {height}, in {size} bytes",
                    "a whole picture",
                )
            yield image


def _colours(path: Path, image: Image.Image) -> Floats:
    """Return (H, W, 3), or (H, W, 4) where parts may be transparent."""
    if image.mode.startswith("I"):  # 16 bits of grey
        grey = np.asarray(image, np.float32) / np.float32(_WIDE)
        if grey.min() < 0 or grey.max() > 1:
            raise DatasetError(path, "has 32 bits a channel", "8 or 16")
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.mode == "F":
        raise DatasetError(path, "has floats for colours", "8 or 16 bits a channel")
    clear = "A" in image.mode or "transparency" in image.info
    pixels = np.array(image.convert("RGBA" if clear else "RGB"), np.float32)
    pixels /= np.float32(255)
    return pixels
