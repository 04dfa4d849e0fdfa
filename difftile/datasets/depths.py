"""Depth maps: files of depths, and their values at the pixels of a view.

Source: docs.nerf.studio (Data conventions, depth images): whole numbers in millimetres, where 0 is
unknown. A depth is measured along the axis of the camera, not along the ray of the pixel.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from difftile.datasets.images import open_picture
from difftile.datasets.lenses import Doubles, Lens
from difftile.diagnostics import DatasetError
from difftile.files.arrays import read_array
from difftile.files.regular import understood

_REACH = 1e-18, 1e18  # of depths whose inverses single precision holds
_EXPECTED = "16 bits of grey, or floats"


def read_depths(path: Path, unit: float) -> Doubles:
    """Return the depths of a file, 0 where they are unknown, shape (rows, columns).

    Zeros and numbers that are not finite are unknown.

    Args:
        path: A `.npy`, or a picture with 16 bits of grey or floats.
        unit: The depth of the number 1 [scene units].

    Raises:
        DatasetError: The file is missing or broken, or has something else than depths.
    """
    if path.suffix.lower() == ".npy":
        found = read_array(path)
        found = found[..., 0] if found.ndim == 3 and found.shape[2] == 1 else found
        if found.ndim != 2 or found.dtype.kind not in "iuf" or not found.size:
            what = f"has the shape {found.shape} of {found.dtype}"
            raise DatasetError(path, what, "a number for each pixel, shape (rows, columns)")
    else:
        with open_picture(path) as image, understood(path, "a whole depth map"):
            if not image.mode.startswith(("I", "F")):
                raise DatasetError(path, f"has pixels of the kind {image.mode}", _EXPECTED)
            found = np.asarray(image)
    with np.errstate(over="ignore", under="ignore"):  # refused below, or 0
        depths = np.asarray(found, np.float64)
        depths = np.where(np.isfinite(depths), depths, 0.0) * unit
    least, most = _REACH
    bad = np.argwhere((depths != 0) & ~((depths >= least) & (depths <= most)))
    if len(bad):
        row, column = bad[0].tolist()
        what = f"has {found[row, column]} in row {row}, column {column}"
        raise DatasetError(path, what, "depths above 0, or 0 where they are unknown")
    return depths


def check_ratio(path: Path, depths: npt.NDArray[np.floating], size: tuple[int, int]) -> None:
    """Check that a depth map or a mask shows as much as a picture of some width and height.

    Raises:
        DatasetError: The aspect ratios differ by more than the rounding to whole pixels.
    """
    (rows, columns), (width, height) = depths.shape, size
    if abs(columns * height - rows * width) > max(columns, rows, width, height):
        raise DatasetError(
            path,
            f"is {columns} x {rows}",
            f"{width} x {height} pixels as its picture, or a multiple or part of that",
        )


def depths_at(
    depths: Doubles,
    size: tuple[int, int],
    view: tuple[int, int],
    downscale: int,
    lens: tuple[Lens, Doubles] | None,
) -> Doubles:
    """Return the depths at the centres of the pixels of a view: the nearest, known or not.

    Means of depths would lie between surfaces.

    Args:
        depths: The map, shape (rows, columns).
        size: Width and height of the picture in its file, of which the map may be a multiple or
            a part [pixels].
        view: Width and height of the view [pixels].
        downscale: The number of pixels of the picture per pixel of the view, along each axis.
        lens: The lens that took picture and map, and fx, fy, cx, cy of the view [pixels]; None for
            a pinhole. A depth along the axis is the same for both.

    Returns:
        Shape (height, width) of the view.
    """
    x, y = (np.arange(0.5, pixels) for pixels in view)
    if lens is None:
        u, v = np.meshgrid(x * downscale, y * downscale)
    else:
        fx, fy, cx, cy = lens[1].tolist()
        across: Doubles = (x - cx) / fx
        down: Doubles = (y - cy) / fy
        u, v = lens[0].project(*np.meshgrid(across, down))
    places = (
        np.clip(np.floor(at * count / pixels), 0, count - 1).astype(np.intp)
        for at, count, pixels in ((v, depths.shape[0], size[1]), (u, depths.shape[1], size[0]))
    )
    row, column = places
    return depths[row, column]
