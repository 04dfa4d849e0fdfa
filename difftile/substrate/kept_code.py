"""The cache of compilation results on disk.

Everything after the frontend is computed from a lowered program and the session's settings. The
results are cached under a digest of these and of the library, in one file with a checksum for each
program. Damaged files and files of other versions are ignored, and a failure to write is not an
error. A process writes its files when their kernels are collected, or when it exits; if several
processes compile the same program, the last one to write wins.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import pickle
import sys
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from difftile.ir.digest import NoDigest, digest, parts_of
from difftile.ir.nodes import Array, Var
from difftile.ir.types import SCALARS, FieldType, Scalar, field_type

T = TypeVar("T")

SUFFIX = ".kept"
_HEAD = b"difftile kept 1\n"
_CHECKSUM = 32
_MOST_BYTES = 256 * 2**20  # of all files; the oldest go first
_MOST_OFTEN = 8 * 2**20  # bytes that a process writes, until it looks for the oldest again
_MODULES = ("difftile.", "numpy", "collections")
_BUILTINS = frozenset(("dict", "frozenset", "list", "range", "set", "slice", "tuple"))
OFF = "DIFFTILE_KEEP"  # "0": nothing is kept
_IMPORTED = time.time()
_IMPORTING = 5.0  # that it takes at most [s]


class KeptResults:
    """Results that follow from one lowered program, or from several as one, by what they are.

    Args:
        file: Where they are kept as well; None for this process only.
        own: The objects of this process that results may refer to.
    """

    __slots__ = ("__weakref__", "_found", "file")

    def __init__(self, file: Path | None = None, own: Sequence[object] = ()) -> None:
        self.file = file
        self._found: dict[Hashable, Any] = {}
        if file is not None:
            self._found = _read(file, own) or {}
            weakref.finalize(self, _write, file, own, self._found, len(self._found), os.getpid())

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a result, made now if it is not there; the first of several threads wins."""
        found = self._found
        if key not in found:
            found.setdefault(key, make())
        return found[key]


def kept_for(folder: Path | None, own: Sequence[object], values: Iterable[object]) -> KeptResults:
    """Return what is kept for a program.

    Args:
        folder: The folder of kept files; None for none.
        own: The objects of the program that results may refer to, in their order.
        values: The program, and all else that results follow from.
    """
    if folder is None or os.environ.get(OFF) == "0" or _library() is None:
        return KeptResults()
    try:
        name = digest((_library(), *values))
    except NoDigest:
        return KeptResults()
    return KeptResults(folder / f"{name}{SUFFIX}", own)


def kept_for_programs(programs: Sequence[KeptResults], values: Iterable[object]) -> KeptResults:
    """Return what is kept for several programs as one; it refers to no objects of theirs.

    Args:
        programs: What is kept for each program. The name of its file says what that follows from.
        values: All else that results follow from.
    """
    files = [one.file for one in programs if one.file is not None]
    folder = files[0].parent if len(files) == len(programs) else None
    return kept_for(folder, (), ([file.name for file in files], *values))


@functools.cache
def _library() -> str | None:
    """Return the version of the library, by its files, of Python and of NumPy.

    None where a file has changed since this process may have read it, or where none is seen, as in
    an archive.
    """
    count = 0
    found = hashlib.sha256(f"{sys.version} {np.__version__}".encode())
    root = Path(__file__).parents[1]
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                seen = os.stat(os.path.join(folder, name))
                # Installers may put a file in place with the time that it had elsewhere.
                if max(seen.st_mtime, seen.st_ctime) > _IMPORTED - _IMPORTING:
                    return None
                count += 1
                found.update(f"{folder}/{name} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return found.hexdigest() if count else None


# Files


def _own(number: int) -> object:
    """Stand in a file for an object of the program, which `_Unpickler` knows."""
    raise NotImplementedError


def _scalar(name: str) -> Scalar:
    return SCALARS[name]


class _Pickler(pickle.Pickler):
    """Writes dataclasses as calls, and objects of the program by their number."""

    def __init__(self, file: io.BytesIO, own: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._own = {id(one): k for k, one in enumerate(own)}

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if kind is Var or kind is Array:
            number = self._own.get(id(obj))
            if number is not None:
                return _own, (number,)
        if kind is Scalar:
            return _scalar, (obj.name,)
        if kind is FieldType:  # one object for equal types
            return field_type, (obj.element, obj.ndim)
        if is_dataclass(obj) and not isinstance(obj, type):
            return kind, parts_of(kind)(obj)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    """Makes objects of the library and of NumPy only."""

    def __init__(self, data: bytes, own: Sequence[object]) -> None:
        super().__init__(io.BytesIO(data))
        self._own = own

    def find_class(self, module_name: str, global_name: str) -> Any:
        if (module_name, global_name) == (__name__, _own.__name__):
            return self._own.__getitem__
        plain = module_name == "builtins" and global_name in _BUILTINS
        if not plain and not module_name.startswith(_MODULES):
            raise pickle.UnpicklingError(f"{module_name}.{global_name}")
        return super().find_class(module_name, global_name)


def dumps(found: dict[Hashable, Any], own: Sequence[object]) -> bytes:
    """Return results as bytes."""
    stream = io.BytesIO()
    _Pickler(stream, own).dump(found)
    return stream.getvalue()


def loads(data: bytes, own: Sequence[object]) -> dict[Hashable, Any]:
    """Return results from bytes."""
    return _Unpickler(data, own).load()


def _read(file: Path, own: Sequence[object]) -> dict[Hashable, Any] | None:
    """Return the results in a file; None where there is no file that can be read."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    at = len(_HEAD) + _CHECKSUM
    if data[: len(_HEAD)] != _HEAD or hashlib.sha256(data[at:]).digest() != data[len(_HEAD) : at]:
        return None
    try:
        found = loads(data[at:], own)
    except Exception:  # whatever a file from elsewhere makes of classes of today
        return None
    with suppress(OSError):
        os.utime(file)  # files that are used stay
    return found


def _write(
    file: Path, own: Sequence[object], found: dict[Hashable, Any], before: int, process: int
) -> None:
    """Write results, if there are more than before, in place of the file that is there."""
    if len(found) == before or process != os.getpid():
        return
    try:
        data = dumps(found, own)
    except Exception:  # of a value that pickle does not know
        return
    part = file.with_name(f"{file.name}.{process}.part")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(_HEAD + hashlib.sha256(data).digest() + data)
            os.replace(part, file)
        finally:
            part.unlink(missing_ok=True)
        _make_room(file.parent, len(data))


_since: dict[Path, int] = {}  # bytes written since a folder was looked at


def _make_room(folder: Path, size: int) -> None:
    """Remove the files that were used longest ago, and parts that were left, beyond a size."""
    before = _since.get(folder)
    _since[folder] = 0 if before is None else before + size
    if before is not None and _since[folder] < _MOST_OFTEN:
        return
    _since[folder] = 0
    seen = [(one, one.stat()) for one in os.scandir(folder) if SUFFIX in one.name]
    now, total = time.time(), 0
    for one, stat in sorted(seen, key=lambda pair: -pair[1].st_mtime):
        total += stat.st_size
        left = not one.name.endswith(SUFFIX) and now - stat.st_mtime > 3600
        if total > _MOST_BYTES or left:
            with suppress(OSError):
                os.unlink(one.path)
