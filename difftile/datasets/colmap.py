"""COLMAP's models: cameras, images and points, and their conversion.

Source: colmap.github.io/format.html and cameras.html.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from difftile.datasets.dataset import LEAST_FOCAL, Doubles, are_numbers, is_size
from difftile.datasets.lenses import Lens
from difftile.diagnostics import DatasetError
from difftile.files.regular import shown


@dataclass(frozen=True, slots=True)
class CameraModel:
    """A camera model.

    Args:
        number: Its number in binary files.
        focal: The number of focal lengths, 1 or 2; two coordinates of the centre follow.
        coefficients: The number of coefficients of distortion after these.
        kind: The name of the distortion in `lenses.DISTORTIONS`, whose coefficients these are.
    """

    number: int
    focal: int
    coefficients: int
    kind: str = "brown"

    @property
    def count(self) -> int:
        """The number of parameters."""
        return self.focal + 2 + self.coefficients


MODELS = {
    "SIMPLE_PINHOLE": CameraModel(0, 1, 0),
    "PINHOLE": CameraModel(1, 2, 0),
    "SIMPLE_RADIAL": CameraModel(2, 1, 1),
    "RADIAL": CameraModel(3, 1, 2),
    "OPENCV": CameraModel(4, 2, 4),
    "OPENCV_FISHEYE": CameraModel(5, 2, 4, "fisheye"),
    "FULL_OPENCV": CameraModel(6, 2, 8),
    "FOV": CameraModel(7, 2, 1, "fov"),
    "SIMPLE_RADIAL_FISHEYE": CameraModel(8, 1, 1, "fisheye"),
    "RADIAL_FISHEYE": CameraModel(9, 1, 2, "fisheye"),
    "THIN_PRISM_FISHEYE": CameraModel(10, 2, 8, "thin_prism"),
    "RAD_TAN_THIN_PRISM_FISHEYE": CameraModel(11, 2, 12, "rad_tan_thin_prism"),
    "SIMPLE_DIVISION": CameraModel(12, 1, 1, "division"),
    "DIVISION": CameraModel(13, 2, 1, "division"),
    "SIMPLE_FISHEYE": CameraModel(14, 1, 0, "fisheye"),
    "FISHEYE": CameraModel(15, 2, 0, "fisheye"),
    "EUCM": CameraModel(16, 2, 2, "eucm"),
}
UNDISTORT = "undistort the pictures with 'colmap image_undistorter', if it knows the model."
_NARROWEST = 1e-6  # angle of FOV; below, the lens is a pinhole in double precision [radians]
_Numbered = TypeVar("_Numbered", "Camera", "PosedImage")


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera: its model, the size of its images [pixels], its parameters."""

    id: int
    model: str
    width: int
    height: int
    parameters: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PosedImage:
    """An image and the pose of its camera.

    Args:
        id: Its number.
        quaternion: The rotation from world to camera, wxyz.
        translation: The translation from world to camera [scene units].
        camera_id: The number of its camera.
        name: Its path relative to the folder of images.
    """

    id: int
    quaternion: tuple[float, float, float, float]
    translation: tuple[float, float, float]
    camera_id: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """The points of a model.

    Args:
        ids: Their numbers, shape (n,).
        positions: [scene units], shape (n, 3).
        colours: 0 ... 255, shape (n, 3).
    """

    ids: npt.NDArray[np.uint64]
    positions: Doubles
    colours: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Reconstruction:
    """A reconstruction: cameras and images by number, and points if their file is there."""

    cameras: dict[int, Camera]
    images: dict[int, PosedImage]
    cloud: Cloud | None


def is_absent(points: Path) -> bool:
    """Return whether a file of points is missing or has no bytes."""
    try:
        return not os.path.lexists(points) or (points.is_file() and not points.stat().st_size)
    except OSError:  # reading it says why
        return False


def by_number(path: Path, records: Sequence[_Numbered]) -> dict[int, _Numbered]:
    """Return the records of a file by their numbers.

    Raises:
        DatasetError: Two records have the same number.
    """
    found: dict[int, _Numbered] = {}
    for record in records:
        if found.setdefault(record.id, record) is not record:
            raise DatasetError(
                path, f"has the number {record.id} twice", "a number for each record"
            )
    return found


def lens_of(camera: Camera, path: Path) -> Lens:
    """Return the lens of a camera.

    Args:
        camera: The camera.
        path: Its file, for errors.

    Raises:
        DatasetError: The model is unknown, or its numbers are invalid.
    """
    name = f"camera {camera.id}"
    model = MODELS.get(camera.model)
    if model is None:
        raise DatasetError(
            path,
            f"{name} has the unknown model {shown(camera.model)[1:-1]}",
            f"one of {', '.join(MODELS)}",
            hint=UNDISTORT,
        )
    if len(camera.parameters) != model.count:
        raise DatasetError(
            path,
            f"{name} has {len(camera.parameters)} parameters",
            f"the {model.count} of {camera.model}",
        )
    values = np.array(camera.parameters, np.float64)
    focal = np.resize(values[: model.focal], 2)
    size = camera.width, camera.height
    if not (are_numbers(values) and (focal >= LEAST_FOCAL).all() and is_size(*size)):
        raise DatasetError(
            path,
            f"{name} is {size[0]} x {size[1]} with the parameters {shown(camera.parameters)}",
            "finite numbers and a focal length above 0",
        )
    cx, cy, *coefficients = values[model.focal :].tolist()
    if model.kind == "fov" and not 0 <= coefficients[0] < math.pi:
        raise DatasetError(
            path, f"{name} has the angle {coefficients[0]}", "an angle from 0 to less than pi"
        )
    if model.kind == "fov" and coefficients[0] < _NARROWEST:
        coefficients = []
    return Lens((float(focal[0]), float(focal[1]), cx, cy), model.kind, (*coefficients,))


def pose_of(image: PosedImage, path: Path) -> Doubles:
    """Return the matrix from world to camera, shape (4, 4).

    Raises:
        DatasetError: The quaternion has no length, or a number is not finite.
    """
    quaternion = np.array(image.quaternion, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # refused as infinite
        length = float(np.linalg.norm(quaternion))
    if not (np.isfinite(length) and length > 0 and are_numbers(np.array(image.translation))):
        raise DatasetError(
            path,
            f"the pose of image {image.id} ({shown(image.name)}) is {image.quaternion}, "
            f"{image.translation}",
            "a quaternion that is not zero, and finite numbers",
        )
    pose = np.eye(4)
    pose[:3, :3] = rotation_of(quaternion / length)
    pose[:3, 3] = image.translation
    return pose


def rotation_of(quaternion: Doubles) -> Doubles:
    """Return the rotation matrix of a unit quaternion wxyz, shape (3, 3)."""
    w, *vector = quaternion
    x, y, z = vector
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross
