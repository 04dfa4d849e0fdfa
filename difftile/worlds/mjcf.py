"""What a text of MJCF or URDF would have MuJoCo read and make, checked before MuJoCo does.

Names of files are found as MuJoCo finds them: `<include>` and `<model>` from the folder of the
model, assets from the folders that `<compiler>` names. Source: MuJoCo's documentation, "XML
reference", and its reader.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import final
from xml.etree.ElementTree import Element, ParseError, fromstring

import difftile as dt
from difftile.files.inside import Folder
from difftile.files.regular import read_text, shown

MOST = 100_000  # elements of a model, those of replicates included; MuJoCo needs minutes for more
_LARGEST = 2**26  # numbers of a height field and the like, half a gigabyte in MuJoCo
_TRUST = "if you trust the model, allow it: worlds.load(..., allow_outside=True)."
_TEXT = Path("the text of the model")
_FILES = {"file", "filename"} | {
    f"file{side}" for side in ("right", "left", "up", "down", "front", "back")
}
# The attribute of <compiler> that says where files of a kind are; without it, `assetdir` does.
_FOLDERS = {"mesh": "meshdir", "texture": "texturedir"}
_EITHER = ("hfield", "skin")  # by `assetdir`, or in earlier releases by `meshdir`
_SIZES = {"hfield": ("nrow", "ncol"), "texture": ("width", "height"), "user": ("dim",)}
_STACK = {"memory", "njmax", "nconmax", "nstack"}  # of <size>, which a model does not allocate


def check_mjcf(given: str | Path, outside: bool) -> None:
    """Check the files that a model names, and the number of its elements.

    Args:
        given: The file of the model, or its text, whose names are relative to the working folder.
        outside: Whether names may lead out of the folder of the model.

    Raises:
        DatasetError: A name leads out of the folder, the text is not XML, or the model is large.
    """
    folder = given.parent if isinstance(given, Path) else Path.cwd()
    reader = _Reader(Folder(folder, outside, hint=_TRUST))
    if isinstance(given, Path):
        reader.size_of(given, read_text(given))
    else:
        reader.size_of(_TEXT, given)


@final
class _Reader:
    """The files of a model.

    Args:
        inside: The folder of the model.
    """

    def __init__(self, inside: Folder) -> None:
        self._inside = inside
        self._open: list[Path] = []  # models, each attached to the one before

    def size_of(self, by: Path, text: str) -> int:
        """Return the number of elements of a model, those that it attaches included."""
        folder = self._inside.root if by == _TEXT else by.parent
        if by in self._open:
            raise dt.DatasetError(by, "attaches itself", "models that do not")
        self._open.append(by)
        root = _parsed(by, text)
        self._include(root, by, folder)
        settings = [one for one in root.iter() if _tag(one) == "compiler"]
        models: dict[str, int] = {}
        for element in root.iter():
            self._check_files(element, by, folder, settings, _tag(root) == "robot")
            if _tag(element) == "model" and (file := _name_of(element)):
                path = _reduced(folder, file)
                if path.is_file():
                    models[element.get("name", file)] = self.size_of(path, read_text(path))
        count, largest = 0, max(models.values(), default=1)  # of a model named in its file
        for element, times in _replicated(root):
            attached = _tag(element) == "attach"
            count += times * (models.get(element.get("model", ""), largest) if attached else 1)
            if count > MOST:
                raise dt.DatasetError(
                    by,
                    f"has more than {MOST} elements, with its replicates",
                    hint="lower their count.",
                )
        for element in root.iter():
            _check_size(element, by, count)
        self._open.pop()
        return count

    def _include(self, root: Element, by: Path, folder: Path) -> None:
        """Replace included files by their elements; their names may be relative to either folder.

        Args:
            root: The tree of a model.
            by, folder: Its file and folder.
        """
        included: set[Path] = set()  # MuJoCo refuses to read a file twice
        parents = [(root, by, folder)]
        while parents:
            parent, by, here = parents.pop()
            for k in reversed(range(len(parent))):
                child = parent[k]
                if _tag(child) != "include":
                    parents.append((child, by, here))
                    continue
                del parent[k]
                file = _name_of(child)
                places = [_reduced(at, file) for at in (folder, here) if file]
                path = next((one for one in places if one.is_file()), None)
                if path is not None and path not in included:
                    self._check_place(path, by, "an include")
                    included.add(path)
                    found = _parsed(path, read_text(path))
                    parents.append((found, path, path.parent))
                    parent.insert(k, found)

    def _check_place(self, path: Path, by: Path, kind: str) -> None:
        root = self._inside.root
        self._inside.within(root, os.path.relpath(path, root), by, f"the file of {kind}")

    def _check_files(
        self, element: Element, by: Path, folder: Path, settings: list[Element], urdf: bool
    ) -> None:
        kind, name = _tag(element), element.get("name", "")
        stripped = [one.get("strippath") == "true" for one in settings if one.get("strippath")]
        for key, value in element.attrib.items():
            file = value.replace("\\", "/")
            if key not in _FILES or not file:
                continue
            if kind != "model" and (all(stripped) if stripped else urdf):
                file = os.path.basename(file)
            named = {
                key: {one.get(key, "") for one in settings if key in one.attrib}
                for key in ("assetdir", "meshdir", "texturedir")
            }
            folders = {""}
            if kind in _FOLDERS:
                folders = named[_FOLDERS[kind]] or named["assetdir"] or folders
                if "" in folders:  # with `assetdir`, in some releases
                    folders |= named["assetdir"]
            elif kind in _EITHER:
                folders |= named["assetdir"] | named["meshdir"]
            for one in folders:
                at = _reduced(folder, one.replace("\\", "/"))
                path = _reduced(at, file.removeprefix("package://"))
                self._check_place(path, by, f"{kind} {shown(name)}")


def _check_size(element: Element, by: Path, count: int) -> None:
    """Check the size of what is described by its size alone; <size> does so for all elements."""
    kind = _tag(element)
    sides = {key: _whole(element.get(key, "")) for key in _SIZES.get(kind, ())}
    found = [(sides, math.prod(sides.values()))] if sides else []
    if kind == "size":
        each = {key: _whole(value) for key, value in element.attrib.items() if key not in _STACK}
        found = [({key: size}, size * count) for key, size in each.items()]
    for sizes, numbers in found:
        if numbers > _LARGEST:
            said = " and ".join(f"{key} {size}" for key, size in sizes.items())
            raise dt.DatasetError(
                by, f"has <{kind}> with {said}", f"{_LARGEST} numbers in all, or fewer"
            )


def _replicated(root: Element) -> Iterator[tuple[Element, int]]:
    """Yield the elements of a tree, each with the number of its copies."""
    left = [(root, 1)]
    while left:
        element, times = left.pop()
        if _tag(element) in ("replicate", "flexcomp", "composite"):
            for side in element.get("count", "").split():
                times *= max(1, _whole(side))
        yield element, times
        left += [(child, times) for child in element]


def _parsed(by: Path, text: str) -> Element:
    # MuJoCo's parser reads no entities, so that their texts could hide names from this one.
    if "<!DOCTYPE" in text:
        raise dt.DatasetError(by, "has a <!DOCTYPE", "MJCF or URDF without one")
    try:
        return fromstring(text)
    except (ParseError, ValueError, RecursionError) as error:
        raise dt.DatasetError(by, f"is not XML ({error})", "MJCF or URDF") from None


def _tag(element: Element) -> str:
    """Return the kind of an element, which MuJoCo compares without namespace or case."""
    return str(element.tag).rpartition("}")[2].lower()


def _reduced(folder: Path, name: str) -> Path:
    """Return a path as MuJoCo opens it, which takes '..' out of it before links are followed."""
    return Path(os.path.normpath(folder / name))


def _name_of(element: Element) -> str:
    return element.get("file", "").replace("\\", "/")


def _whole(text: str) -> int:
    """Return a whole number, or 0 for what MuJoCo will refuse."""
    try:
        return max(0, int(float(text)))
    except (ValueError, OverflowError):
        return 0
