"""Cameras as JSON: nerfstudio's transforms.json and Blender's transforms_train.json.

Poses go from camera to world, in OpenGL axes (y up, z backward). A frame may have a camera of its
own; what it does not say is said for all frames together.

Source: docs.nerf.studio (Data conventions), and the synthetic scenes of NeRF (Mildenhall et al.
2020), which say `camera_angle_x` alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from difftile.datasets.colmap import UNDISTORT
from difftile.datasets.cursor import file_text
from difftile.datasets.pictures import picture_size
from difftile.datasets.ply import read_ply
from difftile.datasets.views import Colour, Dataset, Doubles, Points, View, sized_view, smaller
from difftile.diagnostics import DatasetError

_Values: TypeAlias = Mapping[str, Any]

_PINHOLES = ("OPENCV", "PINHOLE", "SIMPLE_PINHOLE", "PERSPECTIVE")
_DISTORTION = ("k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2")
_SUFFIXES = (".png", ".jpg", ".jpeg")  # of names that have none, as Blender's
_ROTATION = 1e-4  # how far a rotation may be from one, which files round


def load_transforms(path: Path, *, downscale: int, background: Colour) -> Dataset:
    """Return the data set of one file of cameras.

    Raises:
        DatasetError: The file is broken, a camera is no pinhole, or a picture is missing.
    """
    content = _parsed(path)
    frames = _frames(path, content)
    views = _views(path, content, frames, downscale, background)
    if "test_filenames" in content:
        held = _test_names(path, content["test_filenames"], {view.name for view in views})
        views = tuple(replace(view, held_out=view.name in held) for view in views)
    masks = any("mask_path" in frame for frame in frames)
    return Dataset(
        path.parent,
        views,
        _points(path, content),
        f"{path.name}, {len(views)} views",
        ("masks are not used",) if masks else (),
    )


def load_blender(folder: Path, *, downscale: int, background: Colour) -> Dataset:
    """Return the data set of transforms_train.json, and of transforms_test.json if it is there.

    Raises:
        DatasetError: A file is broken, a camera is no pinhole, or a picture is missing.
    """
    parts: dict[str, tuple[View, ...]] = {}
    for name in ("transforms_train.json", "transforms_test.json"):
        path = folder / name
        if not parts or path.exists():
            content = _parsed(path)
            parts[name] = _views(path, content, _frames(path, content), downscale, background)
    train, test = parts["transforms_train.json"], parts.get("transforms_test.json", ())
    if test:
        train = tuple(replace(view, held_out=False) for view in train)
        test = tuple(replace(view, held_out=True) for view in test)
    found = ", ".join(f"{name} with {len(views)} views" for name, views in parts.items())
    return Dataset(folder, (*train, *test), None, found)


def _parsed(path: Path) -> _Values:
    try:
        content = json.loads(file_text(path))
    except json.JSONDecodeError as error:
        raise DatasetError(
            path, f"line {error.lineno} is not JSON ({error.msg})", "a file of cameras"
        ) from None
    if not isinstance(content, dict):
        raise DatasetError(path, "is JSON without names", "an object with 'frames'")
    return cast("_Values", content)


def _frames(path: Path, content: _Values) -> list[_Values]:
    frames = content.get("frames")
    if not isinstance(frames, list) or not frames:
        raise DatasetError(path, "has no 'frames'", "a list of pictures with their poses")
    rows = cast("list[Any]", frames)
    for k, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(cast("_Values", row).get("file_path"), str):
            raise DatasetError(path, f"frame {k} has no 'file_path'", "the name of a picture")
    return cast("list[_Values]", rows)


def _test_names(path: Path, names: Any, known: set[str]) -> set[str]:
    """Return the names of the views that are held out."""
    if not isinstance(names, list):
        raise DatasetError(path, f"'test_filenames' is {names!r}", "a list of names")
    for name in cast("list[Any]", names):
        if name not in known:
            raise DatasetError(
                path, f"'test_filenames' has {name!r}", "a 'file_path' of one of the frames"
            )
    return set(cast("list[str]", names))


def _views(
    path: Path, content: _Values, frames: list[_Values], downscale: int, background: Colour
) -> tuple[View, ...]:
    views: list[View] = []
    for k, frame in enumerate(frames):
        name = str(frame["file_path"])
        what = f"frame {k} ('{name}')"
        values = {**content, **frame}
        _check_pinhole(path, what, values)
        original = _picture(path.parent, name)
        size = _size(path, what, values) or picture_size(original)
        picture, left = smaller(original, path.parent / "images", downscale)
        views.append(
            sized_view(
                name,
                picture,
                _pose(path, what, frame.get("transform_matrix")),
                _intrinsics(path, what, values, size),
                size,
                background=background,
                downscale=left,
            )
        )
    return tuple(sorted(views, key=lambda view: view.name))


def _picture(folder: Path, name: str) -> Path:
    """Return the file of a name, which may leave out what kind of file it is."""
    path = folder / name
    if not path.exists():
        for suffix in _SUFFIXES:
            if (longer := path.with_name(path.name + suffix)).exists():
                return longer
    return path


def _check_pinhole(path: Path, what: str, values: _Values) -> None:
    model = values.get("camera_model", _PINHOLES[0])
    bent = [key for key in _DISTORTION if _number(path, what, values, key)]
    if model in _PINHOLES and not bent and not values.get("is_fisheye"):
        return
    how = f"the model {model}" if not bent else f"{', '.join(bent)} not 0"
    raise DatasetError(path, f"{what} is distorted, with {how}", "a pinhole", hint=UNDISTORT)


def _number(path: Path, what: str, values: _Values, key: str) -> float | None:
    """Return a number, or None where there is none.

    Raises:
        DatasetError: Something else is there.
    """
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise DatasetError(path, f"'{key}' of {what} is {value!r}", "a finite number")
    return float(value)


def _size(path: Path, what: str, values: _Values) -> tuple[int, int] | None:
    width, height = (_number(path, what, values, key) for key in ("w", "h"))
    if width is None or height is None:
        return None
    if min(width, height) < 1:
        raise DatasetError(path, f"{what} is {width} x {height}", "a size above 0")
    return int(width), int(height)


def _intrinsics(path: Path, what: str, values: _Values, size: tuple[int, int]) -> Doubles:
    def number(key: str) -> float | None:
        return _number(path, what, values, key)

    def focal(key: str, angle_key: str, pixels: int) -> float | None:
        if (length := number(key)) is not None:
            return length
        angle = number(angle_key)
        return None if angle is None else 0.5 * pixels / math.tan(0.5 * angle)

    fx = focal("fl_x", "camera_angle_x", size[0])
    fy = focal("fl_y", "camera_angle_y", size[1])
    fx, fy = (fy if fx is None else fx), (fx if fy is None else fy)
    if fx is None or fy is None:
        raise DatasetError(path, f"{what} has no focal length", "'fl_x' or 'camera_angle_x'")
    if not (fx > 0 and fy > 0):
        raise DatasetError(path, f"{what} has the focal lengths {fx}, {fy}", "numbers above 0")
    cx, cy = number("cx"), number("cy")
    return np.array([fx, fy, size[0] / 2 if cx is None else cx, size[1] / 2 if cy is None else cy])


def _pose(path: Path, what: str, matrix: Any) -> Doubles:
    """Return the matrix from world to camera in OpenCV axes, shape (4, 4)."""
    try:
        given = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape not in ((4, 4), (3, 4)) or not np.isfinite(given).all():
        raise DatasetError(
            path, f"'transform_matrix' of {what} is {matrix!r}", "4 rows of 4 finite numbers"
        )
    rotation = given[:3, :3] * np.array([1.0, -1.0, -1.0])
    away = float(np.abs(rotation.T @ rotation - np.eye(3)).max())
    if away > _ROTATION or np.linalg.det(rotation) < 0:
        raise DatasetError(
            path, f"'transform_matrix' of {what} does not rotate: {matrix!r}", "a rotation"
        )
    pose = np.eye(4)
    pose[:3, :3] = rotation.T
    pose[:3, 3] = -rotation.T @ given[:3, 3]
    return pose


def _points(path: Path, content: _Values) -> Points | None:
    name = content.get("ply_file_path")
    if not isinstance(name, str):
        return None
    file = path.parent / name
    vertex = read_ply(file).get("vertex")
    names = () if vertex is None else vertex.dtype.names or ()
    wanted = ("x", "y", "z", "red", "green", "blue")
    if vertex is None or not {*wanted} <= {*names}:
        raise DatasetError(file, f"has the properties {', '.join(names)}", ", ".join(wanted))
    columns = np.stack([np.asarray(vertex[key], np.float64) for key in wanted], axis=1)
    return Points(columns[:, :3], np.asarray(columns[:, 3:] / 255, np.float32))
