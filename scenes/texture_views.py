"""Views of a plane of tiles, from near and from far, that show an unknown texture.

This module holds only data; the renderer is in `demos/fit_texture.py`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class TextureViews:
    """Views of a plane that repeats a texture; each is a square of so many pixels.

    Pixel (row i, column j) of a view shows the neighbourhood of corner + (j + 1/2) across +
    (i + 1/2) down, in sides of the texture.

    Attributes:
        pixels: Along each side of a view.
        corner: First corner of a view, shape (n, 2).
        across: From a pixel to the next one in its row, shape (n, 2).
        down: From a pixel to the next one in its column, shape (n, 2).
    """

    pixels: int
    corner: np.ndarray
    across: np.ndarray
    down: np.ndarray


def make_views(n: int, texels: int = 64, pixels: int = 64, seed: int = 0) -> TextureViews:
    """Return views of random places, turned at random, from near and from far.

    From the nearest a texel is two pixels wide, from the farthest a pixel is four texels wide.

    Args:
        n: Number of views.
        texels: Along each side of the texture.
        pixels: Along each side of a view.
        seed: Of the random numbers.
    """
    rng = np.random.default_rng(seed)
    step = np.exp(rng.uniform(np.log(0.5), np.log(4.0), n)) / texels
    angle = rng.uniform(0.0, 2 * np.pi, n)
    across = step[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    down = step[:, None] * np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    return TextureViews(pixels, rng.uniform(size=(n, 2)), across, down)
