"""A pool seen through moving water, which should look as if through a magnifying glass.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "water renderer"), where an image
classifier defined the goal; here a picture does. This module holds only data; the simulation of
water and light is in `demos/water_renderer.py`.
"""

from dataclasses import dataclass

import numpy as np

from scenes.drawings import draw_disc, draw_yin_yang

_TILES = 6  # along each axis
_EMBLEM, _GLASS = 0.16, 0.42  # radii of the emblem and of the glass, in widths of the pool


@dataclass(frozen=True, slots=True)
class WaterScene:
    """The bottom of a square pool, and its desired image through the water.

    Attributes:
        bottom: Red, green and blue from 0 to 1, shape (n, n, 3).
        target: The image, of the same shape.
    """

    bottom: np.ndarray
    target: np.ndarray


def make_scene(n: int = 256, magnification: float = 1.4) -> WaterScene:
    """Return a tiled pool with an emblem, and its image through a glass over the middle.

    Args:
        n: Number of pixels along each axis, and of cells of the water.
        magnification: In the middle of the glass; towards its rim it falls to 1.
    """
    y, x = np.meshgrid(*[np.arange(n) / n - 0.5] * 2, indexing="ij")
    glass = np.clip(1.0 - (y**2 + x**2) / _GLASS**2, 0.0, 1.0)
    nearer = 1.0 - (1.0 - 1.0 / magnification) * glass
    return WaterScene(bottom=_draw(y, x), target=_draw(nearer * y, nearer * x))


def _draw(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the colours of the bottom at places, in widths from the middle, shape (..., 3).

    Soft edges: light that is bent too little still feels which way the colour changes.
    """
    off_tile = [(_TILES * place) % 1.0 - 0.5 for place in (y, x)]
    grout = np.exp(-((np.abs(off_tile).min(axis=0) / 0.12) ** 2))
    red, green = 0.35 + 0.1 * np.cos(3 * y + 2 * x), 0.65 + 0.1 * np.sin(4 * x - y)
    tiles = np.stack([red, green, np.full_like(x, 0.75)], axis=-1) * (1 - 0.25 * grout[..., None])
    place = y / _EMBLEM, x / _EMBLEM
    yang, disc = draw_yin_yang(*place, edge=0.15)[..., None], draw_disc(*place, 1.0, 0.3)[..., None]
    emblem = yang * (1.0, 0.95, 0.85) + (1 - yang) * (0.75, 0.2, 0.1)
    return tiles * (1 - disc) + emblem * disc
