"""Views of a data set: cameras fitted to the pictures that are found, with remarks about them."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, final

import numpy as np

from difftile.datasets.dataset import LEAST_FOCAL, Colour, Doubles, View, are_numbers
from difftile.datasets.faults import check_pictures
from difftile.datasets.images import Header, picture_size, read_header
from difftile.datasets.lenses import Lens, Pinhole, pinhole_of
from difftile.datasets.names import ENDINGS, PictureNames
from difftile.datasets.panoramas import FACES, face_side
from difftile.diagnostics import DatasetError, counted
from difftile.files.inside import Folder
from difftile.files.regular import shown

Size: TypeAlias = tuple[int, int]
MISSING = ("error", "skip")  # what to do about views whose pictures are not there
_IMAGE, _MASK = "a picture", "a mask"
_SKIP = (
    "to leave such views out, write load(..., missing='skip'), or 'difftile train --missing skip'."
)
_NAMED = 3  # pictures that a note names


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """How the pictures of a data set are read.

    Args:
        downscale: The number of pixels of an image per pixel of a view, along each axis.
        background: The colour of transparent pixels.
        missing: One of `MISSING`.
    """

    downscale: int
    background: Colour
    missing: str = "error"


@final
class Gathering:
    """The views of one file of cameras.

    Faulty pictures are reported together by `finish`.

    Args:
        inside: The folder of the data set.
        images: The folder of images; images of half the size are in `images_2` next to `images`.
        reading: How they are read.
    """

    def __init__(self, inside: Folder, images: Path, reading: Reading) -> None:
        self._inside, self._images = inside, images
        self._downscale, self._background = reading.downscale, reading.background
        self._skips = reading.missing == "skip"
        self.names = PictureNames(inside)
        self._masks = images.with_name("masks")
        self._unmasked: list[str] = []
        self._found_masks: list[Path] = []
        self.missing: list[str] = []
        self._faults: list[DatasetError] = []
        self._views: list[View] = []
        self._pictures: list[Path] = []
        self._resized: list[str] = []
        self._turned: list[str] = []
        self._angles: list[tuple[float, float]] = []  # of undistorted pictures
        self._cropped = 0
        self._panoramas = 0

    def add(
        self,
        name: str,
        picture: Path,
        by: Path,
        pose: Doubles,
        lens: Callable[[Size], Lens],
        size: Size | None,
        depth: tuple[Path, float] | None = None,
        mask: Path | None = None,
    ) -> None:
        """Add a view.

        Args:
            name: Its name in the data set.
            picture: The file of the full image.
            by: The file that names the image, for errors.
            pose: From world to camera, shape (4, 4).
            lens: Returns the lens for images of a size.
            size: Width and height as the camera states them; None for the size of the image.
            depth: The file of its depth map, and the depth of the number 1 there [scene units].
            mask: The file of its mask, if the file of cameras names one; otherwise it is found in
                `masks` next to the folder of images, or is the alpha of the image.
        """
        if (found := self._opened(name, picture, by, mask)) is None:
            return
        path, left, mask, header = found
        try:
            size = size or picture_size(picture)
        except DatasetError as error:
            self._faults.append(error)
            return
        stated = lens(size)  # its errors are about the file of cameras
        try:
            fitted = self._fitted(path, left, header, stated, size)
        except DatasetError as error:
            self._faults.append(error)
            return
        pinhole = pinhole_of(fitted, header.width, header.height)
        if pinhole is None:
            raise DatasetError(
                by,
                f"the camera of {shown(name)} has the distortion {shown(stated.coefficients)}, "
                f"which folds the picture around {shown(stated.intrinsics[2:])}",
                "a distortion that can be undone, and its centre in the picture",
            )
        self._tell(name, header, size, 1 if left == self._downscale else self._downscale)
        if not stated.straight:
            self._angles.append(_angles(pinhole, header.width, header.height))
            self._cropped += pinhole.cropped
        self._keep_mask(name, header, mask)
        view = View(
            name,
            path,
            pose,
            np.array(pinhole.intrinsics) / left,
            header.width // left,
            header.height // left,
            background=self._background,
            downscale=left,
            lens=None if stated.straight else fitted,
            mask_file=mask or (path if header.clear else None),
        )
        if depth is not None:
            view = replace(view, depth=depth[0], depth_unit=depth[1])
        self._views.append(view)

    def add_panorama(
        self, name: str, picture: Path, by: Path, pose: Doubles, mask: Path | None = None
    ) -> None:
        """Add a view for each face of a cube around the place of a panorama; see `add`."""
        if (found := self._opened(name, picture, by, mask)) is None:
            return
        path, left, mask, header = found
        width, height = header.width, header.height
        side = face_side(width) // left
        if width != 2 * height or not side:
            expected = "a panorama of all directions, twice as wide as high"
            self._faults.append(DatasetError(path, f"is {width} x {height}", expected))
            return
        self._tell(name, header, (width, height), 1)
        self._panoramas += 1
        self._keep_mask(name, header, mask)
        for face, axes in FACES.items():
            turn = np.eye(4)
            turn[:3, :3] = axes
            view = View(
                f"{name}/{face}",
                path,
                turn @ pose,
                np.full(4, 0.5 * face_side(width) / left),
                side,
                side,
                background=self._background,
                downscale=left,
                mask_file=mask or (path if header.clear else None),
                face=face,
            )
            self._views.append(view)

    def _opened(
        self, name: str, picture: Path, by: Path, mask: Path | None
    ) -> tuple[Path, int, Path | None, Header] | None:
        """Return file, remaining factor, mask and header of a picture; None if it has a fault."""
        self._pictures.append(picture)
        path, left = self._smaller(picture, by)
        mask = mask or self._mask_of(picture, by)
        if self._lacks(name, path, _IMAGE) or (mask and self._lacks(name, mask, _MASK)):
            return None
        try:
            return path, left, mask, read_header(path)
        except DatasetError as error:
            self._faults.append(error)
            return None

    def _keep_mask(self, name: str, header: Header, mask: Path | None) -> None:
        if mask is not None:
            self._found_masks.append(mask)
        elif not header.clear:
            self._unmasked.append(name)

    def _tell(self, name: str, header: Header, size: Size, expected: int) -> None:
        """Keep what is odd about a picture; its camera states `expected` times its size."""
        across, down = size
        width, height = header.width, header.height
        # Pictures of `images_4` are about a quarter of what their camera states.
        if max(abs(width * expected - across), abs(height * expected - down)) > expected:
            self._resized.append(
                f"{shown(name)[1:-1]} is {width} x {height}, its camera {across} x {down}"
            )
        if header.turned:
            self._turned.append(shown(name)[1:-1])

    def _lacks(self, name: str, path: Path, expected: str) -> bool:
        """Return whether a file of a view is not there, which is a fault or leaves the view out."""
        if os.path.exists(path):
            return False
        self.missing.append(name)
        if not self._skips:
            packed = path.parent.with_suffix(".zip")
            hint = f"unpack {packed.name} first." if os.path.isfile(packed) else _SKIP
            self._faults.append(DatasetError(path, "is not there", expected, hint=hint))
        return True

    def _mask_of(self, picture: Path, by: Path) -> Path | None:
        """Return the mask of a picture in the folder of masks: `a.jpg.png`, or `a` of any kind."""
        if not picture.is_relative_to(self._images) or not self._masks.is_dir():
            return None
        name = picture.relative_to(self._images)
        for one in (f"{name.as_posix()}.png", name.with_suffix("").as_posix()):
            found = self.names.find(self._masks, one, by, "the name of a mask", tell=False)
            if os.path.exists(found) and not found.is_dir():
                return found
        return None

    def _smaller(self, picture: Path, by: Path) -> tuple[Path, int]:
        """Return an existing smaller file of an image, and the remaining factor."""
        images = self._images
        small = images.with_name(f"{images.name}_{self._downscale}")
        if self._downscale > 1 and picture.is_relative_to(images):
            name = picture.relative_to(images)
            if os.path.exists(small / name):
                place = "the name of a smaller picture"
                return self._inside.within(small, str(name), by, place), 1
        return picture, self._downscale

    def _fitted(self, path: Path, downscale: int, header: Header, lens: Lens, size: Size) -> Lens:
        """Return the lens scaled from `size` to an image.

        Raises:
            DatasetError: The image has another aspect ratio than its camera, or is too small.
        """
        width, height = header.width, header.height
        across, down = size
        # The size of a reduced image is rounded to whole pixels on each axis.
        if abs(across * height - down * width) > max(across, down):
            turned = header.turned and abs(across * width - down * height) <= max(across, down)
            raise DatasetError(
                path,
                f"is {width} x {height}",
                f"{across} x {down} pixels, as its camera says, or a multiple of that",
                hint="EXIF says that the pictures are to be turned; turn their pixels."
                if turned
                else None,
            )
        if min(width, height) < downscale:
            raise DatasetError(
                path, f"is {width} x {height}", f"{downscale} pixels along each axis"
            )
        fitted = lens.scaled(width / across, height / down)
        pixels = np.array(fitted.intrinsics) / downscale
        if not (are_numbers(pixels) and (pixels[:2] >= LEAST_FOCAL).all()):
            raise DatasetError(
                path, f"is {width} x {height} for a camera of {across} x {down}", "nearer sizes"
            )
        return fitted

    def finish(self, *, strays: bool) -> tuple[tuple[View, ...], tuple[str, ...]]:
        """Return the views, and remarks about their pictures.

        Args:
            strays: Whether to count pictures without a camera, in the folders of the views.

        Raises:
            DatasetError: Pictures are missing, are not images, or do not fit their cameras.
        """
        check_pictures(self._inside.root, self._faults, len(self._pictures))
        if not self._views:
            raise DatasetError(
                self._inside.root, f"has none of its {pictures(len(self.missing))}", "one at least"
            )
        remarks: list[str] = []
        if self.missing:
            which = _first([shown(name)[1:-1] for name in self.missing], _NAMED)
            remarks.append(
                f"{pictures(len(self.missing))} not there, whose views are left out: {which}"
            )
        if self.names.renamed:
            count = len(self.names.renamed)
            which = _first([shown(name)[1:-1] for name in self.names.renamed])
            remarks.append(f"{pictures(count)} found by another name: {which}")
        if self._found_masks and self._unmasked:
            remarks.append(f"{pictures(len(self._unmasked))} without a mask")
        elif not self._found_masks and self._masks.is_dir():
            remarks.append(
                f"{self._masks.name} has masks for none of the pictures: that of a.jpg is "
                "a.jpg.png or a.png"
            )
        sizes = Counter((view.width, view.height) for view in self._views)
        if len(sizes) > 1:
            (least, few), (most, many) = ((one, sizes[one]) for one in (min(sizes), max(sizes)))
            remarks.append(
                f"pictures have {len(sizes)} sizes, from {least[0]} x {least[1]} ({few} of them) "
                f"to {most[0]} x {most[1]} ({many})"
            )
        if self._resized:
            which = _first(self._resized)
            remarks.append(f"{which}: intrinsics are scaled to the pictures")
        if self._turned:
            which = _first(self._turned)
            remarks.append(f"the orientation in EXIF is not applied: {which}")
        if self._angles:
            remarks.append(self._undistorted())
        if self._panoramas:
            remarks.append(f"{counted(self._panoramas, 'panorama')} as 6 faces of a cube each")
        if strays and (count := self._strays()):
            remarks.append(f"{pictures(count)} without a camera")
        return tuple(self._views), tuple(remarks)

    def _undistorted(self) -> str:
        across, down = zip(*self._angles, strict=True)
        said = f"{pictures(len(across))} undistorted to {_span(across)} x {_span(down)} degrees"
        if self._cropped:
            said += f", {self._cropped} of them cropped to that"
        return said

    def _strays(self) -> int:
        """Return the number of pictures without a camera, in folders where others have one."""
        known = {os.path.realpath(path) for path in (*self._pictures, *self._found_masks)}
        found = 0
        for folder in {path.parent for path in self._pictures}:
            try:
                with os.scandir(folder) as entries:
                    found += sum(
                        entry.name.lower().endswith(ENDINGS)
                        and os.path.realpath(entry.path) not in known
                        for entry in entries
                    )
            except OSError:
                continue
        return found


def pictures(count: int) -> str:
    """Return a number of pictures, in words."""
    return f"{count} picture{'' if count == 1 else 's'}"


def _angles(pinhole: Pinhole, width: int, height: int) -> tuple[float, float]:
    """Return the angles between opposite sides of a picture [degrees]."""
    fx, fy, cx, cy = pinhole.intrinsics
    across = math.atan2(cx, fx) + math.atan2(width - cx, fx)
    down = math.atan2(cy, fy) + math.atan2(height - cy, fy)
    return math.degrees(across), math.degrees(down)


def _span(angles: Sequence[float]) -> str:
    least, most = f"{min(angles):.0f}", f"{max(angles):.0f}"
    return least if least == most else f"{least}-{most}"


def _first(all_: list[str], count: int = 1) -> str:
    more = len(all_) - count
    return ", ".join(all_[:count]) + (f" and {more} more" if more > 0 else "")
