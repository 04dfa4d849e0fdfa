"""Photographs to begin with: a file of the user's, or one that comes inside a package."""

import numpy as np
from matplotlib import cbook
from PIL import Image

import difftile as dt

SAMPLES = ("astronaut", "chelsea")  # of scikit-image


class PhotographError(ValueError):
    """A file that is not there or is no image; the message is one line."""


def read_photograph(source: str, size: int) -> np.ndarray:
    """Return the square in the middle of a photograph, resized.

    Args:
        source: A path, or one of `SAMPLES`. Without scikit-image, Matplotlib's sample is used, with
            a note of one line.
        size: Pixels along each side.

    Returns:
        Red, green and blue as in the file, that is encoded for a screen, from 0 to 1, shape (size,
        size, 3).

    Raises:
        PhotographError: The file cannot be read as an image.
    """
    image = _sample(source) if source in SAMPLES else _open(source)
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
        with cbook.get_sample_data("grace_hopper.jpg") as file, Image.open(file) as image:  # pyrefly: ignore[bad-context-manager]
            return image.convert("RGB")
    return Image.fromarray(getattr(data, name)())


def _open(path: str) -> Image.Image:
    """Read a file as red, green and blue of 8 bits, the right way up, on white."""
    try:
        return _eight_bits(dt.datasets.read_image(path), path)
    except dt.DatasetError as error:
        raise PhotographError(" ".join(str(error).split())) from None


def _eight_bits(image: Image.Image, path: str) -> Image.Image:
    if image.mode.startswith(("I", "F")):  # 16 bits a pixel, which `convert` would cut off at 255
        brightness = np.asarray(image, np.float64)
        if not np.isfinite(brightness).all():
            raise PhotographError(f"{path}: has pixels that are no finite numbers")
        brightness = 255.0 * brightness.clip(0.0) / max(brightness.max(), 1.0)
        return Image.fromarray(brightness.astype(np.uint8)).convert("RGB")
    over = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", over.size, "white"), over).convert("RGB")
