"""Writing of files, completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from difftile.diagnostics import DatasetError

PART = ".part"  # the suffix of a file while it is written


@contextmanager
def whole(path: Path) -> Generator[BinaryIO]:
    """Open a file for writing that appears under its name when the block ends.

    If the block raises an error, the former file stays, and the new one is removed.

    Args:
        path: The file to write or to replace.

    Raises:
        DatasetError: A folder, a pipe or a device has that name.
        OSError: The file cannot be written; it names the file.
    """
    if path.exists() and not path.is_file():
        raise DatasetError(path, "is not a file", "a file to replace, or none")
    part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    part.unlink(missing_ok=True)
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # or a loss of power could leave the name with no contents
        os.replace(part, path)
    except BaseException as error:  # also an interruption
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # as of a write to a full disk
            if error.errno is None:
                raise OSError(f"{path}: {error}") from error
            error.filename = os.fspath(path)
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, completely or not at all."""
    with whole(path) as file:
        file.write(content)
