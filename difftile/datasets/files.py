"""Splats as files, by the ending of their names."""

from __future__ import annotations

from pathlib import Path

from difftile.datasets.antimatter import read_dot_splat, write_dot_splat
from difftile.datasets.inria import read_splat_ply, write_splat_ply
from difftile.datasets.load import PathLike
from difftile.datasets.splats import Splats
from difftile.diagnostics import DatasetError

_READERS = {".ply": read_splat_ply, ".splat": read_dot_splat}
_WRITERS = {".ply": write_splat_ply, ".splat": write_dot_splat}


def read_splats(path: PathLike) -> Splats:
    """Return the splats of a `.ply` or `.splat` file.

    A `.ply` may be that of the INRIA code, gsplat or nerfstudio, with 0, 9, 24 or 45 properties
    `f_rest`, or one that SuperSplat has packed. Rows that are not finite, or have a quaternion of
    no length, are left out; `Splats.dropped` counts them.

    Raises:
        DatasetError: The file is missing, broken, or of another kind.
    """
    file = Path(path)
    return _READERS[_kind(file)](file)


def write_splats(path: PathLike, splats: Splats) -> int:
    """Write splats as `.ply` (as the INRIA code does) or `.splat`.

    Rows that are not finite, or have a quaternion of no length, are left out. What was read from
    the file of the INRIA code is written as the same bytes.

    Returns:
        How many rows were left out.

    Raises:
        DatasetError: The name ends otherwise.
    """
    file = Path(path)
    return _WRITERS[_kind(file)](file, splats)


def _kind(path: Path) -> str:
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise DatasetError(path, f"ends with '{kind}'", "a name that ends with .ply or .splat")
    return kind
