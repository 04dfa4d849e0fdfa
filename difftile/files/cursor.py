"""Reading a binary file from its beginning to its end, with errors that say where it breaks."""

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
    """A place in the bytes of a file.

    Args:
        path: The file.

    Raises:
        DatasetError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._bytes = read_bytes(path)
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes follow."""
        return len(self._bytes) - self._at

    def take(self, size: int, what: str) -> bytes:
        """Return the next bytes and go past them.

        Args:
            size: How many.
            what: What they are, for the error.

        Raises:
            DatasetError: The file ends before.
        """
        if size > self.left:
            raise DatasetError(
                self.path,
                f"ends after {len(self._bytes)} bytes, in the middle of {what}",
                f"{size - self.left} bytes more",
            )
        self._at += size
        return self._bytes[self._at - size : self._at]

    def numbers(self, layout: str, what: str) -> tuple[Any, ...]:
        """Return numbers in the layout of `struct`, little endian and packed."""
        packed = struct.Struct(f"<{layout}")
        return packed.unpack(self.take(packed.size, what))

    def array(self, dtype: npt.DTypeLike, count: int, what: str) -> npt.NDArray[Any]:
        """Return an array of that many elements."""
        kind = np.dtype(dtype)
        return np.frombuffer(self.take(kind.itemsize * count, what), kind)

    def text(self, what: str) -> str:
        """Return a text that ends with a zero byte, in UTF-8."""
        end = self._bytes.find(b"\0", self._at)
        if end < 0:
            raise DatasetError(
                self.path,
                f"ends after {len(self._bytes)} bytes, in the middle of {what}",
                "a zero byte behind it",
            )
        raw = self.take(end - self._at, what)
        self._at = end + 1
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise DatasetError(
                self.path, f"{what} is {shown(raw)}", f"text in UTF-8, before byte {self._at}"
            ) from None

    def count(self, least: int, what: str) -> int:
        """Return a count of 64 bits, of records that take at least so many bytes each.

        Raises:
            DatasetError: The file is too short for that many.
        """
        (number,) = self.numbers("Q", f"the number of {what}")
        if number * least > self.left:
            raise DatasetError(
                self.path,
                f"says that it holds {number} {what}, and {self.left} bytes follow",
                f"at least {number * least} bytes after byte {self._at}",
            )
        return number

    def end(self) -> None:
        """Check that nothing follows.

        Raises:
            DatasetError: Something does.
        """
        if self.left:
            raise DatasetError(
                self.path, f"has {self.left} bytes more than its counts say", "the end of the file"
            )
