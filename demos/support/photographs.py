"""Photographs to begin with: a file of the user's, or one that comes inside a package."""

import warnings
from pathlib import Path

import numpy as np
from matplotlib import cbook
from PIL import Image, ImageOps, UnidentifiedImageError

SAMPLES = ("astronaut", "chelsea")  # of scikit-image


class PhotographError(ValueError):
    """A file that is not there or is no image; the message is one line."""


def read_photograph(source: str, size: int) -> np.ndarray:
    """Return the square in the middle of a photograph, resized.

    Args:
        source: A path, or one of `SAMPLES`. Without scikit-image these are Matplotlib's sample, of
            which one line is said.
        size: Pixels along each side.

    Returns:
        Red, green and blue as in the file, that is encoded for a screen, from 0 to 1, shape (size,
        size, 3).

    Raises:
        PhotographError: The file cannot be read as an image.
    """
    image = _sample(source) if source in SAMPLES else _open(Path(source))
    square = min(image.size)
    left, top = (image.width - square) // 2, (image.height - square) // 2
    image = image.crop((left, top, left + square, top + square))
    return np.asarray(image.resize((size, size), Image.Resampling.LANCZOS)) / 255.0


def _sample(name: str) -> Image.Image:
    try:
        from skimage import data  # noqa: PLC0415  (an optional dependency)
    except ImportError:
        print(
            f"{name} comes with scikit-image, which is not installed (pip install difftile[demo]); "
            "grace_hopper.jpg, which comes with Matplotlib, takes its place"
        )
        with cbook.get_sample_data("grace_hopper.jpg") as file, Image.open(file) as image:
            return image.convert("RGB")
    return Image.fromarray(getattr(data, name)())


def _open(path: Path) -> Image.Image:
    """Read a file as red, green and blue of 8 bits, the right way up, on white."""
    try:
        with warnings.catch_warnings():
            # Pillow warns of pictures that are large, and refuses those that are huge.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                return _eight_bits(ImageOps.exif_transpose(image))
    except UnidentifiedImageError:
        raise PhotographError(f"{path}: not an image that Pillow can read") from None
    except Image.DecompressionBombError:
        raise PhotographError(f"{path}: too large an image") from None
    except OSError as error:
        raise PhotographError(f"{path}: {error.strerror or error}") from None


def _eight_bits(image: Image.Image) -> Image.Image:
    if image.mode.startswith(("I", "F")):  # 16 bits a pixel, which `convert` would cut off at 255
        brightness = np.asarray(image, np.float64)
        brightness = 255.0 * brightness / max(brightness.max(), 1.0)
        return Image.fromarray(brightness.astype(np.uint8)).convert("RGB")
    over = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", over.size, "white"), over).convert("RGB")
