"""Loading of a folder of images and cameras, in any of the known formats."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from difftile.datasets.colmap import Cloud, Reconstruction, lens_of, pose_of
from difftile.datasets.dataset import Colour, Dataset, Points
from difftile.datasets.gather import MISSING, Gathering, Reading
from difftile.datasets.models import find_model
from difftile.datasets.transforms import load_blender, load_transforms
from difftile.diagnostics import DatasetError
from difftile.files.inside import Folder
from difftile.files.regular import opened, shown
from difftile.tracebacks import boundary

PathLike: TypeAlias = "str | os.PathLike[str]"

_FOLDER = "a folder of pictures and cameras"


@boundary
def load(
    folder: PathLike,
    *,
    downscale: int = 1,
    images: str = "images",
    background: Colour = (0.0, 0.0, 0.0),
    allow_outside: bool = False,
    missing: str = "error",
    model: str | None = None,
) -> Dataset:
    """Return the data set in a folder: of COLMAP, nerfstudio, or Blender.

    The first existing one is read: a COLMAP model (`.bin` or `.txt`), the largest of those in
    `sparse/0`, `sparse/1` and so on, or else in `sparse`, the same in `colmap`, or in the folder
    itself; `transforms.json`, `transforms_train.json`. Loading finds and measures the images;
    `View.image` reads them, and undistorts them if the lens is distorted.

    Args:
        folder: The folder, or a `.json` of cameras.
        downscale: The number of pixels of a file per pixel of the view, along each axis. Smaller
            images in `images_2`, `images_4` and so on are used if they exist.
        images: The folder of images of a COLMAP model.
        background: The colour of transparent pixels.
        allow_outside: Whether names and links in the folder may lead to files outside of it.
        missing: What to do about views whose images or masks are not there: "error" refuses the
            data set, "skip" leaves them out; `Dataset.missing` lists them.
        model: The model of COLMAP to read, as `"1"` or `"sparse/1"`, if not the largest.

    Raises:
        DatasetError: There are no cameras, a file is broken, a camera has an unknown model, or an
            image is missing or outside of the folder.
    """
    root = Path(folder)
    if downscale < 1:
        raise ValueError(f"load(downscale=...) is a whole number from 1, not {downscale}.")
    if missing not in MISSING:
        raise ValueError(f"load(missing=...) is one of {', '.join(MISSING)}, not {missing!r}.")
    reading = Reading(downscale, background, missing)
    if root.suffix == ".json" and root.is_file():
        inside = Folder(root.parent, allow_outside, (root,))
        return load_transforms(inside, root, reading)
    if not root.is_dir():
        if root.is_file():
            opened(root, _FOLDER).close()  # says what else it is
            raise DatasetError(root, "is a file", _FOLDER)
        raise DatasetError(root, "is not there", _FOLDER)
    # A folder of images that the caller names may be anywhere; a link in the data set may not.
    is_below = not (os.path.isabs(images) or os.path.normpath(images).startswith(".."))
    named = () if is_below else (root / images,)
    inside = Folder(root, allow_outside, named)
    if (found := find_model(inside, model)) is not None:
        data = _of_model(inside, f"{found.name}/{found.file}", found.read(inside), images, reading)
        return replace(data, notes=(*data.notes, *found.notes))
    for name, loader in (
        ("transforms.json", load_transforms),
        ("transforms_train.json", load_blender),
    ):
        if os.path.exists(root / name):
            return loader(inside, root / name, reading)
    packed = sorted(path.name for path in root.glob("*.zip"))
    raise DatasetError(
        root,
        "holds no cameras",
        "a COLMAP model in sparse/0, or transforms.json, or transforms_train.json",
        hint=f"unpack {shown(packed[0])[1:-1]} first." if packed else None,
    )


def _of_model(
    inside: Folder,
    name: str,
    model: Reconstruction,
    images: str,
    reading: Reading,
) -> Dataset:
    root = inside.root
    cameras, pictures = root / name, (root / name).with_name("images" + Path(name).suffix)
    lenses = {k: lens_of(camera, cameras) for k, camera in model.cameras.items()}
    gathered = Gathering(inside, root / images, reading)
    for image in sorted(model.images.values(), key=lambda image: image.name):
        if image.camera_id not in lenses:
            raise DatasetError(
                pictures,
                f"image {image.id} ({shown(image.name)}) has the camera {image.camera_id}",
                f"one of {shown([*lenses])[1:-1]}",
            )
        camera = model.cameras[image.camera_id]
        place = f"the name of image {image.id}"
        gathered.add(
            image.name,
            gathered.names.find(root / images, image.name, pictures, place),
            pictures,
            pose_of(image, pictures),
            lambda _, k=image.camera_id: lenses[k],
            (camera.width, camera.height),
        )
    if not model.images:
        raise DatasetError(pictures, "has no images", "one at least")
    views, remarks = gathered.finish(strays=True)
    points, notes = _points_of(model.cloud, cameras)
    count = 0 if points is None else len(points)
    found = f"COLMAP's {name}, {len(views)} views, {count} points"
    return Dataset(root, views, points, found, (*notes, *remarks), (*gathered.missing,))


def _points_of(cloud: Cloud | None, cameras: Path) -> tuple[Points | None, tuple[str, ...]]:
    """Return the points, and notes about them."""
    file = f"points3D{cameras.suffix}"
    if cloud is None:
        return None, (f"there is no {file}, or it is empty",)
    if not len(cloud.positions):
        return None, (f"{file} has no points",)
    return Points(cloud.positions, np.asarray(cloud.colours / 255, np.float32)).kept()
