"""Cameras as JSON: nerfstudio's transforms.json and Blender's transforms_train.json.

Poses go from camera to world, in OpenGL axes (y up, z backward). A frame may have a camera of its
own; missing values come from the whole file.

Source: docs.nerf.studio (Data conventions), and the synthetic scenes of NeRF (Mildenhall et al.
2020), which have only `camera_angle_x`.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from difftile.datasets.dataset import (
    LARGEST,
    LEAST_FOCAL,
    Dataset,
    Doubles,
    Points,
    View,
    are_numbers,
    is_size,
)
from difftile.datasets.gather import Gathering, Reading
from difftile.datasets.lenses import Lens
from difftile.datasets.ply import read_ply
from difftile.diagnostics import DatasetError
from difftile.files.inside import Folder
from difftile.files.json_values import Value, read_json
from difftile.files.regular import shown

# Models of cameras, with the kind of their distortion.
_KINDS = {
    **dict.fromkeys(("OPENCV", "PINHOLE", "SIMPLE_PINHOLE", "PERSPECTIVE"), "brown"),
    **dict.fromkeys(("SIMPLE_RADIAL", "RADIAL", "FULL_OPENCV"), "brown"),
    **dict.fromkeys(("OPENCV_FISHEYE", "RADIAL_FISHEYE", "SIMPLE_RADIAL_FISHEYE"), "fisheye"),
}
_PANORAMA = "EQUIRECTANGULAR"
# The names of coefficients in the order of `lenses`; k4 to k6 divide.
_COEFFICIENTS = {
    "brown": ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"),
    "fisheye": ("k1", "k2", "k3", "k4"),
}
# |R^T R - 1| of rotations: three digits leave up to 1.8e-3; above the second there is a note.
_MENDED, _TOLD = 2.5e-3, 1e-4
_GREY = 0.5  # colour of points without one
_MILLIMETRE = 1e-3  # [scene units], the default of nerfstudio for the numbers of depth maps
_FRAMES = "a list of pictures with their poses"
_PICTURE = "the name of a picture"
_PLACE, _COLOUR = ("x", "y", "z"), ("red", "green", "blue")
_UNIT, _POSITIVE = "depth_unit_scale_factor", "a number from 1e-18 to 1e18"


def load_transforms(inside: Folder, path: Path, reading: Reading) -> Dataset:
    """Return the data set of one file of cameras in a folder; see `load`.

    Raises:
        DatasetError: The file is broken, a camera is not a pinhole, or an image is missing.
    """
    content = _parsed(inside, path)
    views, frames, remarks, missing = _views(inside, content, reading, strays=True)
    if (names := content.get("test_filenames")) is not None:
        known = {frame.member("file_path", _PICTURE).text() for frame in frames}
        held = set[str]()
        for one in names.items("a list of names"):
            if one.text(_PICTURE) not in known:
                raise one.wrong("a 'file_path' of one of the frames")
            held.add(one.text())
        views = tuple(replace(view, held_out=view.picture in held) for view in views)
    points, notes = _points(inside, content)
    if content.get("fisheye_crop_radius") is not None:
        notes = (*notes, "fisheye_crop_radius is not used")
    found = f"{path.name}, {len(views)} views"
    return Dataset(path.parent, views, points, found, (*notes, *remarks), missing)


def load_blender(inside: Folder, path: Path, reading: Reading) -> Dataset:
    """Return the data set of transforms_train.json, and of transforms_test.json if it exists.

    Raises:
        DatasetError: A file is broken, a camera is not a pinhole, or an image is missing.
    """
    parts: dict[str, tuple[View, ...]] = {}
    notes: list[str] = []
    missing: tuple[str, ...] = ()
    for file in (path, path.with_name("transforms_test.json")):
        if file == path or os.path.exists(file):
            content = _parsed(inside, file)
            parts[file.name], _, remarks, absent = _views(inside, content, reading)
            missing += absent
            notes += [f"{file.name}: {remark}" for remark in remarks]
    train, test = parts["transforms_train.json"], parts.get("transforms_test.json", ())
    if test:
        train = tuple(replace(view, held_out=False) for view in train)
        test = tuple(replace(view, held_out=True) for view in test)
    found = ", ".join(f"{name} with {len(views)} views" for name, views in parts.items())
    return Dataset(path.parent, (*train, *test), None, found, tuple(notes), missing)


def _parsed(inside: Folder, path: Path) -> Value:
    content = read_json(inside.within(path.parent, path.name, path, "the file of cameras"))
    if not isinstance(content.held, dict):
        raise DatasetError(path, "is JSON without names", "an object with 'frames'")
    return content


def _views(
    inside: Folder, content: Value, reading: Reading, *, strays: bool = False
) -> tuple[tuple[View, ...], list[Value], tuple[str, ...], tuple[str, ...]]:
    """Return the views, sorted by name, their frames, remarks, and the names of missing ones.

    `strays`: see `Gathering`.
    """
    folder = content.path.parent
    frames = content.member("frames", _FRAMES).items(_FRAMES)
    if not frames:
        raise DatasetError(content.path, "has no 'frames'", _FRAMES)
    gathered = Gathering(inside, folder / "images", reading)
    mended: list[float] = []
    for frame in frames:
        camera = _Camera(content, frame)
        name = frame.member("file_path", _PICTURE)
        original = gathered.names.find(folder, name.text(_PICTURE), name.path, name.place)
        pose, away = _pose(frame.member("transform_matrix", "4 rows of 4 finite numbers"))
        mended += [away] if away > _TOLD else []
        mask = frame.get("mask_path")
        mask_file = mask and gathered.names.find(
            folder, mask.text("the name of a mask"), mask.path, mask.place, tell=False
        )
        depth = _depth(inside, content, frame)
        if camera.is_panorama():
            if depth is not None:
                raise DatasetError(
                    content.path, f"{frame.place} is a panorama with a depth map", "one without"
                )
            gathered.add_panorama(name.text(), original, content.path, pose, mask_file)
        else:
            args = name.text(), original, content.path, pose, camera.lens, camera.size()
            gathered.add(*args, depth, mask_file)
    views, remarks = gathered.finish(strays=strays)
    if mended:
        remarks = (
            *remarks,
            f"{len(mended)} of {len(frames)} poses are rotations but for {max(mended):.1g}, as if "
            "rounded or scaled: the nearest rotations are used",
        )
    views = tuple(sorted(views, key=lambda view: view.name))
    return views, frames, remarks, (*gathered.missing,)


class _Camera:
    """The camera of a frame, with the values of the whole file as defaults."""

    def __init__(self, content: Value, frame: Value) -> None:
        self._content, self._frame = content, frame
        name = frame.member("file_path", _PICTURE).text(_PICTURE)
        self._name = f"{frame.place} ({shown(name)})"

    def _get(self, key: str) -> Value | None:
        return self._frame.get(key) or self._content.get(key)

    def _number(self, key: str) -> float | None:
        value = self._get(key)
        return None if value is None else value.number()

    def _wrong(self, found: str, expected: str, hint: str | None = None) -> DatasetError:
        return DatasetError(self._frame.path, f"{self._name} {found}", expected, hint=hint)

    def size(self) -> tuple[int, int] | None:
        """Return width and height [pixels], or None if they are not given."""
        width, height = self._number("w"), self._number("h")
        if width is None or height is None:
            return None
        if not (width.is_integer() and height.is_integer() and is_size(int(width), int(height))):
            raise self._wrong(f"is {width} x {height}", "a size above 0, in whole pixels")
        return int(width), int(height)

    def lens(self, size: tuple[int, int]) -> Lens:
        """Return the lens for an image of some size."""
        fx = self._focal("fl_x", "camera_angle_x", size[0])
        fy = self._focal("fl_y", "camera_angle_y", size[1])
        fx, fy = (fy if fx is None else fx), (fx if fy is None else fy)
        if fx is None or fy is None:
            raise self._wrong("has no focal length", "'fl_x' or 'camera_angle_x'")
        if not (fx >= LEAST_FOCAL and fy >= LEAST_FOCAL):
            raise self._wrong(f"has the focal lengths {fx}, {fy}", "numbers above 0")
        cx, cy = self._number("cx"), self._number("cy")
        found = np.array(
            [fx, fy, size[0] / 2 if cx is None else cx, size[1] / 2 if cy is None else cy]
        )
        if not are_numbers(found):
            raise self._wrong(f"has the intrinsics {found.tolist()}", "numbers up to 1e18")
        return Lens(tuple(found.tolist()), *self._distortion())

    def is_panorama(self) -> bool:
        """Return whether the picture shows all directions."""
        model = self._get("camera_model")
        return model is not None and model.held == _PANORAMA

    def _distortion(self) -> tuple[str, tuple[float, ...]]:
        """Return the kind of the distortion and its coefficients."""
        model, flag = self._get("camera_model"), self._get("is_fisheye")
        name = "OPENCV" if model is None else model.text("the name of a model")
        kind = _KINDS.get(name)
        if kind is None:
            models = f"one of {', '.join(_KINDS)}, {_PANORAMA}"
            raise self._wrong(f"has the model {shown(name)[1:-1]}", models)
        if flag is not None and flag.flag():
            kind = "fisheye"
        given = {key: self._number(key) or 0.0 for key in _COEFFICIENTS["brown"]}
        if not are_numbers(np.array([*given.values()])):
            raise self._wrong(f"has the distortion {shown(given)}", "numbers up to 1e18")
        used = _COEFFICIENTS[kind]
        if extra := [key for key, value in given.items() if value and key not in used]:
            raise self._wrong(f"is a fisheye with {', '.join(extra)} not 0", f"{', '.join(used)}")
        # Other programs take k4 of OPENCV for the coefficient of the eighth power.
        divides = name == "FULL_OPENCV" or given["k5"] or given["k6"]
        if kind == "brown" and given["k4"] and not divides:
            raise self._wrong(
                f"has k4 not 0 with the model {name}, which is ambiguous",
                "the model FULL_OPENCV, where k4 divides",
            )
        return kind, tuple(given[key] for key in used)

    def _focal(self, key: str, angle_key: str, pixels: int) -> float | None:
        if (length := self._number(key)) is not None:
            return length
        if (angle := self._get(angle_key)) is None:
            return None
        if not 0 < angle.number() < math.pi:
            raise angle.wrong("an angle between 0 and pi")
        return 0.5 * pixels / math.tan(0.5 * angle.number())


def _pose(matrix: Value) -> tuple[Doubles, float]:
    """Return the matrix from world to camera in OpenCV axes, and how far it was from a rotation.

    The rotation is the nearest to the given matrix R, its orthogonal polar factor (Higham,
    Computing the Polar Decomposition, 1986). The shape is (4, 4), and the distance the largest
    number of |R^T R - 1|.
    """
    given = matrix.matrix((4, 4), (3, 4))
    if not are_numbers(given):
        raise matrix.wrong("numbers up to 1e18")
    if len(given) == 4:
        if np.abs(given[3] - [0, 0, 0, 1]).max() > _MENDED:
            found = f"{matrix.place}[3] is {given[3].tolist()}"
            raise DatasetError(matrix.path, found, "[0, 0, 0, 1]")
        given = given / given[3, 3]  # as homogeneous coordinates
    rotation = given[:3, :3] * np.array([1.0, -1.0, -1.0])
    away = float(np.abs(rotation.T @ rotation - np.eye(3)).max())
    if away > _MENDED or np.linalg.det(rotation) < 0:
        found = f"{matrix.place} does not rotate: {shown(matrix.held)}"
        raise DatasetError(matrix.path, found, "a rotation")
    left, _, right = np.linalg.svd(rotation)
    rotation = left @ right
    pose = np.eye(4)
    pose[:3, :3] = rotation.T
    pose[:3, 3] = -rotation.T @ given[:3, 3]
    return pose, away


def _depth(inside: Folder, content: Value, frame: Value) -> tuple[Path, float] | None:
    """Return the file of the depth map of a frame, and the depth of the number 1 [scene units].

    nerfstudio has the unit as an option, of this name; the poses in the file are already
    multiplied by `applied_scale`, and depths are not.
    """
    name = frame.get("depth_file_path")
    if name is None:
        return None
    file = inside.within(
        content.path.parent, name.text("the name of a depth map"), name.path, name.place
    )
    unit = _MILLIMETRE
    if (given := frame.get(_UNIT) or content.get(_UNIT)) is not None:
        unit = _positive(given)
    if (applied := content.get("applied_scale")) is not None:
        unit *= _positive(applied)
    return file, unit


def _positive(value: Value) -> float:
    number = value.number(_POSITIVE)
    if not 1 / LARGEST <= number <= LARGEST:
        raise value.wrong(_POSITIVE)
    return number


def _points(inside: Folder, content: Value) -> tuple[Points | None, tuple[str, ...]]:
    """Return the points of the `.ply` that the file names, and notes."""
    name = content.get("ply_file_path")
    if name is None:
        return None, ()
    file = inside.within(
        content.path.parent, name.text("the name of a .ply"), name.path, name.place
    )
    vertex = read_ply(file).get("vertex")
    names = () if vertex is None else vertex.dtype.names or ()
    if vertex is None or not {*_PLACE} <= {*names}:
        raise DatasetError(file, f"has the properties {', '.join(names)}", ", ".join(_PLACE))
    positions = np.stack([np.asarray(vertex[key], np.float64) for key in _PLACE], axis=1)
    notes: tuple[str, ...] = ()
    if {*_COLOUR} <= {*names}:
        colours = np.stack([np.asarray(vertex[key], np.float64) for key in _COLOUR], axis=1) / 255
    else:
        colours = np.full(positions.shape, _GREY)
        notes = (f"the points of {shown(file.name)[1:-1]} have no colours, and are grey",)
    bad = np.flatnonzero(~((colours >= 0) & (colours <= 1)).all(axis=1))
    if len(bad):
        found = (
            f"row {bad[0]} of element 'vertex' has the colour {(255 * colours[bad[0]]).tolist()}"
        )
        raise DatasetError(file, found, "numbers from 0 to 255")
    points, dropped = Points(positions, np.asarray(colours, np.float32)).kept()
    return points, (*notes, *dropped)
