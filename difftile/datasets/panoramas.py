"""Panoramas: pictures of all directions, of which a view sees a face of a cube.

The picture is equirectangular: from left to right the longitude goes from -180 to 180 degrees, from
top to bottom the latitude from 90 to -90, and its centre is the direction forward.

Source: docs.nerf.studio (Camera models), whose name for it is EQUIRECTANGULAR.
"""

from __future__ import annotations

import numpy as np

from difftile.datasets.lenses import Coordinates, Doubles
from difftile.datasets.splats import Floats
from difftile.datasets.undistort import resampled

# By name: the axes right, down and forward of a face, in the axes of the panorama.
FACES: dict[str, Doubles] = {
    name: np.array(axes, np.float64)
    for name, axes in {
        "front": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "right": [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
        "back": [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
        "left": [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        "up": [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
        "down": [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    }.items()
}


def face_side(width: int) -> int:
    """Return the side of a face that has as many pixels per angle in its middle as a panorama."""
    return max(1, round(width / np.pi))


def face_of(colours: Floats, face: str) -> Floats:
    """Return a face of a panorama, by linear interpolation.

    Args:
        colours: The panorama, shape (height, 2 height, channels).
        face: A name in `FACES`.

    Returns:
        Shape (side, side, channels); see `face_side`.
    """
    height, width, _ = colours.shape
    side = face_side(width)
    axes = FACES[face]
    # The first and the last column are neighbours.
    closed = np.concatenate([colours[:, -1:], colours, colours[:, :1]], axis=1)

    def places(columns: Doubles, rows: Doubles) -> Coordinates:
        across, down = np.meshgrid(2 * columns / side - 1, 2 * rows / side - 1)
        x, y, z = (across * axes[0, k] + down * axes[1, k] + axes[2, k] for k in range(3))
        longitude, latitude = np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))
        u = (longitude / (2 * np.pi) + 0.5) * width
        return u + 1, (latitude / np.pi + 0.5) * height

    return resampled(closed, (side, side), places)
