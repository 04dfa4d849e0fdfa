"""Opening of files: only regular files, of a size that fits into memory."""

from __future__ import annotations

import io
import os
import reprlib
import stat
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, final

from difftile.diagnostics import DatasetError

TEXT = 2**28  # bytes of a text file, which take a multiple of that in Python
_KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)
# Without O_NONBLOCK a pipe would block until it has a writer; Windows has neither flag.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# What else is found under the name of a file, by its first bytes: what it is, and what to do.
_POINTER = (
    b"version https://git-lfs.",
    "is a pointer of Git LFS and not the file itself",
    "run 'git lfs pull' in its folder.",
)
_ZIP = b"PK\3\4", "is a zip file", "unpack it first."
_PACKED = 1032  # bytes that deflate makes of one byte, at most
_WORDS = reprlib.Repr()
_WORDS.maxstring = _WORDS.maxother = _WORDS.maxlong = 80


@final
class _Bounded(io.BufferedReader):
    """A reader that never allocates more memory than its file has remaining bytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, size_of(self) - self.tell())
        return super().read(left if size is None or size < 0 else min(size, left))


def opened(path: Path, expected: str = "a file", *, zipped: bool = False) -> BinaryIO:
    """Return a regular file, open for reading bytes.

    Args:
        path: The file.
        expected: A description of the expected file, for errors.
        zipped: Whether it may be a zip file.

    Raises:
        DatasetError: The file is missing, unreadable, or a folder, a pipe, a socket or a device; or
            a pointer of Git LFS or a zip file in its place.
    """
    try:
        # Before opening, which may have effects on a device.
        _check_kind(path, os.stat(path), expected)
        file = _Bounded(io.FileIO(os.open(path, _FLAGS)))
    except DatasetError:  # which is a ValueError
        raise
    except FileNotFoundError:
        raise DatasetError(path, "is not there", expected) from None
    except OSError as error:
        raise DatasetError(path, f"cannot be read ({error.strerror})", expected) from None
    except ValueError:  # a zero byte, or a character without encoding
        raise DatasetError(shown(str(path)), "is not a file name", expected) from None
    try:
        _check_kind(path, os.fstat(file.fileno()), expected)
        _check_start(path, file, expected, () if zipped else (_ZIP,))
    except DatasetError:
        file.close()
        raise
    return file


def _check_start(
    path: Path, file: BinaryIO, expected: str, others: tuple[tuple[bytes, str, str], ...]
) -> None:
    try:
        start = file.read(len(_POINTER[0]))
        file.seek(0)
    except OSError as error:
        raise DatasetError(path, f"cannot be read ({error.strerror})", expected) from None
    for begin, said, hint in (_POINTER, *others):
        if start.startswith(begin):
            raise DatasetError(path, said, expected, hint=hint)


def _check_kind(path: Path, found: os.stat_result, expected: str) -> None:
    for test, said in _KINDS:
        if test(found.st_mode):
            raise DatasetError(path, said, expected)


def size_of(file: BinaryIO) -> int:
    """Return the number of bytes of an open file."""
    return os.fstat(file.fileno()).st_size


def read_bytes(path: Path, most: int | None = None, expected: str = "a file") -> bytes:
    """Return the contents of a file.

    Args:
        path: The file.
        most: The largest number of bytes; at most half of the memory, which is the default.
        expected: A description of the expected file, for errors.

    Raises:
        DatasetError: See `opened`, or the file is too large.
    """
    with opened(path, expected) as file:
        return taken(path, file, size_of(file), most)


def taken(path: Path, file: BinaryIO, size: int, most: int | None = None) -> bytes:
    """Return the next `size` bytes of an open file.

    Raises:
        DatasetError: There are too many bytes, or they cannot be read.
    """
    limit = _half_of_memory() if most is None else min(most, _half_of_memory())
    if size > limit:
        raise DatasetError(path, f"has {size} bytes", f"at most {limit} bytes")
    with understood(path, "a file that can be read and fits into memory"):
        found = file.read(size)
    if len(found) < size:
        raise DatasetError(path, f"ended after {len(found)} of {size} bytes", "a file at rest")
    return found


def check_claim(path: Path, claimed: int, size: int) -> None:
    """Check that packed bytes can hold as many as their header claims, and memory as well.

    Args:
        path: The file.
        claimed: The number of bytes that are to be unpacked.
        size: The number of packed bytes.

    Raises:
        DatasetError: There are too many.
    """
    most = min(_PACKED * size, _half_of_memory())
    if claimed > most:
        raise DatasetError(
            path, f"says that {size} of its bytes hold {claimed}", f"at most {most} bytes"
        )


def read_text(path: Path, most: int = TEXT) -> str:
    """Return the text of a file.

    Raises:
        DatasetError: See `read_bytes`, or the file is not text in UTF-8.
    """
    try:
        text = read_bytes(path, most).decode()
        return text.removeprefix("\ufeff")  # the byte order mark of some editors
    except UnicodeDecodeError as error:
        raise DatasetError(
            path, "is not text", f"text in UTF-8, which byte {error.start} is not"
        ) from None


def _half_of_memory() -> int:
    """Return half of the memory of the machine [bytes]: decoded data is larger than its file."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # Windows
        return 2**33


@final
class _Silence:
    """Suppresses warnings while any thread parses a file.

    `warnings.catch_warnings` of several threads would restore each other's filters.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._caught = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._caught = warnings.catch_warnings()
                self._caught.__enter__()
                warnings.simplefilter("ignore")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._caught.__exit__(None, None, None)


_SILENCE = _Silence()


@contextmanager
def understood(path: Path, expected: str, hint: str | None = None) -> Generator[None]:
    """Translate all errors of a library that parses a file, and suppress its warnings.

    On broken files parsers raise errors of all kinds, such as the errors of `struct`, `zlib` and
    Python's stack.

    Raises:
        DatasetError: In place of any other error.
    """
    try:
        with _SILENCE:
            yield
    except DatasetError:
        raise
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        said = shown(said)[1:-1] if len(said) > 200 or not said.isprintable() else said
        raise DatasetError(path, f"cannot be read ({said})", expected, hint=hint) from None


def shown(value: Any) -> str:
    """Return a short, printable representation of a value for errors."""
    return "".join(c if c.isprintable() else "?" for c in _WORDS.repr(value))
