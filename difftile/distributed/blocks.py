"""Checkpoints as files: a folder with arrays in blocks, written by several processes.

`about.json` lists the numbers and the arrays. An array has a type, the shape that it has on all
ranks together, and blocks: each lies in a `.npy` file of its own, and begins at an index of the
array. The files are in a folder whose name is a number. A checkpoint is replaced by writing the
next folder beside it and then `about.json`, so that there is a whole one at any time; one that is
written for the first time gets its name when it is whole.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from difftile.diagnostics import DatasetError
from difftile.files.arrays import read_array
from difftile.files.inside import Folder
from difftile.files.json_values import Value, read_json
from difftile.files.writing import PART, whole, write_bytes

ABOUT = "about.json"
WRITTEN = "a checkpoint that dt.distributed.save() has written"
Number: TypeAlias = "int | float | bool | str"
Index: TypeAlias = "tuple[int, ...]"

_VERSION = 1
_DTYPE = re.compile(r"[<>|][biufU]\d{1,6}")
_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A box of an array, in a file.

    Args:
        file: The file, relative to the folder of the checkpoint.
        at: The index of its first element.
        shape: Its shape.
        crc32: The checksum of its bytes.
    """

    file: str
    at: Index
    shape: Index
    crc32: int


@dataclass(frozen=True, slots=True)
class SavedArray:
    """An array of a checkpoint.

    Args:
        dtype: The type of its numbers, or of a text.
        shape: Its shape on all ranks together.
        blocks: Its blocks, which do not overlap.
    """

    dtype: np.dtype[Any]
    shape: Index
    blocks: tuple[FileBlock, ...]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The contents of a checkpoint, without the numbers in its arrays.

    Args:
        path: Its folder.
        numbers: The numbers and texts that were saved, by name.
        arrays: The arrays by name.
    """

    path: Path
    numbers: Mapping[str, Number]
    arrays: Mapping[str, SavedArray]


# Writing


def begin(path: Path) -> tuple[Path, str]:
    """Make the folder for the files of a checkpoint.

    Args:
        path: The checkpoint, which may be one already.

    Returns:
        The folder that becomes the checkpoint, and the name of the folder of files inside.

    Raises:
        DatasetError: Something else has that name.
        OSError: No folder can be made.
    """
    if not path.exists():
        folder, number = path.with_name(path.name + PART), 1
        if folder.exists():  # of a run that was killed while it wrote
            shutil.rmtree(folder)
    elif (path / ABOUT).is_file():
        with suppress(DatasetError):  # one that cannot be read is replaced
            _remove_leftovers(path, read_checkpoint(path))  # the disk may be full of them
        folder, number = path, 1 + max(_numbers(path), default=0)
    else:
        found = "is a folder without a checkpoint" if path.is_dir() else "is not a folder"
        raise DatasetError(path, found, "a checkpoint to replace, or a new name")
    (folder / str(number)).mkdir(parents=True)
    return folder, str(number)


def write_block(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array without gaps as a `.npy` file."""
    with whole(path) as file:
        npy.write_array_header_1_0(file, npy.header_data_from_array_1_0(array))
        if array.size:  # NumPy would not say why it cannot write
            file.write(array.reshape(-1).view(np.uint8).data)


def give_up(path: Path, folder: Path, number: str) -> None:
    """Remove the files of a checkpoint that could not be written; an earlier one stays.

    Args:
        path: The checkpoint.
        folder: The folder that `begin` has made.
        number: The folder of files inside.
    """
    shutil.rmtree(folder / number if folder == path else folder, ignore_errors=True)


def finish(path: Path, folder: Path, found: Checkpoint) -> None:
    """Write the list of contents of a checkpoint whose files are there, and give it its name.

    Args:
        path: The checkpoint.
        folder: The folder that `begin` has made.
        found: The contents.
    """
    about = {
        "version": _VERSION,
        "numbers": dict(found.numbers),
        "arrays": {
            name: {
                "dtype": one.dtype.str,
                "shape": one.shape,
                "blocks": [
                    {"file": b.file, "at": b.at, "shape": b.shape, "crc32": b.crc32}
                    for b in one.blocks
                ],
            }
            for name, one in found.arrays.items()
        },
    }
    write_bytes(folder / ABOUT, (json.dumps(about, indent=1) + "\n").encode())
    if folder != path:
        folder.rename(path)
    with suppress(OSError):  # the checkpoint is there
        _remove_leftovers(path, found)


def crc32(array: npt.NDArray[Any]) -> int:
    """Return the checksum of the bytes of an array without gaps."""
    return zlib.crc32(array.reshape(-1).view(np.uint8).data) if array.size else 0


def _remove_leftovers(path: Path, found: Checkpoint) -> None:
    """Remove the folders of files that a checkpoint does not list, as far as that is possible."""
    kept = {Path(b.file).parts[0] for one in found.arrays.values() for b in one.blocks}
    for number in map(str, _numbers(path)):
        if number not in kept:
            shutil.rmtree(path / number, ignore_errors=True)
    for part in path.glob(f"{ABOUT}.*{PART}"):
        part.unlink(missing_ok=True)


def _numbers(path: Path) -> list[int]:
    return [int(one.name) for one in path.iterdir() if one.name.isdecimal() and one.is_dir()]


# Reading


def read_checkpoint(path: Path) -> Checkpoint:
    """Return the contents of a checkpoint.

    Raises:
        DatasetError: It is missing, broken, or of a later version.
    """
    if not path.exists():
        raise DatasetError(path, "is not there", WRITTEN)
    if not (path / ABOUT).is_file():
        raise DatasetError(path, f"has no {ABOUT}", WRITTEN)
    about = read_json(path / ABOUT)
    about.member("version", "the version of a checkpoint").whole(1, _VERSION)
    numbers: dict[str, Number] = {}
    given = about.member("numbers", "numbers by name")
    for name, value in given.members().items():
        if not isinstance(value, (bool, int, float, str)):
            raise Value(given.path, f"{given.place}.{name}", value).wrong("a number or a text")
        numbers[name] = value
    arrays = about.member("arrays", "arrays by name")
    inside = Folder(path, hint=None)
    return Checkpoint(
        path,
        numbers,
        {name: _array(arrays.member(name, "an array"), inside) for name in arrays.members()},
    )


def _array(value: Value, inside: Folder) -> SavedArray:
    dtype = _dtype(value.member("dtype", "the type of its numbers"))
    shape = _index(value.member("shape", "the shape of an array"))
    blocks: list[FileBlock] = []
    for one in value.member("blocks", "the blocks of an array").items():
        file = one.member("file", "the name of a file")
        inside.within(inside.root, file.text(), value.path, file.place)
        at, size = (_index(one.member(key, "a list of integers")) for key in ("at", "shape"))
        if not len(at) == len(size) == len(shape) or any(
            a + n > m for a, n, m in zip(at, size, shape, strict=True)
        ):
            raise one.wrong(f"a box inside of the shape {shape}")
        checksum = one.member("crc32", "a checksum").whole(0, 2**32 - 1)
        blocks.append(FileBlock(file.text(), at, size, checksum))
    if sum(math.prod(one.shape) for one in blocks) != math.prod(shape) or _overlap(blocks):
        raise value.wrong(f"blocks that cover the shape {shape}, each element once")
    return SavedArray(dtype, shape, tuple(blocks))


def _dtype(value: Value) -> np.dtype[Any]:
    if _DTYPE.fullmatch(value.text()):
        try:
            return np.dtype(value.text())
        except TypeError:  # of this size there is none
            pass
    raise value.wrong("a type of NumPy, such as '<f4'")


def _index(value: Value) -> Index:
    return tuple(one.whole(0, _LARGEST) for one in value.items("a list of integers"))


def _overlap(blocks: Sequence[FileBlock]) -> bool:
    some = [one for one in blocks if math.prod(one.shape)]
    if len(some) < 2 or not some[0].shape:
        return len(some) > 1
    starts = np.array([one.at for one in some])
    stops = starts + np.array([one.shape for one in some])
    meets = (starts[:, None] < stops[None]) & (starts[None] < stops[:, None])
    return int(meets.all(axis=2).sum()) > len(some)  # each meets itself


def read_box(saved: Checkpoint, name: str, at: Index, shape: Index) -> npt.NDArray[Any]:
    """Return a box of an array, from the blocks that it meets.

    Args:
        saved: The checkpoint.
        name: The name of the array.
        at: The index of the first element of the box.
        shape: The shape of the box, which lies inside of the array.

    Raises:
        DatasetError: A file is missing or damaged.
    """
    array = saved.arrays[name]
    found = np.empty(shape, array.dtype.newbyteorder("="))
    for block in array.blocks:
        starts = [max(a, b) for a, b in zip(at, block.at, strict=True)]
        stops = [
            min(a + n, b + m) for a, n, b, m in zip(at, shape, block.at, block.shape, strict=True)
        ]
        if all(map(int.__lt__, starts, stops)):
            found[_slices(starts, stops, at)] = _read(saved.path, array, block)[
                _slices(starts, stops, block.at)
            ]
    return found


def _slices(starts: Iterable[int], stops: Iterable[int], at: Index) -> tuple[slice, ...]:
    return tuple(slice(a - o, b - o) for a, b, o in zip(starts, stops, at, strict=True))


def _read(path: Path, array: SavedArray, block: FileBlock) -> npt.NDArray[Any]:
    """Return the numbers of a block."""
    file = path / block.file
    found = read_array(file)
    if found.shape != block.shape or found.dtype != array.dtype.newbyteorder("="):
        raise DatasetError(
            file,
            f"has the shape {found.shape} of {found.dtype}",
            f"{block.shape} of {array.dtype.newbyteorder('=')}, as {ABOUT} says",
        )
    if crc32(found) != block.crc32:
        raise DatasetError(file, "has other numbers than were written", "an undamaged file")
    return found
