"""Sequential reading of binary files, with errors that name the position of a defect."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import DatasetError
from difftile.files.regular import read_bytes, shown


@final
class Cursor:
    """A position in the bytes of a file.

    Args:
        path: The file.

    Raises:
        DatasetError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._bytes = read_bytes(path)
        self._at = 0

    @property
    def left(self) -> int:
        """The number of remaining bytes."""
        return len(self._bytes) - self._at

    def take(self, size: int, name: str) -> bytes:
        """Return the next bytes and advance.

        Args:
            size: The number of bytes.
            name: Their meaning, for the error.

        Raises:
            DatasetError: The file ends before.
        """
        if size > self.left:
            raise DatasetError(
                self.path,
                f"ends after {len(self._bytes)} bytes, in the middle of {name}",
                f"{size - self.left} bytes more",
            )
        self._at += size
        return self._bytes[self._at - size : self._at]

    def numbers(self, layout: str, name: str) -> tuple[Any, ...]:
        """Return numbers in a layout of `struct`, little endian and packed."""
        packed = struct.Struct(f"<{layout}")
        return packed.unpack(self.take(packed.size, name))

    def array(self, dtype: npt.DTypeLike, count: int, name: str) -> npt.NDArray[Any]:
        """Return an array of `count` elements."""
        kind = np.dtype(dtype)
        return np.frombuffer(self.take(kind.itemsize * count, name), kind)

    def text(self, name: str) -> str:
        """Return a zero-terminated text in UTF-8."""
        end = self._bytes.find(b"\0", self._at)
        if end < 0:
            raise DatasetError(
                self.path,
                f"ends after {len(self._bytes)} bytes, in the middle of {name}",
                "a zero byte after it",
            )
        raw = self.take(end - self._at, name)
        self._at = end + 1
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise DatasetError(
                self.path, f"{name} is {shown(raw)}", f"text in UTF-8, before byte {self._at}"
            ) from None

    def count(self, least: int, name: str) -> int:
        """Return a count of 64 bits, of records of at least `least` bytes each.

        Raises:
            DatasetError: The file is too short for this count.
        """
        (number,) = self.numbers("Q", f"the number of {name}")
        if number * least > self.left:
            raise DatasetError(
                self.path,
                f"says that it holds {number} {name}, and {self.left} bytes follow",
                f"at least {number * least} bytes after byte {self._at}",
            )
        return number

    def end(self) -> None:
        """Check that no bytes remain.

        Raises:
            DatasetError: Some bytes remain.
        """
        if self.left:
            raise DatasetError(
                self.path, f"has {self.left} bytes more than its counts say", "the end of the file"
            )
