"""Names of files that a file gives: they stay in its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from difftile.diagnostics import DatasetError
from difftile.files.regular import shown

_LONGEST = 4096  # characters of a name


@final
@dataclass(frozen=True, slots=True)
class Folder:
    """A folder whose files name other files.

    Args:
        root: The folder.
        outside: Whether names may lead out of it, by '..', as whole paths or through links.
        also: Other folders that names may lead to, which the caller has named.
    """

    root: Path
    outside: bool = False
    also: tuple[Path, ...] = ()

    def within(self, folder: Path, name: str, by: Path, place: str) -> Path:
        """Return the path of a name.

        Args:
            folder: What the name begins from.
            name: The name.
            by: The file that gives it, for errors.
            place: Where it does, for errors.

        Raises:
            DatasetError: It is no name, or leads out of the folder.
        """
        if not name or len(name) > _LONGEST or not _is_plain(name):
            raise DatasetError(by, f"{place} is {shown(name)}", "the name of a file")
        path = folder / name
        if not self.outside and not self.holds(path):
            raise DatasetError(
                by,
                f"{place} is {shown(name)}, which leads out of {shown(str(self.root))}",
                "a file in that folder",
                hint="if you trust the data set, allow it: load(..., allow_outside=True), or "
                "'difftile train --allow-outside'.",
            )
        return path

    def holds(self, path: Path) -> bool:
        """Return whether a path is in the folder after all its links are followed."""
        real = os.path.realpath(path)
        return any(Path(real).is_relative_to(root) for root in self._roots())

    def _roots(self) -> Iterator[str]:
        return (os.path.realpath(root) for root in (self.root, *self.also))


def _is_plain(name: str) -> bool:
    """Return whether each character has an encoding and can be printed."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return name.isprintable()
