"""Models of COLMAP and images as files, to be read back."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from difftile.datasets.colmap import MODELS, Reconstruction
from difftile.datasets.dataset import Doubles


def write_binary(folder: Path, model: Reconstruction) -> None:
    """Write a model into a folder, which is created if needed."""
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
    points = [
        struct.pack("<Q3d3BdQ", number, *position, *colour, 0.0, 0)
        for number, position, colour in _rows(model)
    ]
    files = {"cameras.bin": cameras, "images.bin": images, "points3D.bin": points}
    for name, records in files.items():
        (folder / name).write_bytes(struct.pack("<Q", len(records)) + b"".join(records))


def write_text(folder: Path, model: Reconstruction) -> None:
    """Write a model into a folder, which is created if needed. Numbers keep all their digits."""
    folder.mkdir(parents=True, exist_ok=True)
    cameras = [
        _line(one.id, one.model, one.width, one.height, *one.parameters)
        for one in model.cameras.values()
    ]
    images = [
        _line(one.id, *one.quaternion, *one.translation, one.camera_id, one.name) + "\n"
        for one in model.images.values()
    ]
    points = [_line(number, *position, *colour, 0.0) for number, position, colour in _rows(model)]
    files = {"cameras.txt": cameras, "images.txt": images, "points3D.txt": points}
    for name, lines in files.items():
        (folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode())


def _rows(model: Reconstruction) -> list[tuple[int, list[float], list[int]]]:
    """Return number, position and colour of each point."""
    cloud = model.cloud
    assert cloud is not None
    columns = cloud.ids.tolist(), cloud.positions.tolist(), cloud.colours.tolist()
    return list(zip(*columns, strict=True))


def _line(*values: object) -> str:
    return " ".join(str(value) for value in values)


def quaternion_of(rotation: Doubles) -> tuple[float, float, float, float]:
    """Return the unit quaternion wxyz of a rotation matrix, with w >= 0.

    The eigenvector of the largest eigenvalue of a symmetric matrix, stable for every rotation.
    Source: Bar-Itzhack, New Method for Extracting the Quaternion from a Rotation Matrix, 2000.
    """
    trace = np.trace(rotation)
    skew = np.array(
        [
            rotation[2, 1] - rotation[1, 2],
            rotation[0, 2] - rotation[2, 0],
            rotation[1, 0] - rotation[0, 1],
        ]
    )
    matrix = np.empty((4, 4))
    matrix[0, 0] = trace
    matrix[0, 1:] = matrix[1:, 0] = skew
    matrix[1:, 1:] = rotation + rotation.T - trace * np.eye(3)
    _, vectors = np.linalg.eigh(matrix)
    w, x, y, z = vectors[:, -1] * (1.0 if vectors[0, -1] >= 0 else -1.0)
    return float(w), float(x), float(y), float(z)


def write_picture(path: Path, colours: npt.NDArray[Any]) -> None:
    """Write colours 0 ... 1, shape (H, W), (H, W, 3) or (H, W, 4), with 8 bits a channel."""
    Image.fromarray(np.rint(np.clip(colours, 0.0, 1.0) * 255.0).astype(np.uint8)).save(path)
