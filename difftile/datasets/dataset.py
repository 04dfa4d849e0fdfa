"""Data sets: views, points, and the size of the scene."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.datasets.depths import check_ratio, depths_at, read_depths
from difftile.datasets.images import picture_size, read_picture, scaled_down
from difftile.datasets.lenses import Doubles, Lens
from difftile.datasets.masks import at_size, read_alpha, read_mask
from difftile.datasets.panoramas import face_of, face_side
from difftile.datasets.splats import Floats
from difftile.datasets.undistort import undistorted
from difftile.diagnostics import DatasetError

Colour: TypeAlias = tuple[float, float, float]


LEAST_FOCAL = 1e-6  # focal length [pixels]
LARGEST = 1e18  # of a number whose square single precision holds
_WIDEST = 10**6  # of an image [pixels]
_ONE_PLACE = 8 * float(np.finfo(np.float32).eps)  # of a distance from the origin
_ORIGIN = 1e-9  # from the origin, where matrices of cameras leave rounding [scene units]
_BLACK = "take the picture out of the data set, or use masks for the background only."
_SIZES = 3  # sizes of views that a summary names


def within_reach(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which values are numbers of at most 1e18, whose squares single precision holds."""
    return np.abs(values) <= LARGEST  # false for NaN


def are_numbers(values: npt.NDArray[Any]) -> bool:
    """Return whether all values can be used in single precision; see `within_reach`."""
    return bool(within_reach(values).all())


def is_size(width: int, height: int) -> bool:
    """Return whether an image may have this size."""
    return 1 <= width <= _WIDEST and 1 <= height <= _WIDEST


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View:
    """An image and the pinhole camera that shows it.

    Args:
        name: Its name in the data set.
        path: The file of the image.
        world_to_camera: In OpenCV axes (x right, y down, z forward), shape (4, 4).
        intrinsics: fx, fy, cx, cy [pixels]; the upper left pixel has its centre at (0.5, 0.5).
            Shape (4,).
        width: Of the view [pixels].
        height: Of the view [pixels].
        background: The colour of transparent pixels.
        downscale: The number of pixels of the file per pixel of the view, along each axis.
        held_out: Whether the data set reserves it for testing; None if unspecified.
        lens: The lens that took the image, if it is distorted; in pixels of the file.
        depth: The file of its depth map, or None.
        depth_unit: The depth of the number 1 in that file [scene units].
        mask_file: The file of its mask, or None. If it is `path`, alpha is the mask.
        face: The face of a cube that it shows of a panorama, "front" ... "down"; None for pictures
            of cameras.
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
    lens: Lens | None = None
    depth: Path | None = None
    depth_unit: float = 0.001
    mask_file: Path | None = None
    face: str | None = None

    def __repr__(self) -> str:
        fx, fy, cx, cy = self.intrinsics.tolist()
        lens = "" if self.lens is None else ", undistorted"
        held_out = ", held out" if self.held_out else ""
        return (
            f"View({self.name!r}, {self.width} x {self.height}, fx {fx:.6g}, fy {fy:.6g}, "
            f"cx {cx:.6g}, cy {cy:.6g}{lens}{held_out})"
        )

    @property
    def picture(self) -> str:
        """The name of its picture in the data set: all faces of a panorama have the same."""
        return self.name if self.face is None else self.name.removesuffix(f"/{self.face}")

    @property
    def centre(self) -> Doubles:
        """The position of the camera [scene units], shape (3,)."""
        return -self.world_to_camera[:3, :3].T @ self.world_to_camera[:3, 3]

    def image(self) -> Floats:
        """Return the colours as they are stored (sRGB), 0 ... 1, shape (height, width, 3).

        A picture of a distorted lens is resampled to the pinhole camera.

        Raises:
            DatasetError: The file cannot be read, or its size has changed.
        """
        return self._seen(read_picture(self.path, self.background))

    def mask(self, *, empty: bool = True) -> Floats:
        """Return how much the pixels count, 0 ... 1, shape (height, width); 1 without a mask.

        Pixels of a mask count if they are brighter than half of the brightest; alpha counts as it
        is. A mask of another size than its picture gives each pixel the nearest number; then it
        is undistorted and scaled down as the picture.

        Args:
            empty: Whether it may be that no pixel counts.

        Raises:
            DatasetError: The file cannot be read, its aspect ratio differs from the picture, or no
                pixel counts.
        """
        if self.mask_file is None:
            return np.ones((self.height, self.width), np.float32)
        if self.mask_file == self.path:
            mask = read_alpha(self.path)
        else:
            mask, size = read_mask(self.mask_file), picture_size(self.path)
            check_ratio(self.mask_file, mask, size)
            mask = at_size(mask, *size)
        found = self._seen(mask[..., None])[..., 0]
        if not (empty or found.any()):
            raise DatasetError(
                self.mask_file,
                "leaves no pixel that counts",
                "white where pixels count",
                hint=_BLACK,
            )
        return found

    def _seen(self, pixels: Floats) -> Floats:
        """Return the pixels of the file as the pinhole shows them, shape (height, width, channels).

        Raises:
            DatasetError: The size of the picture has changed.
        """
        self.check_size(pixels.shape[1], pixels.shape[0])
        if self.face is not None:
            pixels = face_of(pixels, self.face)
        elif self.lens is not None:
            fx, fy, cx, cy = (self.intrinsics * self.downscale).tolist()
            pixels = undistorted(pixels, self.lens, (fx, fy, cx, cy))
        return scaled_down(pixels, self.downscale)

    def depths(self) -> Floats:
        """Return the depths of the pixels [scene units], 0 where unknown, shape (height, width).

        Depths are those along the axis of the camera. Each pixel has the depth nearest to its
        centre in the map, which may have another size than the picture; the map of a distorted
        lens is resampled as its picture.

        Raises:
            DatasetError: There is no map, it cannot be read, or its aspect ratio differs from
                the picture.
        """
        if self.depth is None:
            raise DatasetError(self.path, "has no depth map", "a 'depth_file_path' in its frame")
        size = picture_size(self.path)
        self.check_size(*size)
        depths = read_depths(self.depth, self.depth_unit)
        check_ratio(self.depth, depths, size)
        lens = None if self.lens is None else (self.lens, self.intrinsics)
        found = depths_at(depths, size, (self.width, self.height), self.downscale, lens)
        return np.asarray(found, np.float32)

    def check_size(self, width: int, height: int) -> None:
        """Check the size of the picture in its file.

        Raises:
            DatasetError: Another size than when the data set was loaded.
        """
        seen, part = (width, height), self.downscale
        if self.face is not None and width == 2 * height:
            seen = (face_side(width),) * 2
        if (seen[0] // part, seen[1] // part) != (self.width, self.height):
            found = f"is {width // part} x {height // part}"
            expected = f"{self.width} x {self.height} pixels"
            if self.face is not None:
                expected = f"a panorama whose faces have {expected}"
            raise DatasetError(self.path, found, expected)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Points:
    """Points on the surfaces of a scene.

    Args:
        positions: [scene units], shape (n, 3).
        colours: 0 ... 1, shape (n, 3).
    """

    positions: Doubles
    colours: Floats

    def kept(self) -> tuple[Points | None, tuple[str, ...]]:
        """Return the points with finite coordinates, or None, and a note about the other ones."""
        rows = within_reach(self.positions).all(axis=1)
        dropped = len(self) - int(np.count_nonzero(rows))
        notes = (f"{dropped} points that are not finite were dropped",) if dropped else ()
        left = Points(self.positions[rows], self.colours[rows])
        return (left if len(left) else None), notes

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"Points({len(self)} of them)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """Views of one scene.

    Args:
        folder: The folder.
        views: Sorted by name.
        points: Points of the scene, or None.
        found: A description of the contents.
        notes: Descriptions of ignored contents.
        missing: The names of views that are left out, as their pictures or masks are not there.
    """

    folder: Path
    views: tuple[View, ...]
    points: Points | None
    found: str
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def __repr__(self) -> str:
        sizes = Counter(f"{view.width} x {view.height}" for view in self.views).most_common()
        named = [f"{count} of {size}" for size, count in sizes[:_SIZES]]
        if more := len(sizes) - len(named):
            named.append(f"{more} more sizes")
        cameras = len({(*view.intrinsics.tolist(), view.width, view.height) for view in self.views})
        undistorted = sum(view.lens is not None for view in self.views)
        lines = [
            f"Dataset({str(self.folder)!r}: {self.found}",
            f"views: {', '.join(named)}",
            f"cameras: {cameras}" + (f", {undistorted} views undistorted" if undistorted else ""),
            f"scale: {self.scale:.6g}",
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n  ".join(lines) + ")"

    @property
    def scale(self) -> float:
        """The size of the scene [scene units]: 1.1 times the farthest camera from their mean.

        Source: `cameras_extent` of the INRIA code. 1 if all cameras are in one place, as far as
        single precision can tell, in which gaussians are trained.
        """
        centres = np.stack([view.centre for view in self.views])
        away = np.linalg.norm(centres - centres.mean(axis=0), axis=1)
        least = max(_ONE_PLACE * float(np.abs(centres).max()), _ORIGIN)
        return 1.1 * float(away.max()) if away.max() > least else 1.0

    def split(self, every: int = 8) -> tuple[tuple[View, ...], tuple[View, ...]]:
        """Return the views to train on, and the held-out views.

        Args:
            every: Hold out the first and then each `every`-th picture; none if 0. All faces of a
                panorama are one picture. A data set may specify its held-out views itself.
        """
        if every and any(view.held_out is not None for view in self.views):
            out = [bool(view.held_out) for view in self.views]
        else:
            pictures = dict.fromkeys(view.picture for view in self.views)
            number = {name: k for k, name in enumerate(pictures)}
            out = [bool(every) and number[view.picture] % every == 0 for view in self.views]
        pairs = [*zip(self.views, out, strict=True)]
        return tuple(v for v, o in pairs if not o), tuple(v for v, o in pairs if o)
