"""A cloud that is seen from several sides and should be found from its pictures.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "volume renderer"), with its size as a
choice: the original has 128 cells along each axis, pictures of 512 x 512 pixels and 1000 samples
on a ray. This module holds data only; how the cloud is seen is written in
`demos/volume_renderer.py`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class VolumeScene:
    """A cloud in the unit cube around the origin, and cameras on a circle around it.

    Attributes:
        density: What a sample in a cell adds to a pixel, shape (n, n, n): z, y, x.
        angles: Of the cameras around the y axis [rad], shape (views,).
        resolution: Pixels of a picture along each axis.
        samples: On a ray.
        spacing: From one sample to the next [m].
    """

    density: np.ndarray
    angles: np.ndarray
    resolution: int = 96
    samples: int = 100
    spacing: float = 0.02

    @property
    def n(self) -> int:
        """Number of cells along each axis."""
        return len(self.density)


def make_scene(
    n: int = 32, resolution: int = 96, samples: int = 100, views: int = 7
) -> VolumeScene:
    """Return a torus that is seen from one half of the circle around it.

    Args:
        n: Number of cells along each axis.
        resolution: Pixels of a picture along each axis.
        samples: On a ray; 100 cross the cube.
        views: Number of pictures.
    """
    place = np.arange(n) / n - 0.5
    z, y, x = np.meshgrid(place, place, place, indexing="ij")
    inside = np.hypot(np.hypot(y, z) - 0.4, x) < 0.1
    angles = np.pi / views * np.arange(views) - np.pi / 2
    return VolumeScene(inside / n, angles, resolution, samples)
