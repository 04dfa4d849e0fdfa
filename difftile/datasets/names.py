"""File names in files of cameras, and the files that they mean.

Data sets move between systems and converters: 'a.jpg' may be there as 'a.JPG' or 'a.jpeg', and
names of Windows have backslashes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import final

from difftile.files.inside import Folder

ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp")
_SAME = ({".jpg", ".jpeg"}, {".tif", ".tiff"})  # endings of one format


@final
class PictureNames:
    """The files of a data set by the names that its files of cameras have for them.

    Args:
        inside: The folder of the data set.
    """

    def __init__(self, inside: Folder) -> None:
        self._inside = inside
        self._listed: dict[str, dict[str, list[str]]] = {}
        self.renamed: list[str] = []  # names that differ from those of their files, in words

    def find(self, folder: Path, name: str, by: Path, place: str, *, tell: bool = True) -> Path:
        """Return the file that a name means; the path of the name itself if no file is there.

        A name without the ending of a picture means a file with any of them, as in Blender's files.

        Args:
            folder: The folder that the name is relative to.
            name: The name.
            by: The file that contains the name, for errors.
            place: The position in that file, for errors.
            tell: Whether `renamed` gets a name that differs.

        Raises:
            DatasetError: The name is not a file name, or leaves the folder of the data set.
        """
        path = self._inside.within(folder, name, by, place)
        if os.path.exists(path):
            return path
        slashed = name.replace("\\", "/")
        if slashed != name and os.path.exists(self._inside.within(folder, slashed, by, place)):
            found = slashed
        else:
            found = self._alike(folder, slashed)
        if found is None:
            return path
        if tell and (slashed != name or Path(name).suffix.lower() in ENDINGS):
            self.renamed.append(f"{found} for {name}")
        return self._inside.within(folder, found, by, place)

    def _alike(self, folder: Path, name: str) -> str | None:
        """Return the only name of a file that differs from `name` in case or ending."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts:
            return None
        found: list[str] = []
        for k, part in enumerate(parts):
            listed = self._entries(folder.joinpath(*found))
            last = k == len(parts) - 1
            keys = [part.casefold(), *(_others(part) if last else ())]
            some = next((listed[key] for key in keys if key in listed), [])
            exact = [one for one in some if one == part] or some
            if len(exact) != 1:
                return None
            found += exact
        return "/".join(found)

    def _entries(self, folder: Path) -> dict[str, list[str]]:
        """Return the names in a folder, by the name in small letters."""
        key = os.fspath(folder)
        if key not in self._listed:
            found: dict[str, list[str]] = {}
            try:
                for name in sorted(os.listdir(folder)):
                    found.setdefault(name.casefold(), []).append(name)
            except OSError:  # it is not there, or not a folder
                found = {}
            self._listed[key] = found
        return self._listed[key]


def _others(name: str) -> list[str]:
    """Return the names that a picture may have too, in small letters."""
    stem, ending = os.path.splitext(name.casefold())
    if ending not in ENDINGS:
        return [name.casefold() + one for one in ENDINGS]
    return [stem + one for group in _SAME if ending in group for one in sorted(group - {ending})]
