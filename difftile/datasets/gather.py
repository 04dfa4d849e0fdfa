"""Views of a data set: cameras fitted to the pictures that are found, with remarks about them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, final

import numpy as np

from difftile.datasets.dataset import LEAST_FOCAL, Colour, Doubles, View, are_numbers
from difftile.datasets.faults import check_pictures
from difftile.datasets.images import Header, picture_size, read_header
from difftile.diagnostics import DatasetError
from difftile.files.inside import Folder

Size: TypeAlias = tuple[int, int]
_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp")


@final
class Gathering:
    """The views of one file of cameras.

    Faulty pictures are reported together by `finish`.

    Args:
        inside: The folder of the data set.
        images: The folder of images; images of half the size are in `images_2` next to `images`.
        downscale: The number of pixels of an image per pixel of a view, along each axis.
        background: The colour of transparent pixels.
    """

    def __init__(self, inside: Folder, images: Path, downscale: int, background: Colour) -> None:
        self._inside, self._images = inside, images
        self._downscale, self._background = downscale, background
        self._faults: list[DatasetError] = []
        self._views: list[View] = []
        self._pictures: list[Path] = []
        self._resized: list[str] = []
        self._turned: list[str] = []

    def add(
        self,
        name: str,
        picture: Path,
        by: Path,
        pose: Doubles,
        intrinsics: Callable[[Size], Doubles],
        size: Size | None,
    ) -> None:
        """Add a view.

        Args:
            name: Its name in the data set.
            picture: The file of the full image.
            by: The file that names the image, for errors.
            pose: From world to camera, shape (4, 4).
            intrinsics: Returns fx, fy, cx, cy [pixels] for images of a size.
            size: Width and height as the camera states them; None for those of the image.
        """
        self._pictures.append(picture)
        path, left = self._smaller(picture, by)
        try:
            header = read_header(path)
            size = size or picture_size(picture)
        except DatasetError as error:
            self._faults.append(error)
            return
        lens = intrinsics(size)  # whose errors are those of the file of cameras
        try:
            self._views.append(self._view(name, path, left, header, pose, lens, size))
        except DatasetError as error:
            self._faults.append(error)

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

    def _view(
        self,
        name: str,
        path: Path,
        downscale: int,
        header: Header,
        pose: Doubles,
        intrinsics: Doubles,
        size: Size,
    ) -> View:
        """Return a view with intrinsics scaled from `size` to its image.

        Raises:
            DatasetError: The image has another aspect ratio than its camera.
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
        shape = width // downscale, height // downscale
        if not all(shape):
            raise DatasetError(
                path, f"is {width} x {height}", f"{downscale} pixels along each axis"
            )
        lens = intrinsics * np.tile([width / across, height / down], 2) / downscale
        if not (are_numbers(lens) and (lens[:2] >= LEAST_FOCAL).all()):
            raise DatasetError(
                path, f"is {width} x {height} for a camera of {across} x {down}", "nearer sizes"
            )
        # Pictures of `images_4` are about a quarter of what their camera states.
        expected = 1 if downscale == self._downscale else self._downscale
        if max(abs(width * expected - across), abs(height * expected - down)) > expected:
            self._resized.append(f"{name} is {width} x {height}, its camera {across} x {down}")
        if header.turned:
            self._turned.append(name)
        return View(
            name,
            path,
            pose,
            lens,
            *shape,
            background=self._background,
            downscale=downscale,
        )

    def finish(self, *, strays: bool) -> tuple[tuple[View, ...], tuple[str, ...]]:
        """Return the views, and remarks about their pictures.

        Args:
            strays: Whether to count pictures without a camera, next to those of the views.

        Raises:
            DatasetError: Pictures are missing, are not images, or do not fit their cameras.
        """
        check_pictures(self._inside.root, self._faults, len(self._pictures))
        remarks: list[str] = []
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
        if strays and (count := self._strays()):
            remarks.append(f"{pictures(count)} without a camera")
        return tuple(self._views), tuple(remarks)

    def _strays(self) -> int:
        """Return the number of pictures without a camera, in folders where others have one."""
        known = {os.path.realpath(path) for path in self._pictures}
        found = 0
        for folder in {path.parent for path in self._pictures}:
            try:
                with os.scandir(folder) as entries:
                    found += sum(
                        entry.name.lower().endswith(_ENDINGS)
                        and os.path.realpath(entry.path) not in known
                        for entry in entries
                    )
            except OSError:
                continue
        return found


def pictures(count: int) -> str:
    """Return a number of pictures, in words."""
    return f"{count} picture{'' if count == 1 else 's'}"


def _first(all_: list[str]) -> str:
    more = len(all_) - 1
    return all_[0] + (f" and {more} more" if more else "")
