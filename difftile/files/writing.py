"""Writing files: whole ones or none."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from difftile.diagnostics import DatasetError

PART = ".part"  # how the name of a file ends while it is written


@contextmanager
def whole(path: Path) -> Generator[BinaryIO]:
    """Give a file to write into, which appears under its name when the block ends.

    If it ends with an error, what was there before stays, and nothing is left of the new file.

    Args:
        path: The file to write or to replace.

    Raises:
        DatasetError: There is a folder, a pipe or a device of that name.
        OSError: It cannot be written.
    """
    if path.exists() and not path.is_file():
        raise DatasetError(path, "is no file", "a file to replace, or none")
    part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    part.unlink(missing_ok=True)
    try:
        with part.open("xb") as file:
            yield file
        os.replace(part, path)
    except BaseException:  # an interruption as well
        part.unlink(missing_ok=True)
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole, or not at all."""
    with whole(path) as file:
        file.write(content)
