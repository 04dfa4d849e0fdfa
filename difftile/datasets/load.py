"""A folder of pictures and cameras, whatever program wrote it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

import numpy as np

from difftile.datasets.colmap import Reconstruction, intrinsics_of, pose_of
from difftile.datasets.colmap_binary import read_binary
from difftile.datasets.colmap_text import read_text
from difftile.datasets.transforms import load_blender, load_transforms
from difftile.datasets.views import Colour, Dataset, Points, View, sized_view, smaller
from difftile.diagnostics import DatasetError

PathLike: TypeAlias = "str | os.PathLike[str]"

_MODELS = ("sparse/0", "sparse", "colmap/sparse/0")
_READERS = {"cameras.bin": read_binary, "cameras.txt": read_text}


def load(
    folder: PathLike,
    *,
    downscale: int = 1,
    images: str = "images",
    background: Colour = (0.0, 0.0, 0.0),
) -> Dataset:
    """Return the data set in a folder: of COLMAP, nerfstudio, or Blender.

    The first that is there is read: a COLMAP model in `sparse/0`, `sparse` or `colmap/sparse/0`
    (`.bin` or `.txt`), `transforms.json`, `transforms_train.json`. Pictures are found and
    measured now, and read by `View.image`.

    Args:
        folder: The folder, or a `.json` of cameras.
        downscale: How many pixels of a file are one of the view, along each axis. Pictures in
            `images_2`, `images_4` and so on are taken where they are there.
        images: The folder of pictures of a COLMAP model.
        background: What shows where pictures are transparent.

    Raises:
        DatasetError: None of them is there, a file is broken, a camera is distorted, or a picture
            is missing.
    """
    root = Path(folder)
    if downscale < 1:
        raise ValueError(f"load() scales down by a whole number from 1, not {downscale}.")
    if root.suffix == ".json" and root.is_file():
        return load_transforms(root, downscale=downscale, background=background)
    if not root.is_dir():
        raise DatasetError(root, "is not there", "a folder of pictures and cameras")
    for name in _MODELS:
        for file, reader in _READERS.items():
            if (root / name / file).exists():
                model = reader(root / name)
                return _of_model(root, f"{name}/{file}", model, images, downscale, background)
    if (root / "transforms.json").exists():
        return load_transforms(root / "transforms.json", downscale=downscale, background=background)
    if (root / "transforms_train.json").exists():
        return load_blender(root, downscale=downscale, background=background)
    raise DatasetError(
        root,
        "holds no cameras",
        "a COLMAP model in sparse/0, or transforms.json, or transforms_train.json",
    )


def _of_model(
    root: Path, name: str, model: Reconstruction, images: str, downscale: int, background: Colour
) -> Dataset:
    cameras, pictures = root / name, (root / name).with_name("images" + Path(name).suffix)
    intrinsics = {k: intrinsics_of(camera, cameras) for k, camera in model.cameras.items()}
    views: list[View] = []
    for image in sorted(model.images.values(), key=lambda image: image.name):
        if image.camera_id not in intrinsics:
            raise DatasetError(
                pictures,
                f"image {image.id} ('{image.name}') has the camera {image.camera_id}",
                f"one of {', '.join(map(str, intrinsics))}",
            )
        camera = model.cameras[image.camera_id]
        picture, left = smaller(root / images / image.name, root / images, downscale)
        view = sized_view(
            image.name,
            picture,
            pose_of(image, pictures),
            intrinsics[image.camera_id],
            (camera.width, camera.height),
            background=background,
            downscale=left,
        )
        views.append(view)
    if not views:
        raise DatasetError(pictures, "has no images", "one at least")
    cloud = model.cloud
    finite = np.isfinite(cloud.positions).all(axis=1)
    points = Points(cloud.positions[finite], np.asarray(cloud.colours[finite] / 255, np.float32))
    dropped = int(np.count_nonzero(~finite))
    found = f"COLMAP's {name}, {len(views)} views, {len(points)} points"
    notes = (f"{dropped} points that are not finite were dropped",) if dropped else ()
    return Dataset(root, tuple(views), points if len(points) else None, found, notes)
