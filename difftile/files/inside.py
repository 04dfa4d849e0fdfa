"""File names inside of data files, confined to a folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import final

from difftile.diagnostics import DatasetError
from difftile.files.regular import shown

_LONGEST = 4096  # characters of a name
_TRUST = (
    "if you trust the data set, allow it: load(..., allow_outside=True), or "
    "'difftile train --allow-outside'."
)


@final
@dataclass(frozen=True, slots=True)
class Folder:
    """A folder whose files refer to other files.

    Args:
        root: The folder.
        outside: Whether names may leave it, by '..', as absolute paths or through links.
        also: Further folders that names may lead to.
        hint: How to allow names outside, for errors; None if that is not possible.
    """

    root: Path
    outside: bool = False
    also: tuple[Path, ...] = ()
    hint: str | None = _TRUST

    def within(self, folder: Path, name: str, by: Path, place: str) -> Path:
        """Return the path of a name.

        Args:
            folder: The folder that the name is relative to.
            name: The name.
            by: The file that contains the name, for errors.
            place: The position in that file, for errors.

        Raises:
            DatasetError: The name is not a file name, or leaves the folder.
        """
        if not name or len(name) > _LONGEST or not name.isprintable():
            raise DatasetError(by, f"{place} is {shown(name)}", "the name of a file")
        path = folder / name
        if not self.outside and not self.holds(path):
            raise DatasetError(
                by,
                f"{place} is {shown(name)}, which leads out of {shown(str(self.root))}",
                "a file in that folder",
                hint=self.hint,
            )
        return path

    def holds(self, path: Path) -> bool:
        """Return whether a path is in the folder after resolving all links."""
        real = os.path.realpath(path)
        roots = (os.path.realpath(root) for root in (self.root, *self.also))
        return any(Path(real).is_relative_to(root) for root in roots)
