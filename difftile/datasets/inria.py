"""Splats as `.ply` files of the INRIA code, gsplat and nerfstudio, and packed by SuperSplat.

Properties are found by name, in any order and among others. `f_rest` is channel-major: all
coefficients of red, then of green, then of blue. SuperSplat packs a splat into 16 bytes, relative
to the bounds of chunks of 256.

Source: github.com/graphdeco-inria/gaussian-splatting, and the format of PlayCanvas SuperSplat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.datasets.ply import Table, read_ply, write_ply
from difftile.datasets.splats import C0, DEGREES, Floats, Splats, logit_of_byte
from difftile.diagnostics import DatasetError
from difftile.files.regular import shown

_CENTRE = ("x", "y", "z")
_NORMAL = ("nx", "ny", "nz")
_SCALE = ("scale_0", "scale_1", "scale_2")
_ROTATION = ("rot_0", "rot_1", "rot_2", "rot_3")
_CONSTANT = ("f_dc_0", "f_dc_1", "f_dc_2")
_NEEDED = (*_CENTRE, *_CONSTANT, "opacity", *_SCALE, *_ROTATION)
_PACKED = ("packed_position", "packed_rotation", "packed_scale", "packed_color")
_CHUNK = 256  # splats that share their bounds


def read_splat_ply(path: Path) -> Splats:
    """Return the splats of a `.ply` file; rows that are not finite are dropped and counted.

    Raises:
        DatasetError: The file is broken, or contains no splats.
    """
    tables = read_ply(path)
    if "vertex" not in tables:
        raise DatasetError(path, f"has the elements {shown([*tables])}", "an element 'vertex'")
    names = tables["vertex"].dtype.names or ()
    if {*_PACKED} <= {*names}:
        return _unpacked(path, tables).kept()
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        points = {*_CENTRE} <= {*names} and len(missing) == len(_NEEDED) - len(_CENTRE)
        raise DatasetError(
            path,
            f"element 'vertex' has no {', '.join(map(repr, missing))}",
            "the properties of splats",
            hint="this is a point cloud; train splats from it." if points else None,
        )
    rest = _rest(path, names)
    vertex = tables["vertex"]
    return Splats(
        means=_columns(vertex, _CENTRE),
        scales=_columns(vertex, _SCALE),
        quaternions=_columns(vertex, _ROTATION),
        opacities=_columns(vertex, ("opacity",))[:, 0],
        sh0=_columns(vertex, _CONSTANT),
        shN=_by_coefficient(_columns(vertex, rest)),
    ).kept()


def write_splat_ply(path: Path, splats: Splats, *, normals: bool = True) -> int:
    """Write splats as the INRIA code does; return the number of dropped rows, which are not finite.

    Args:
        path: The file.
        splats: The splats.
        normals: Write the columns nx, ny, nz of zeros that the INRIA code writes.
    """
    kept = splats.kept()
    rest = kept.shN.transpose(0, 2, 1).reshape(len(kept), 3 * kept.shN.shape[1])
    columns: dict[str, Floats] = dict(zip(_CENTRE, kept.means.T, strict=True))
    if normals:
        columns |= dict.fromkeys(_NORMAL, np.zeros(len(kept), np.float32))
    columns |= zip(_CONSTANT, kept.sh0.T, strict=True)
    columns |= {f"f_rest_{k}": column for k, column in enumerate(rest.T)}
    columns |= {"opacity": kept.opacities}
    columns |= zip(_SCALE, kept.scales.T, strict=True)
    columns |= zip(_ROTATION, kept.quaternions.T, strict=True)
    vertex = np.empty(len(kept), [(name, "<f4") for name in columns])
    for name, column in columns.items():
        vertex[name] = column
    write_ply(path, {"vertex": vertex})
    return kept.dropped - splats.dropped


def _columns(table: Table, names: tuple[str, ...]) -> Floats:
    columns = [_single(table[name]) for name in names]
    return np.stack(columns, axis=1) if columns else np.empty((len(table), 0), np.float32)


def _single(values: npt.NDArray[Any]) -> Floats:
    with np.errstate(over="ignore"):  # dropped as infinite
        return np.asarray(values, np.float32)


def _rest(path: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names f_rest_0, f_rest_1, ... of a table."""
    count = sum(name.startswith("f_rest_") for name in names)
    rest = tuple(f"f_rest_{k}" for k in range(count))
    if count // 3 not in DEGREES or count % 3 or not {*rest} <= {*names}:
        raise DatasetError(
            path,
            f"has {count} properties that begin with 'f_rest_'",
            "0, 9, 24 or 45, numbered from f_rest_0",
        )
    return rest


def _by_coefficient(rest: Floats) -> Floats:
    """Return (n, k, 3) from the channel-major (n, 3 k)."""
    return rest.reshape(len(rest), 3, rest.shape[1] // 3).transpose(0, 2, 1)


def _unpacked(path: Path, tables: Mapping[str, Table]) -> Splats:
    vertex = tables["vertex"]
    _check_types(path, "vertex", vertex, _PACKED, "iu", 4)
    chunks = -(-len(vertex) // _CHUNK)
    if "chunk" not in tables or len(tables["chunk"]) != chunks:
        raise DatasetError(
            path,
            f"has {len(tables.get('chunk', ()))} chunks for {len(vertex)} packed splats",
            f"{chunks} chunks",
        )
    chunk = tables["chunk"][np.arange(len(vertex)) // _CHUNK]
    bounds = [f"{e}_{a}{c}" for a in ("", "scale_") for c in "xyz" for e in ("min", "max")]
    names = chunk.dtype.names or ()
    coloured = "min_r" in names
    bounds += [f"{e}_{c}" for c in "rgb" for e in ("min", "max") if coloured]
    missing = [name for name in bounds if name not in names]
    if missing:
        raise DatasetError(path, f"element 'chunk' has no {', '.join(map(repr, missing))}")
    _check_types(path, "chunk", chunk, bounds, "f", 4)
    colour = _bits(vertex["packed_color"], (24, 8), (16, 8), (8, 8))
    if coloured:
        colour = _between(chunk, "min_{}", "max_{}", "rgb", colour)
    sh: Floats = np.empty((len(vertex), 0), np.float32)
    if "sh" in tables:
        if len(tables["sh"]) != len(vertex):
            raise DatasetError(path, f"has {len(tables['sh'])} rows of 'sh'", f"{len(vertex)} rows")
        rest = _rest(path, tables["sh"].dtype.names or ())
        _check_types(path, "sh", tables["sh"], rest, "u", 1)
        sh = _columns(tables["sh"], rest) * (8 / 255) - 4
    position = _bits(vertex["packed_position"], (21, 11), (11, 10), (0, 11))
    scale = _bits(vertex["packed_scale"], (21, 11), (11, 10), (0, 11))
    return Splats(
        means=_single(_between(chunk, "min_{}", "max_{}", "xyz", position)),
        scales=_single(_between(chunk, "min_scale_{}", "max_scale_{}", "xyz", scale)),
        quaternions=_rotations(vertex["packed_rotation"].astype(np.uint32)),
        opacities=logit_of_byte(vertex["packed_color"].astype(np.uint32) & 255),
        sh0=_single((colour - 0.5) / C0),
        shN=_by_coefficient(np.asarray(sh, np.float32)),
    )


def _check_types(
    path: Path, element: str, table: Table, names: Sequence[str], kinds: str, size: int
) -> None:
    for name in names:
        kind = table.dtype[name]
        if kind.kind not in kinds or kind.itemsize != size:
            wanted = {"iu": "uint", "f": "float", "u": "uchar"}[kinds]
            raise DatasetError(
                path, f"element '{element}' has '{name}' of the type {kind.name}", wanted
            )


def _bits(packed: npt.NDArray[Any], *parts: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Return groups of bits, given by position and width, as numbers in 0 ... 1."""
    words = packed.astype(np.uint32)
    return np.stack(
        [((words >> place) & ((1 << width) - 1)) / ((1 << width) - 1) for place, width in parts],
        axis=1,
    )


def _between(
    chunk: Table, low: str, high: str, axes: str, share: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    least = np.stack([chunk[low.format(axis)] for axis in axes], axis=1).astype(np.float64)
    most = np.stack([chunk[high.format(axis)] for axis in axes], axis=1).astype(np.float64)
    with np.errstate(invalid="ignore"):  # of infinite bounds, whose rows are dropped
        return least * (1 - share) + most * share


def _rotations(packed: npt.NDArray[np.uint32]) -> Floats:
    """Return quaternions from their three smaller components and the index of the largest one."""
    three = (_bits(packed, (20, 10), (10, 10), (0, 10)) - 0.5) * np.sqrt(2.0)
    largest = packed >> 30
    most = np.sqrt(np.maximum(0.0, 1.0 - np.sum(three**2, axis=1)))
    found = np.empty((len(packed), 4))
    for k in range(4):
        rows = largest == k
        found[rows] = np.insert(three[rows], k, most[rows], axis=1)
    return np.asarray(found, np.float32)
