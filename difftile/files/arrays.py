"""Arrays as `.npz` and `.npy` files: NumPy's formats, without its pickles.

Source: NumPy enhancement proposal 1 (the format of `.npy`), and PKWARE's APPNOTE (zip). Sizes in an
archive are compared with its actual bytes before memory is allocated: the header of each array has
to match the size of its member, and all members together may have at most `_PACKED` times the bytes
of the file.
"""

from __future__ import annotations

import math
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy
from numpy.lib.npyio import NpzFile

from difftile.diagnostics import DatasetError
from difftile.files.regular import opened, shown, size_of, understood
from difftile.files.writing import whole

Arrays: TypeAlias = "dict[str, npt.NDArray[Any]]"

_MEMBERS = 10_000
_AXES = 16
_PACKED = 100  # largest ratio of compression, for archives of more than
_FREE = 2**26  # bytes uncompressed
_KINDS = "biufU"  # of elements; objects would be pickles
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LOCAL = 30  # bytes before the name of a member, and its contents
_GAP = 128  # bytes that may lie between members, fewer than the smallest array has
_ENCRYPTED, _UNICODE = 1, 2**11  # flag bits of a member and of its name
_ARCHIVE = "a .npz file of numbers"
_FILE = "a .npy file of numbers"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_arrays(path: Path) -> Arrays:
    """Return the arrays of a `.npz` file by name.

    Raises:
        DatasetError: The file cannot be read or is broken, or contains objects or more bytes than
            its size allows.
    """
    with opened(path, _ARCHIVE, zipped=True) as file:
        with understood(path, _ARCHIVE):
            archive = zipfile.ZipFile(file)
        with archive:
            return _members(path, archive, size_of(file))


def read_array(path: Path) -> npt.NDArray[Any]:
    """Return the array of a `.npy` file.

    Raises:
        DatasetError: The file cannot be read or is broken, or contains objects.
    """
    with opened(path, _FILE) as file, understood(path, _FILE):
        return _array(path, path.stem, file, size_of(file))


def arrays_of(saved: Mapping[str, npt.ArrayLike]) -> Arrays:
    """Return the arrays of a mapping, or of a file that `np.load` has opened.

    Raises:
        DatasetError: The file is broken.
    """
    if isinstance(saved, NpzFile):
        archive: Any = saved.zip
        if archive is None:
            raise DatasetError("the .npz file", "is closed", "an open one")
        path = Path(archive.filename or "the .npz file")
        ends = max((one.header_offset + one.compress_size for one in archive.infolist()), default=0)
        return _members(path, archive, ends)
    return {str(key): np.asarray(saved[key]) for key in saved}


def write_arrays(path: Path, arrays: Mapping[str, npt.ArrayLike]) -> None:
    """Write arrays as a `.npz` file, completely or not at all.

    Raises:
        OSError: It cannot be written.
    """
    with whole(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():  # np.savez lacks some names, such as 'file'
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(cast("BinaryIO", member), np.asanyarray(array), allow_pickle=False)


def _members(path: Path, archive: zipfile.ZipFile, size: int) -> Arrays:
    members = archive.infolist()
    if len(members) > _MEMBERS:
        raise DatasetError(path, f"has {len(members)} arrays", f"at most {_MEMBERS}")
    claimed, most = sum(one.file_size for one in members), max(_FREE, _PACKED * size)
    if claimed > most or sum(one.compress_size for one in members) > size:
        raise DatasetError(
            path,
            f"says that its {size} bytes hold {claimed}",
            f"at most {most}",
            hint="write it with np.savez, which does not compress.",
        )
    # The list at the end of an archive has no checksum: its members must cover the whole file.
    placed = sorted(members, key=lambda one: one.header_offset)
    starts, ends = [one.header_offset for one in placed], [0]
    for one in placed:
        encoded = one.orig_filename.encode() if one.flag_bits & _UNICODE else one.orig_filename
        ends.append(one.header_offset + _LOCAL + len(encoded) + one.compress_size)
    for start, end in zip([*starts, archive.start_dir], ends, strict=True):
        if not 0 <= start - end < _GAP:
            raise DatasetError(
                path, f"has no array listed from byte {end} to {start}", "a list of all that follow"
            )
    found: Arrays = {}
    for one in members:
        name = one.filename.removesuffix(".npy")
        if name in found:
            raise DatasetError(path, f"has the array {shown(name)} twice", "each name once")
        if one.flag_bits & _ENCRYPTED or one.compress_type not in _METHODS:
            raise DatasetError(
                path, f"has {shown(name)} encrypted or packed in another way", "what np.savez wrote"
            )
        with understood(path, f"the array {shown(name)}"), archive.open(one) as member:
            found[name] = _array(path, name, cast("BinaryIO", member), one.file_size)
    return found


def _array(path: Path, name: str, file: BinaryIO, size: int) -> npt.NDArray[Any]:
    """Return the array in a member of `size` bytes."""
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise DatasetError(path, f"has {shown(name)} in version {version}", "1.0 or 2.0")
    shape, by_columns, dtype = _HEADERS[version](file)
    if dtype.kind not in _KINDS or (dtype.itemsize == 0 and size > file.tell()):
        raise DatasetError(path, f"has {shown(name)} of {shown(dtype)}", "numbers or a text")
    left, needed = size - file.tell(), dtype.itemsize * math.prod(shape)
    if needed != left or any(axis < 0 for axis in shape) or len(shape) > _AXES:
        raise DatasetError(
            path,
            f"says that {shown(name)} has the shape {shown(shape)} of {dtype}, {needed} bytes, "
            f"and {left} are there",
            "as many",
        )
    content = file.read(needed)  # zipfile verifies the checksum with the last byte
    flat = np.frombuffer(content, dtype) if needed else np.empty(0, dtype)
    valid = True
    if dtype.kind == "b":
        valid = bool((flat.view(np.uint8) <= 1).all())
    elif dtype.kind == "U":
        codes = flat.view(np.dtype("u4").newbyteorder(flat.dtype.byteorder))
        valid = bool((codes <= sys.maxunicode).all())
    if not valid:
        found = f"has {shown(name)} with bytes that are not {dtype}"
        raise DatasetError(path, found, "numbers or a text")
    native = flat.astype(dtype.newbyteorder("="))  # a writable copy
    return native.reshape(shape, order="F" if by_columns else "C")
