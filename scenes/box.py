"""A box of coloured walls with a lamp, whose colours should be found from a picture of it.

The box goes from -1 to 1 and is open to the front (z = 1), where the camera is; it is like the one
that Goral et al. (SIGGRAPH 1984) painted, with two balls in it. This module holds data only; how
light finds its way is written in `demos/path_replay.py`.
"""

from dataclasses import dataclass

import numpy as np

SURFACES = "left wall", "right wall", "other walls", "near ball", "far ball"


@dataclass(frozen=True, slots=True)
class BoxScene:
    """The box.

    Attributes:
        albedo: Part of the light that each of `SURFACES` scatters, shape (5, 3): red, green, blue.
        guess: Initial values of the same.
        balls: Middle and radius of each ball, shape (2, 4).
        lamp: Half the width of the lamp, a square in the middle of the ceiling.
        emission: Light that it emits, shape (3,).
        eye: Distance of the camera from the middle of the box.
        resolution: Pixels of a picture along each axis.
    """

    albedo: np.ndarray
    guess: np.ndarray
    balls: np.ndarray
    lamp: float
    emission: np.ndarray
    eye: float
    resolution: int


def make_scene(resolution: int = 96) -> BoxScene:
    """Return the scene, in which the guess takes everything for blue.

    Args:
        resolution: Pixels of a picture along each axis.
    """
    albedo = [
        [0.63, 0.06, 0.05],
        [0.14, 0.45, 0.09],
        [0.73, 0.71, 0.68],
        [0.75, 0.65, 0.30],
        [0.35, 0.45, 0.75],
    ]
    balls = [[0.42, -0.62, 0.3, 0.38], [-0.4, -0.5, -0.35, 0.5]]
    return BoxScene(
        albedo=np.array(albedo),
        guess=np.tile([0.2, 0.4, 0.86], (len(albedo), 1)),
        balls=np.array(balls),
        lamp=0.35,
        emission=np.array([9.0, 8.4, 7.2]),
        eye=3.4,
        resolution=resolution,
    )
