"""Picture files as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from difftile.datasets.splats import Floats
from difftile.diagnostics import DatasetError


def picture_size(path: Path) -> tuple[int, int]:
    """Return width and height of a picture, of which only the header is read.

    Raises:
        DatasetError: It is not there, or is no picture.
    """
    with _opened(path) as image:
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
    try:
        with _opened(path) as image:
            colours = _colours(image)
    except (OSError, SyntaxError, ValueError) as error:  # what Pillow raises within a file
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(path, f"cannot be read ({error})", "a whole picture") from None
    if colours.shape[2] == 4:
        alpha = colours[:, :, 3:]
        colours = colours[:, :, :3] * alpha + np.asarray(background, np.float32) * (1 - alpha)
    if downscale > 1:
        height, width = colours.shape[0] // downscale, colours.shape[1] // downscale
        cut = colours[: height * downscale, : width * downscale]
        blocks = cut.reshape(height, downscale, width, downscale, 3)
        colours = blocks.mean(axis=(1, 3), dtype=np.float64)
    return np.ascontiguousarray(colours, np.float32)


def write_picture(path: Path, colours: npt.NDArray[Any]) -> None:
    """Write colours 0 ... 1, shape (H, W), (H, W, 3) or (H, W, 4), with 8 bits a channel."""
    Image.fromarray(np.rint(np.clip(colours, 0.0, 1.0) * 255.0).astype(np.uint8)).save(path)


def _opened(path: Path) -> Image.Image:
    try:
        return Image.open(path)
    except FileNotFoundError:
        raise DatasetError(path, "is not there", "a picture") from None
    except OSError as error:  # Pillow's own among them
        reason = error.strerror or "unknown format"
        raise DatasetError(path, f"cannot be read ({reason})", "a picture") from None


def _colours(image: Image.Image) -> Floats:
    """Return (H, W, 3), or (H, W, 4) where parts may be transparent."""
    if image.mode.startswith("I"):  # 16 bits of grey
        grey = np.asarray(image, np.float32) / np.float32(65535)
        return np.repeat(grey[:, :, None], 3, axis=2)
    clear = "A" in image.mode or "transparency" in image.info
    pixels = np.asarray(image.convert("RGBA" if clear else "RGB"))
    return pixels.astype(np.float32) / np.float32(255)
