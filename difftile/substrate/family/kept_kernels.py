"""The files of compiled kernels, which the compiler reads at its start and at first launches.

Its readers trust the lengths in files: a damaged one lets them ask for all memory or read beyond
it, which ends the process. So before a start, files that cannot be read are removed, and their
kernels are compiled again. Contents need no look: each kernel ends with a checksum, which the
compiler compares.

A kernel has a magic number and the lengths of two parts in a head of 24 bytes, the parts, and the
checksum. The list of kernels has its length, a version, the bytes of all kernels and their number;
and of each kernel its key, twice, each after its length, its bytes and two times.
"""

from __future__ import annotations

import struct
import time
from pathlib import Path

_LISTS = ("ticache.tcb", "qdcache.qdb")
_MAGIC = {".tic": b"TIC", ".qdc": b"QDC"}
_HEAD = struct.Struct("<8sQQ")  # of a kernel
_LIST_HEAD = struct.Struct("<Q6sQQ")
_NUMBERS = struct.Struct("<Qqq")  # of a kernel in the list
_LENGTH = struct.Struct("<Q")
_CHECKSUM = 64
_WRITING = 0.05  # that another process may take to write a file [s]


def remove_damaged(folder: Path) -> list[Path]:
    """Remove the files in a folder of compiled kernels, and below, that cannot be read.

    Returns:
        The files.
    """
    found: list[Path] = []
    for file in folder.rglob("*"):
        if (file.suffix in _MAGIC or file.name in _LISTS) and not _is_sound(file):
            time.sleep(_WRITING)
            if not _is_sound(file):
                found.append(file)
    for file in found:
        try:
            file.unlink(missing_ok=True)
        except OSError:
            continue
    return found


def _is_sound(file: Path) -> bool:
    """Tell whether the lengths in a file fit it; a file that has gone or is not ours does."""
    try:
        with file.open("rb") as stream:
            if file.name in _LISTS:
                return is_list(stream.read())
            head = stream.read(_HEAD.size)
            return is_kernel(head, stream.seek(0, 2), _MAGIC[file.suffix])
    except OSError:
        return True


def is_kernel(head: bytes, size: int, magic: bytes) -> bool:
    """Tell whether the head of a kernel fits the bytes of its file."""
    if len(head) < _HEAD.size:
        return False
    begin, first, second = _HEAD.unpack(head)
    return begin[: len(magic)] == magic and _HEAD.size + first + second + _CHECKSUM == size


def is_list(data: bytes) -> bool:
    """Tell whether a list of kernels can be read."""
    if len(data) < _LIST_HEAD.size:
        return False
    length, _, total, count = _LIST_HEAD.unpack_from(data)
    if length != len(data):
        return False
    at, found = _LIST_HEAD.size, 0
    for _ in range(count):
        keys: list[bytes] = []
        for _ in range(2):
            if at + _LENGTH.size > len(data):
                return False
            (size,) = _LENGTH.unpack_from(data, at)
            at += _LENGTH.size
            keys.append(data[at : at + size])
            at += size
        if keys[0] != keys[1] or at + _NUMBERS.size > len(data):
            return False
        found += _NUMBERS.unpack_from(data, at)[0]
        at += _NUMBERS.size
    return at == len(data) and found == total
