"""COLMAP's models as cameras.txt, images.txt and points3D.txt.

Source: colmap.github.io/format.html. Observations of points in images are not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from difftile.datasets.colmap import Camera, Cloud, PosedImage, Reconstruction, by_number, is_absent
from difftile.diagnostics import DatasetError
from difftile.files.regular import read_text as text_of
from difftile.files.regular import shown

_T = TypeVar("_T")
_SIZE = 2**33  # bytes of a file, most of them observations
_DIGITS = 18  # of an integer of less than 64 bits


def read_text(folder: Path) -> Reconstruction:
    """Return the model in a folder.

    Raises:
        DatasetError: A file is missing (except points3D.txt), or a line is malformed.
    """
    cameras = _records(folder / "cameras.txt", _camera, "id model width height parameters")
    images = _records(
        folder / "images.txt", _image, "id qw qx qy qz tx ty tz camera name", lines_each=2
    )
    return Reconstruction(
        by_number(folder / "cameras.txt", cameras),
        by_number(folder / "images.txt", images),
        _points(folder / "points3D.txt"),
    )


def count_text(folder: Path) -> int:
    """Return the number of images of the model in a folder."""
    return len(_records(folder / "images.txt", len, "an image and its points", lines_each=2))


def _points(path: Path) -> Cloud | None:
    if is_absent(path):
        return None
    points = _records(path, _point, "id x y z r g b error")
    ids = np.array([number for number, _, _ in points], np.uint64)
    positions = np.array([position for _, position, _ in points]).reshape(-1, 3)
    colours = np.array([colour for _, _, colour in points], np.uint8).reshape(-1, 3)
    return Cloud(ids, positions, colours)


def _camera(words: list[str]) -> Camera:
    number, model, width, height, *parameters = words
    size = _natural(width), _natural(height)
    return Camera(_natural(number), model, *size, (*map(_real, parameters),))


def _image(words: list[str]) -> PosedImage:
    number, w, x, y, z, tx, ty, tz, camera, *name = words
    if not name:
        raise ValueError
    quaternion = _real(w), _real(x), _real(y), _real(z)
    translation = _real(tx), _real(ty), _real(tz)
    return PosedImage(_natural(number), quaternion, translation, _natural(camera), " ".join(name))


def _point(words: list[str]) -> tuple[int, list[float], list[int]]:
    number, x, y, z, r, g, b, error, *_ = words
    _real(error)
    colour = [_natural(word) for word in (r, g, b)]
    if max(colour) > 255:
        raise ValueError
    return _natural(number), [_real(x), _real(y), _real(z)], colour


def _natural(word: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= _DIGITS):
        raise ValueError
    return int(word)


def _real(word: str) -> float:
    if "_" in word:  # Python reads 1_000
        raise ValueError
    return float(word)


def _records(
    path: Path, read: Callable[[list[str]], _T], layout: str, lines_each: int = 1
) -> list[_T]:
    """Return the records of a file, each parsed from its first line by `read`.

    Comments stand between records. The second line of an image, its observations, may be empty, or
    missing at the end.
    """
    found: list[_T] = []
    lines, at = text_of(path, _SIZE).split("\n"), 0
    while at < len(lines):
        line = lines[at].strip()
        if not line or line.startswith("#"):
            at += 1
            continue
        try:
            found.append(read(line.split()))
        except ValueError:  # a malformed number, or too few words
            raise DatasetError(path, f"line {at + 1} is {shown(line)}", f"'{layout}'") from None
        at += lines_each
    return found
