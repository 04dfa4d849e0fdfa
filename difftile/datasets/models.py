"""The models of COLMAP in a folder: it makes several, of which the largest is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from difftile.datasets.colmap import Reconstruction
from difftile.datasets.colmap_binary import count_binary, read_binary
from difftile.datasets.colmap_text import count_text, read_text
from difftile.datasets.gather import pictures
from difftile.diagnostics import DatasetError
from difftile.files.inside import Folder
from difftile.files.regular import shown

_SPARSE = ("sparse", "colmap/sparse")  # folders of models; each may be a model itself
_NUMBER = "the number or the folder of a model of COLMAP, such as 'sparse/1'"
_OTHER = "to read another model, write load(..., model='sparse/0'), or --model sparse/0."


@dataclass(frozen=True, slots=True)
class _Files:
    read: Callable[[Path], Reconstruction]
    count: Callable[[Path], int]


_KINDS = {
    "cameras.bin": _Files(read_binary, count_binary),
    "cameras.txt": _Files(read_text, count_text),
}


@final
@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model of COLMAP.

    Args:
        name: Its folder, relative to the folder of the data set.
        file: The name of its file of cameras, of which it has one at least.
        notes: Descriptions of the other models.
    """

    name: str
    file: str
    notes: tuple[str, ...] = ()

    def read(self, inside: Folder) -> Reconstruction:
        """Return the contents.

        Raises:
            DatasetError: A file is missing or broken, or a link leads out of the folder.
        """
        return _KINDS[self.file].read(self._within(inside, "cameras", "images", "points3D"))

    def count(self, inside: Folder) -> int:
        """Return the number of its pictures.

        Raises:
            DatasetError: See `read`.
        """
        try:
            return _KINDS[self.file].count(self._within(inside, "images"))
        except DatasetError as error:
            raise DatasetError(error.path, error.found, error.expected, hint=_OTHER) from None

    def _within(self, inside: Folder, *parts: str) -> Path:
        folder = inside.root / self.name
        for part in parts:
            inside.within(folder, part + Path(self.file).suffix, inside.root, "a file of COLMAP")
        return folder


def find_model(inside: Folder, chosen: str | None) -> ModelFolder | None:
    """Return the chosen or the largest of the numbered models; None for a folder without models.

    Args:
        inside: The folder of the data set.
        chosen: The number or the folder of a model, if it is not to be the largest.

    Raises:
        DatasetError: The chosen model is not there, or a model cannot be counted.
    """
    groups = [[*_numbered(inside, name)] for name in _SPARSE]
    if chosen is not None:
        return _chosen(inside, chosen, [one for group in groups for one in group])
    for name, group in zip(_SPARSE, groups, strict=True):
        if group:
            return _largest(inside, group)
        if (model := _model(inside, name)) is not None:
            return model
    return _model(inside, ".")


def _chosen(inside: Folder, chosen: str, numbered: list[ModelFolder]) -> ModelFolder:
    named = next((one for one in numbered if Path(one.name).name == chosen), None)
    if named is None:
        inside.within(inside.root, chosen, inside.root, "the model")
        named = _model(inside, Path(chosen).as_posix())
    if named is None:
        known = ", ".join(one.name for one in numbered)
        raise DatasetError(
            inside.root,
            f"has no model {shown(chosen)} of COLMAP",
            f"one of {known}" if known else _NUMBER,
        )
    return named


def _largest(inside: Folder, models: list[ModelFolder]) -> ModelFolder:
    if len(models) == 1:
        return models[0]
    counts = {one: one.count(inside) for one in models}
    largest = max(models, key=lambda one: counts[one])  # the first of equals
    notes = (
        f"{one.name} is another model, of {pictures(counts[one])}: --model {one.name} reads it"
        for one in models
        if one is not largest
    )
    return ModelFolder(largest.name, largest.file, (*notes,))


def _numbered(inside: Folder, parent: str) -> Iterator[ModelFolder]:
    """Yield the models in folders with a number, in the order of numbers."""
    try:
        names = sorted(filter(str.isdecimal, os.listdir(inside.root / parent)), key=int)
    except OSError:  # there is no such folder
        return
    for name in names:
        if (model := _model(inside, f"{parent}/{name}")) is not None:
            yield model


def _model(inside: Folder, name: str) -> ModelFolder | None:
    for file in _KINDS:
        if os.path.exists(inside.root / name / file):
            return ModelFolder(name, file)
    return None
