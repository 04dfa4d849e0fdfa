"""Faulty pictures of a data set, reported together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from difftile.diagnostics import DatasetError
from difftile.files.regular import shown

_NAMED = 10  # faults that an error describes
_LONGEST = 100  # characters of a name or a fault among others


def check_pictures(folder: Path, faults: Sequence[DatasetError], count: int) -> None:
    """Raise the errors of pictures, if there are any: the only one, or one that lists them.

    Args:
        folder: The folder of the data set.
        faults: The errors.
        count: The number of all pictures.

    Raises:
        DatasetError: A picture is faulty.
    """
    if not faults:
        return
    if len(faults) == 1:
        raise faults[0]
    named = [_line(folder, error) for error in faults[:_NAMED]]
    if more := len(faults) - len(named):
        named.append(f"and {more} more")
    expected, hints = ({getattr(one, key) for one in faults} for key in ("expected", "hint"))
    raise DatasetError(
        folder,
        f"{len(faults)} of {count} pictures cannot be used: {'; '.join(named)}",
        expected.pop() if len(expected) == 1 else None,
        hint=hints.pop() if len(hints) == 1 else None,
    )


def _line(folder: Path, error: DatasetError) -> str:
    path = Path(error.path)
    name = path.relative_to(folder) if path.is_relative_to(folder) else path
    return f"{_short(os.fspath(name))} {_short(error.found)}"


def _short(text: str) -> str:
    plain = text if text.isprintable() else shown(text)[1:-1]
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."
