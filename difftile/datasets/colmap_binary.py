"""COLMAP's models as cameras.bin, images.bin and points3D.bin.

Source: colmap.github.io/format.html. Observations of points in images are not kept.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from difftile.datasets.colmap import (
    MODELS,
    UNDISTORT,
    Camera,
    Cloud,
    PosedImage,
    Reconstruction,
    by_number,
    is_absent,
)
from difftile.diagnostics import DatasetError
from difftile.files.cursor import Cursor

_Record = TypeVar("_Record", Camera, PosedImage)
_NAME_OF = {model.number: name for name, model in MODELS.items()}
_LEAST_IMAGE = 73  # bytes of an image without a name and points
_POINT = struct.Struct("<Q3d3BdQ")  # number, position, colour, error, length of its track


def read_binary(folder: Path) -> Reconstruction:
    """Return the model in a folder.

    Raises:
        DatasetError: A file is missing (except points3D.bin), cut short, or too long.
    """
    cameras = _records(folder / "cameras.bin", 24, "camera", _camera)
    images = _records(folder / "images.bin", _LEAST_IMAGE, "image", _image)
    return Reconstruction(cameras, images, _points(folder / "points3D.bin"))


def count_binary(folder: Path) -> int:
    """Return the number of images of the model in a folder."""
    return Cursor(folder / "images.bin").count(_LEAST_IMAGE, "images")


def _points(path: Path) -> Cloud | None:
    if is_absent(path):
        return None
    cursor = Cursor(path)
    count = cursor.count(_POINT.size, "points")
    cloud = Cloud(np.empty(count, np.uint64), np.empty((count, 3)), np.empty((count, 3), np.uint8))
    for k in range(count):
        name = f"point {k + 1} of {count}"
        number, x, y, z, r, g, b, _, track = _POINT.unpack(cursor.take(_POINT.size, name))
        cursor.take(8 * track, f"the track of {name}")
        cloud.ids[k], cloud.positions[k], cloud.colours[k] = number, (x, y, z), (r, g, b)
    cursor.end()
    return cloud


def _records(
    path: Path, least: int, name: str, read: Callable[[Cursor, str], _Record]
) -> dict[int, _Record]:
    """Return the records of a file by number, of at least `least` bytes each."""
    cursor = Cursor(path)
    count = cursor.count(least, f"{name}s")
    found = [read(cursor, f"{name} {k + 1} of {count}") for k in range(count)]
    cursor.end()
    return by_number(path, found)


def _camera(cursor: Cursor, name: str) -> Camera:
    number, model, width, height = cursor.numbers("iiQQ", name)
    if model not in _NAME_OF:
        found = f"camera {number} has the unknown model {model}"
        raise DatasetError(cursor.path, found, f"0 to {max(_NAME_OF)}", hint=UNDISTORT)
    parameters = cursor.numbers(f"{MODELS[_NAME_OF[model]].count}d", name)
    return Camera(number, _NAME_OF[model], width, height, parameters)


def _image(cursor: Cursor, name: str) -> PosedImage:
    number, w, x, y, z, *translation, camera = cursor.numbers("I7dI", name)
    file = cursor.text(f"the name of {name}")
    seen = cursor.count(24, f"points in {name}")
    cursor.take(24 * seen, name)
    return PosedImage(number, (w, x, y, z), (*translation,), camera, file)
