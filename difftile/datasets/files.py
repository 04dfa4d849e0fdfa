"""Files of splats, by the ending of their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from difftile.datasets.antimatter import read_dot_splat, write_dot_splat
from difftile.datasets.inria import read_splat_ply, write_splat_ply
from difftile.datasets.ksplat import read_ksplat, write_ksplat
from difftile.datasets.load import PathLike
from difftile.datasets.packed import write_packed_ply
from difftile.datasets.sog import META, read_sog, write_sog
from difftile.datasets.splats import Splats
from difftile.datasets.spz import read_spz, write_spz
from difftile.diagnostics import DatasetError
from difftile.tracebacks import boundary


@dataclass(frozen=True, slots=True)
class _Format:
    """How files with an ending are read and written; `write` returns the dropped rows."""

    read: Callable[[Path], Splats]
    write: Callable[[Path, Splats], int] | None


# The first ending that a name has decides.
FORMATS = {
    ".compressed.ply": _Format(read_splat_ply, write_packed_ply),
    ".ply": _Format(read_splat_ply, write_splat_ply),
    ".spz": _Format(read_spz, write_spz),
    ".sog": _Format(read_sog, write_sog),
    ".ksplat": _Format(read_ksplat, write_ksplat),
    ".splat": _Format(read_dot_splat, write_dot_splat),
    META: _Format(read_sog, None),
}


@boundary
def read_splats(path: PathLike) -> Splats:
    """Return the splats of a `.ply`, `.spz`, `.sog`, `.ksplat` or `.splat` file.

    A `.ply` may be written by the INRIA code, gsplat, nerfstudio or Mip-Splatting, whose blur in
    space becomes a part of scales and opacities, with 0, 9, 24 or 45 properties `f_rest`; or packed
    by SuperSplat. The `meta.json` of a SOG folder is read as well. Rows that are not finite, or
    have a zero quaternion, are left out; `Splats.dropped` counts them. Infinite logits of opacities
    of exactly 1 or 0 become finite; `Splats.clamped` counts them.

    Raises:
        DatasetError: The file is missing, broken, or of another kind.
    """
    file = Path(path)
    return _format_of(file).read(file)


@boundary
def write_splats(path: PathLike, splats: Splats) -> int:
    """Write splats in the format that the ending of the name says.

    A `.ply` is the one of the INRIA code, with all digits; a `.compressed.ply`, `.spz`, `.sog`,
    `.ksplat` or `.splat` has fewer. Rows that are not finite, or have a zero quaternion, are left
    out. A file of the INRIA code that was read is written as the same bytes.

    Returns:
        The number of rows that were left out.

    Raises:
        DatasetError: The name has another ending, or the format cannot hold the splats.
    """
    file = Path(path)
    write = _format_of(file).write
    if write is None:
        raise DatasetError(file, "is the list of a folder", "the name of one file, as scene.sog")
    return write(file, splats)


def _format_of(path: Path) -> _Format:
    for ending, found in FORMATS.items():
        if path.name.lower().endswith(ending):
            return found
    *names, last = (name for name in FORMATS if name.startswith("."))
    raise DatasetError(
        path, f"ends with '{path.suffix}'", f"a name that ends with {', '.join(names)} or {last}"
    )
