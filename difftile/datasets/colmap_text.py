"""COLMAP's models as cameras.txt, images.txt and points3D.txt.

Source: colmap.github.io/format.html. What each picture saw of which point is not kept, and not
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from difftile.datasets.colmap import Camera, Cloud, Image, Reconstruction, by_number
from difftile.datasets.cursor import file_text
from difftile.diagnostics import DatasetError

_T = TypeVar("_T")


def read_text(folder: Path) -> Reconstruction:
    """Return the model in a folder.

    Raises:
        DatasetError: A file is missing, or a line is not what it should be.
    """
    cameras = _records(folder / "cameras.txt", _camera, "id model width height parameters")
    images = _records(
        folder / "images.txt", _image, "id qw qx qy qz tx ty tz camera name", lines_each=2
    )
    points = _records(folder / "points3D.txt", _point, "id x y z r g b error")
    ids = np.array([number for number, _, _ in points], np.uint64)
    positions = np.array([position for _, position, _ in points]).reshape(-1, 3)
    colours = np.array([colour for _, _, colour in points], np.uint8).reshape(-1, 3)
    return Reconstruction(
        by_number(folder / "cameras.txt", cameras),
        by_number(folder / "images.txt", images),
        Cloud(ids, positions, colours),
    )


def write_text(folder: Path, model: Reconstruction) -> None:
    """Write a model into a folder, which is made. Numbers keep all their digits."""
    folder.mkdir(parents=True, exist_ok=True)
    cameras = [
        _line(one.id, one.model, one.width, one.height, *one.parameters)
        for one in model.cameras.values()
    ]
    images = [
        _line(one.id, *one.quaternion, *one.translation, one.camera_id, one.name) + "\n"
        for one in model.images.values()
    ]
    cloud = model.cloud
    points = [
        _line(int(number), *map(float, position), *map(int, colour), 0.0)
        for number, position, colour in zip(cloud.ids, cloud.positions, cloud.colours, strict=True)
    ]
    files = {"cameras.txt": cameras, "images.txt": images, "points3D.txt": points}
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _line(*values: object) -> str:
    return " ".join(str(value) for value in values)


def _camera(words: list[str]) -> Camera:
    number, model, width, height, *parameters = words
    return Camera(int(number), model, _natural(width), _natural(height), (*map(float, parameters),))


def _image(words: list[str]) -> Image:
    number, w, x, y, z, tx, ty, tz, camera, *name = words
    if not name:
        raise ValueError
    quaternion = float(w), float(x), float(y), float(z)
    translation = float(tx), float(ty), float(tz)
    return Image(int(number), quaternion, translation, int(camera), " ".join(name))


def _point(words: list[str]) -> tuple[int, list[float], list[int]]:
    number, x, y, z, r, g, b, _, *_ = words
    colour = [_natural(word) for word in (r, g, b)]
    if max(colour) > 255:
        raise ValueError
    return _natural(number), [float(x), float(y), float(z)], colour


def _natural(word: str) -> int:
    if not word.isdecimal():
        raise ValueError
    return int(word)


def _records(
    path: Path, read: Callable[[list[str]], _T], layout: str, lines_each: int = 1
) -> list[_T]:
    """Return the records of a file, the first line of each read by `read`."""
    found: list[_T] = []
    for number, line in _first_lines(file_text(path).splitlines(), lines_each):
        try:
            found.append(read(line.split()))
        except ValueError:  # a word that is no number, or too few of them
            raise DatasetError(path, f"line {number} is {line[:80]!r}", f"'{layout}'") from None
    return found


def _first_lines(lines: list[str], lines_each: int) -> Iterator[tuple[int, str]]:
    """Yield number and text of the first line of each record; comments stand between records.

    The second line of a picture, what it saw, may be empty, or missing at the end.
    """
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if not line or line.startswith("#"):
            at += 1
            continue
        yield at + 1, line
        at += lines_each
