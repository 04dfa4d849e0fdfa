"""Files of splats, by their suffix."""

from __future__ import annotations

from pathlib import Path

from difftile.datasets.antimatter import read_dot_splat, write_dot_splat
from difftile.datasets.inria import read_splat_ply, write_splat_ply
from difftile.datasets.load import PathLike
from difftile.datasets.splats import Splats
from difftile.diagnostics import DatasetError
from difftile.tracebacks import boundary

_READERS = {".ply": read_splat_ply, ".splat": read_dot_splat}
_WRITERS = {".ply": write_splat_ply, ".splat": write_dot_splat}


@boundary
def read_splats(path: PathLike) -> Splats:
    """Return the splats of a `.ply` or `.splat` file.

    A `.ply` may be written by the INRIA code, gsplat or nerfstudio, with 0, 9, 24 or 45 properties
    `f_rest`, or packed by SuperSplat. Rows that are not finite, or have a zero quaternion, are left
    out; `Splats.dropped` counts them. Infinite logits of opacities of exactly 1 or 0 become finite;
    `Splats.clamped` counts them.

    Raises:
        DatasetError: The file is missing, broken, or of another kind.
    """
    file = Path(path)
    return _READERS[_kind(file)](file)


@boundary
def write_splats(path: PathLike, splats: Splats) -> int:
    """Write splats as `.ply` (as the INRIA code does) or `.splat`.

    Rows that are not finite, or have a zero quaternion, are left out. A file of the INRIA code that
    was read is written as the same bytes.

    Returns:
        The number of rows that were left out.

    Raises:
        DatasetError: The name has another suffix.
    """
    file = Path(path)
    return _WRITERS[_kind(file)](file, splats)


def _kind(path: Path) -> str:
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise DatasetError(path, f"ends with '{kind}'", "a name that ends with .ply or .splat")
    return kind
