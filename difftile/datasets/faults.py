"""Faulty pictures of a data set, reported together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from difftile.diagnostics import DatasetError
from difftile.files.regular import shown

_KINDS, _NAMED = 10, 3  # that an error describes, and files of each that it names
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
    kinds: dict[str, list[str]] = {}
    for error in faults:
        kinds.setdefault(_short(error.found), []).append(_name(folder, error))
    named = [_line(names, found) for found, names in [*kinds.items()][:_KINDS]]
    if more := sum(map(len, [*kinds.values()][_KINDS:])):
        named.append(f"and {more} more")
    expected, hints = ({getattr(one, key) for one in faults} for key in ("expected", "hint"))
    raise DatasetError(
        folder,
        f"{len(faults)} of {count} pictures cannot be used: {'; '.join(named)}",
        expected.pop() if len(expected) == 1 else None,
        hint=hints.pop() if len(hints) == 1 else None,
    )


def _line(names: Sequence[str], found: str) -> str:
    if len(names) == 1:
        return f"{names[0]} {found}"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}: {found}"


def _name(folder: Path, error: DatasetError) -> str:
    path = Path(error.path)
    return _short(os.fspath(path.relative_to(folder) if path.is_relative_to(folder) else path))


def _short(text: str) -> str:
    plain = text if text.isprintable() else shown(text)[1:-1]
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."
