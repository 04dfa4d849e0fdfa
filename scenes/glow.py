"""A glowing cloud that should be found from pictures of it, to be seen from new places.

This module holds data only; how light passes the cloud is written in `demos/volume_grid.py`.
"""

from dataclasses import dataclass, replace

import numpy as np

from scenes.cameras import look_at_origin


@dataclass(frozen=True, slots=True)
class GlowScene:
    """A cloud in the cube from -1 to 1, and cameras around it, directed at the origin.

    Attributes:
        cloud: Red, green, blue and density of each texel, shape (n, n, n, 4): z, y, x. All are from
            0 to 1, a density in parts of the largest.
        densest: Absorption per unit length at the largest density.
        eyes: Positions of the cameras, shape (views, 3).
        frames: Their axes to the right, down and ahead, shape (views, 3, 3).
        spread: Tangent of half the angle that a picture spans.
        resolution: Pixels of a picture along each axis.
    """

    cloud: np.ndarray
    densest: float
    eyes: np.ndarray
    frames: np.ndarray
    spread: float
    resolution: int

    @property
    def n(self) -> int:
        """Number of texels along each axis."""
        return len(self.cloud)

    def seen_from(self, eyes: np.ndarray) -> "GlowScene":
        """Return the scene with other cameras."""
        return replace(self, eyes=eyes, frames=look_at_origin(eyes))


def make_scene(n: int = 32, resolution: int = 64, views: int = 12) -> GlowScene:
    """Return a trefoil knot whose colour changes along it.

    Args:
        n: Number of texels along each axis.
        resolution: Pixels of a picture along each axis.
        views: Number of cameras.
    """
    eyes = spread_out(views)
    return GlowScene(_knot(n), 20.0, eyes, look_at_origin(eyes), 0.42, resolution)


def _knot(n: int) -> np.ndarray:
    """Return the texels of a trefoil knot."""
    place = (2 * np.arange(n) + 1) / n - 1.0
    z, y, x = np.meshgrid(place, place, place, indexing="ij")
    points = np.stack([x, y, z], axis=-1)
    s = np.linspace(0.0, 2 * np.pi, 256, endpoint=False)
    curve = np.stack(
        [np.sin(s) + 2 * np.sin(2 * s), np.cos(s) - 2 * np.cos(2 * s), -1.5 * np.sin(3 * s)], axis=1
    )
    curve *= 0.25
    away = np.linalg.norm(points[..., None, :] - curve, axis=-1)
    nearest = s[away.argmin(axis=-1)]
    density = np.clip((0.24 - away.min(axis=-1)) / 0.12, 0.0, 1.0)
    shifts = np.array([0.0, 2.1, 4.2])
    colour = 0.55 + 0.4 * np.cos(nearest[..., None] + shifts)
    return np.concatenate([colour, density[..., None]], axis=-1)


def spread_out(count: int, turn: float = 0.0) -> np.ndarray:
    """Return places spread evenly over a sphere, by the golden angle, shape (count, 3)."""
    k = np.arange(count)
    return _place(0.9 * (1.0 - (2 * k + 1) / count), k * np.pi * (3.0 - np.sqrt(5.0)) + turn)


def around(count: int) -> np.ndarray:
    """Return places on a circle a little above the middle, shape (count, 3)."""
    angle = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    return _place(np.full(count, 0.35), angle)


def _place(y: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return places on a sphere, of heights from -1 to 1 and angles around the y axis [rad]."""
    side = np.sqrt(1.0 - y**2)
    return 3.6 * np.stack([side * np.sin(angle), y, side * np.cos(angle)], axis=1)
