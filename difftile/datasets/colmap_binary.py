"""COLMAP's models as cameras.bin, images.bin and points3D.bin.

Source: colmap.github.io/format.html. What each picture saw of which point is not kept, and not
written.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from difftile.datasets.colmap import MODELS, Camera, Cloud, PosedImage, Reconstruction, by_number
from difftile.diagnostics import DatasetError
from difftile.files.cursor import Cursor
from difftile.files.writing import write_bytes

_NAME_OF = {model.number: name for name, model in MODELS.items()}
_POINT = struct.Struct("<Q3d3BdQ")  # number, position, colour, error, length of its track


def read_binary(folder: Path) -> Reconstruction:
    """Return the model in a folder.

    Raises:
        DatasetError: A file is missing, cut short, or too long.
    """
    return Reconstruction(
        _cameras(folder / "cameras.bin"),
        _images(folder / "images.bin"),
        _cloud(folder / "points3D.bin"),
    )


def write_binary(folder: Path, model: Reconstruction) -> None:
    """Write a model into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    cameras = [
        struct.pack("<iiQQ", one.id, MODELS[one.model].number, one.width, one.height)
        + struct.pack(f"<{len(one.parameters)}d", *one.parameters)
        for one in model.cameras.values()
    ]
    images = [
        struct.pack("<I7dI", one.id, *one.quaternion, *one.translation, one.camera_id)
        + one.name.encode()
        + b"\0"
        + struct.pack("<Q", 0)
        for one in model.images.values()
    ]
    cloud = model.cloud
    points = [
        _POINT.pack(int(number), *position, *map(int, colour), 0.0, 0)
        for number, position, colour in zip(cloud.ids, cloud.positions, cloud.colours, strict=True)
    ]
    files = {"cameras.bin": cameras, "images.bin": images, "points3D.bin": points}
    for name, records in files.items():
        write_bytes(folder / name, struct.pack("<Q", len(records)) + b"".join(records))


def _cameras(path: Path) -> dict[int, Camera]:
    cursor = Cursor(path)
    found: list[Camera] = []
    count = cursor.count(24, "cameras")
    for k in range(count):
        what = f"camera {k + 1} of {count}"
        number, model, width, height = cursor.numbers("iiQQ", what)
        if model not in _NAME_OF:
            raise DatasetError(
                path, f"camera {number} has the unknown model {model}", f"0 to {max(_NAME_OF)}"
            )
        name = _NAME_OF[model]
        parameters = cursor.numbers(f"{MODELS[name].count}d", what)
        found.append(Camera(number, name, width, height, parameters))
    cursor.end()
    return by_number(path, found)


def _images(path: Path) -> dict[int, PosedImage]:
    cursor = Cursor(path)
    found: list[PosedImage] = []
    count = cursor.count(73, "images")
    for k in range(count):
        what = f"image {k + 1} of {count}"
        number, *pose, camera = cursor.numbers("I7dI", what)
        name = cursor.text(f"the name of {what}")
        seen = cursor.count(24, f"points in {what}")
        cursor.take(24 * seen, what)
        w, x, y, z, *translation = pose
        found.append(PosedImage(number, (w, x, y, z), (*translation,), camera, name))
    cursor.end()
    return by_number(path, found)


def _cloud(path: Path) -> Cloud:
    cursor = Cursor(path)
    count = cursor.count(_POINT.size, "points")
    ids = np.empty(count, np.uint64)
    positions = np.empty((count, 3))
    colours = np.empty((count, 3), np.uint8)
    for k in range(count):
        what = f"point {k + 1} of {count}"
        number, x, y, z, r, g, b, _, track = _POINT.unpack(cursor.take(_POINT.size, what))
        cursor.take(8 * track, f"the track of {what}")
        ids[k], positions[k], colours[k] = number, (x, y, z), (r, g, b)
    cursor.end()
    return Cloud(ids, positions, colours)
