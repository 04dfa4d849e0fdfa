"""What a data set is once it is read: views, points, and the size of the scene."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.datasets.images import picture_size, read_picture
from difftile.datasets.splats import Floats
from difftile.diagnostics import DatasetError
from difftile.files.inside import Folder

Doubles: TypeAlias = npt.NDArray[np.float64]
Colour: TypeAlias = tuple[float, float, float]


LEAST_FOCAL = 1e-6  # focal length [pixels]
_LARGEST = 1e18  # of a number: its square is one in single precision
_WIDEST = 10**6  # of a picture [pixels]


def within_reach(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which values are numbers of at most 1e18, whose squares single precision holds."""
    return np.abs(values) <= _LARGEST  # no number is not


def are_numbers(values: npt.NDArray[Any]) -> bool:
    """Return whether all values are numbers that can be computed with; see `within_reach`."""
    return bool(within_reach(values).all())


def is_size(width: int, height: int) -> bool:
    """Return whether a picture may have this size."""
    return 1 <= width <= _WIDEST and 1 <= height <= _WIDEST


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A picture and the camera that took it, a pinhole.

    Args:
        name: Its name in the data set.
        path: The file of the picture.
        world_to_camera: In OpenCV axes (x right, y down, z forward), shape (4, 4).
        intrinsics: fx, fy, cx, cy [pixels]; the upper left pixel has its centre at (0.5, 0.5).
            Shape (4,).
        width: Of the picture [pixels].
        height: Of the picture [pixels].
        background: What shows where the picture is transparent.
        downscale: How many pixels of the file are one of the view, along each axis.
        held_out: Whether the data set keeps it for testing; None where it does not say.
    """

    name: str
    path: Path
    world_to_camera: Doubles
    intrinsics: Doubles
    width: int
    height: int
    background: Colour = (0.0, 0.0, 0.0)
    downscale: int = 1
    held_out: bool | None = None

    @property
    def centre(self) -> Doubles:
        """Where the camera stands [scene units], shape (3,)."""
        return -self.world_to_camera[:3, :3].T @ self.world_to_camera[:3, 3]

    def image(self) -> Floats:
        """Read the picture: colours 0 ... 1 as they are stored (sRGB), shape (height, width, 3).

        Raises:
            DatasetError: It cannot be read, or is no longer of this size.
        """
        colours = read_picture(self.path, self.background, self.downscale)
        if colours.shape != (self.height, self.width, 3):
            height, width = colours.shape[:2]
            raise DatasetError(
                self.path, f"is {width} x {height}", f"{self.width} x {self.height} pixels"
            )
        return colours


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points on the surfaces of a scene.

    Args:
        positions: [scene units], shape (n, 3).
        colours: 0 ... 1, shape (n, 3).
    """

    positions: Doubles
    colours: Floats

    def kept(self) -> tuple[Points | None, tuple[str, ...]]:
        """Return those whose coordinates are numbers, or None, and a note about the others."""
        rows = within_reach(self.positions).all(axis=1)
        dropped = len(self) - int(np.count_nonzero(rows))
        notes = (f"{dropped} points that are not finite were dropped",) if dropped else ()
        left = Points(self.positions[rows], self.colours[rows])
        return (left if len(left) else None), notes

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Pictures of one scene.

    Args:
        folder: Where it is.
        views: Sorted by name.
        points: Points of the scene, where the data set has some.
        found: What was found, in words.
        notes: What was left out, in words.
    """

    folder: Path
    views: tuple[View, ...]
    points: Points | None
    found: str
    notes: tuple[str, ...] = ()

    @property
    def scale(self) -> float:
        """The size of the scene [scene units]: 1.1 times the farthest camera from their mean.

        Source: `cameras_extent` of the INRIA code. 1 where all cameras stand in one place.
        """
        centres = np.stack([view.centre for view in self.views])
        away = np.linalg.norm(centres - centres.mean(axis=0), axis=1)
        return 1.1 * float(away.max()) or 1.0

    def split(self, every: int = 8) -> tuple[tuple[View, ...], tuple[View, ...]]:
        """Return the views to train on, and those that are held out.

        Args:
            every: Hold out the first and then every so many-th view; none if 0. A data set that
                says itself which are held out is taken at its word.
        """
        if every and any(view.held_out is not None for view in self.views):
            out = [bool(view.held_out) for view in self.views]
        else:
            out = [bool(every) and k % every == 0 for k in range(len(self.views))]
        pairs = [*zip(self.views, out, strict=True)]
        return tuple(v for v, o in pairs if not o), tuple(v for v, o in pairs if o)


def smaller(
    inside: Folder, picture: Path, folder: Path, downscale: int, by: Path
) -> tuple[Path, int]:
    """Return the file of a picture that is smaller already, and how much is left to scale.

    Args:
        inside: Where files may be.
        picture: The file of the picture itself.
        folder: The folder of pictures; those of half the size are in `images_2` beside `images`.
        downscale: How many pixels are to be one.
        by: The file that names the picture, for errors.
    """
    beside = folder.with_name(f"{folder.name}_{downscale}")
    if downscale > 1 and picture.is_relative_to(folder):
        name = picture.relative_to(folder)
        if os.path.exists(beside / name):
            return inside.within(beside, str(name), by, "the name of a smaller picture"), 1
    return picture, downscale


def sized_view(
    name: str,
    path: Path,
    world_to_camera: Doubles,
    intrinsics: Doubles,
    size: tuple[int, int] | None,
    *,
    background: Colour,
    downscale: int,
    held_out: bool | None = None,
) -> View:
    """Return a view whose intrinsics fit its picture, which may be smaller than its camera says.

    Args:
        name: See `View`.
        path: See `View`.
        world_to_camera: See `View`.
        intrinsics: For a picture of that size.
        size: Width and height that the camera is for; those of the picture if None.
        background: See `View`.
        downscale: See `View`.
        held_out: See `View`.

    Raises:
        DatasetError: The picture is not there, or has another shape than its camera says.
    """
    width, height = picture_size(path)
    across, down = size or (width, height)
    # A picture that was made smaller is rounded to whole pixels on each axis.
    if abs(across * height - down * width) > max(across, down):
        raise DatasetError(
            path,
            f"is {width} x {height}",
            f"{across} x {down} pixels, as its camera says, or a multiple of that",
        )
    shape = width // downscale, height // downscale
    if not all(shape):
        raise DatasetError(path, f"is {width} x {height}", f"{downscale} pixels along each axis")
    scale = np.array([width / across, height / down]) / downscale
    lens = intrinsics * np.tile(scale, 2)
    if not (are_numbers(lens) and (lens[:2] >= LEAST_FOCAL).all()):
        raise DatasetError(
            path, f"is {width} x {height} for a camera of {across} x {down}", "nearer sizes"
        )
    return View(
        name,
        path,
        world_to_camera,
        lens,
        *shape,
        background=background,
        downscale=downscale,
        held_out=held_out,
    )
