"""A torus that should be found from two pictures of it.

This module holds data only; how the torus is seen is written in `demos/sdf_torus.py`.
"""

from dataclasses import dataclass

import numpy as np

from scenes.cameras import look_at_origin


@dataclass(frozen=True, slots=True)
class Torus:
    """A torus, whose axis is turned from the y axis around the z axis.

    Attributes:
        centre: Its middle, shape (3,).
        radii: Of the ring, and of the tube, shape (2,).
        tilt: How far it is turned [rad].
    """

    centre: np.ndarray
    radii: np.ndarray
    tilt: float


@dataclass(frozen=True, slots=True)
class TorusScene:
    """A torus and cameras directed at the origin.

    Attributes:
        torus: The torus to recover.
        guess: The initial guess.
        eyes: Positions of the cameras, shape (views, 3).
        frames: Their axes to the right, down and ahead, shape (views, 3, 3).
        spread: Tangent of half the angle that a picture spans.
        resolution: Pixels of a picture along each axis.
    """

    torus: Torus
    guess: Torus
    eyes: np.ndarray
    frames: np.ndarray
    spread: float
    resolution: int

    @property
    def pixel(self) -> float:
        """Width of a pixel at distance 1."""
        return 2.0 * self.spread / self.resolution


def make_scene(resolution: int = 144) -> TorusScene:
    """Return the scene of two views.

    Args:
        resolution: Pixels of a picture along each axis.
    """
    torus = Torus(np.array([0.15, -0.1, 0.1]), np.array([0.8, 0.3]), tilt=0.5)
    guess = Torus(np.array([-0.1, 0.15, -0.1]), np.array([0.6, 0.2]), tilt=0.1)
    angles, height = np.radians([20.0, 110.0]), 2.3
    eyes = np.stack([3.0 * np.sin(angles), np.full(2, height), 3.0 * np.cos(angles)], axis=1)
    return TorusScene(torus, guess, eyes, look_at_origin(eyes), 0.45, resolution)
