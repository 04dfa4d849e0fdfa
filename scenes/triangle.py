"""A triangle to be recovered from a picture of it.

The picture is that of a camera: a pixel holds the fraction that the triangle covers. This module
holds only data; the differentiable renderer is in `demos/soft_raster.py`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class TriangleScene:
    """A square picture, of width 1, with x to the right and y down.

    Attributes:
        picture: Part of each pixel that the triangle covers, shape (n, n).
        vertices: Those that the picture shows, shape (3, 2).
        guess: Those to begin with, shape (3, 2), in the same order around the triangle.
    """

    picture: np.ndarray
    vertices: np.ndarray
    guess: np.ndarray

    @property
    def n(self) -> int:
        """Number of pixels along each axis."""
        return len(self.picture)


def cover(vertices: np.ndarray, n: int, samples: int = 8) -> np.ndarray:
    """Return the part of each pixel that a triangle covers, shape (n, n).

    Args:
        vertices: Of the triangle, shape (3, 2).
        n: Number of pixels along each axis.
        samples: Of a pixel along each axis, each inside or outside.
    """
    places = (np.arange(n * samples) + 0.5) / (n * samples)
    x, y = places[None, :], places[:, None]
    sides = []
    for (ax, ay), (bx, by) in zip(vertices, np.roll(vertices, -1, axis=0), strict=True):
        sides.append((bx - ax) * (y - ay) - (by - ay) * (x - ax))
    inside = np.all(np.greater(sides, 0), axis=0) | np.all(np.less(sides, 0), axis=0)
    return inside.reshape(n, samples, n, samples).mean(axis=(1, 3))


def make_scene(n: int = 128) -> TriangleScene:
    """Return the scene, whose guess is small and off most of the triangle.

    Args:
        n: Number of pixels along each axis.
    """
    vertices = np.array([[0.18, 0.27], [0.86, 0.41], [0.37, 0.88]])
    guess = np.array([[0.55, 0.20], [0.80, 0.25], [0.70, 0.45]])
    return TriangleScene(cover(vertices, n), vertices, guess)
