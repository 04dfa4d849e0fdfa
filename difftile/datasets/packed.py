"""Splats as `.compressed.ply` of PlayCanvas: 16 bytes each, relative to the bounds of their chunk.

A chunk has 256 splats. Positions and logarithms of sizes take 11, 10 and 11 bits along x, y and z,
colours and opacities 8 bits, and harmonics a byte from -4 to 4.

Source: the format of SuperSplat and SplatTransform, developer.playcanvas.com.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.datasets.columns import by_channel, by_coefficient, columns, rest_names, single
from difftile.datasets.ply import Table, write_ply
from difftile.datasets.quantised import (
    Doubles,
    byte_of,
    logit_of_byte,
    opacities_of,
    order_in_space,
    smallest_three,
    units_of,
    whole_of,
)
from difftile.datasets.splats import C0, Splats
from difftile.diagnostics import DatasetError

PACKED = ("packed_position", "packed_rotation", "packed_scale", "packed_color")
_CHUNK = 256  # splats that share their bounds
_SPACE = (21, 11), (11, 10), (0, 11)  # position and width of bits
_THREE = (20, 10), (10, 10), (0, 10)
_COLOUR = (24, 8), (16, 8), (8, 8)
_HARMONIC = 4.0  # the largest of a byte
# Names of bounds in the order of the format, by what they bound.
_BOUNDS = {"": "xyz", "scale_": "xyz", "colour": "rgb"}


def unpacked(path: Path, tables: Mapping[str, Table]) -> Splats:
    """Return the splats of the elements of a `.ply` that has the properties `PACKED`.

    Raises:
        DatasetError: Bounds or harmonics are missing, or of another type.
    """
    vertex = tables["vertex"]
    _check_types(path, "vertex", vertex, PACKED, "iu", 4)
    chunks = -(-len(vertex) // _CHUNK)
    if "chunk" not in tables or len(tables["chunk"]) != chunks:
        raise DatasetError(
            path,
            f"has {len(tables.get('chunk', ()))} chunks for {len(vertex)} packed splats",
            f"{chunks} chunks",
        )
    chunk = tables["chunk"][np.arange(len(vertex)) // _CHUNK]
    names = chunk.dtype.names or ()
    coloured = "min_r" in names
    bounds = [name for kind in _BOUNDS for pair in _ends(kind) for name in pair]
    bounds = [name for name in bounds if coloured or name[-1] not in "rgb"]
    missing = [name for name in bounds if name not in names]
    if missing:
        raise DatasetError(path, f"element 'chunk' has no {', '.join(map(repr, missing))}")
    _check_types(path, "chunk", chunk, bounds, "f", 4)
    colour = _shares(vertex["packed_color"], _COLOUR)
    if coloured:
        colour = _between(chunk, "colour", colour)
    rest = np.empty((len(vertex), 0), np.float32)
    if "sh" in tables:
        if len(tables["sh"]) != len(vertex):
            raise DatasetError(path, f"has {len(tables['sh'])} rows of 'sh'", f"{len(vertex)} rows")
        named = rest_names(path, tables["sh"].dtype.names or ())
        _check_types(path, "sh", tables["sh"], named, "u", 1)
        rest = columns(tables["sh"], named) * (2 * _HARMONIC / 255) - _HARMONIC
    rotation = vertex["packed_rotation"].astype(np.uint32)
    three = (_shares(rotation, _THREE) - 0.5) * np.sqrt(2.0)
    return Splats(
        means=single(_between(chunk, "", _shares(vertex["packed_position"], _SPACE))),
        scales=single(_between(chunk, "scale_", _shares(vertex["packed_scale"], _SPACE))),
        quaternions=whole_of(rotation >> 30, three),
        opacities=logit_of_byte(vertex["packed_color"].astype(np.uint32) & 255),
        sh0=single((colour - 0.5) / C0),
        shN=by_coefficient(np.asarray(rest, np.float32)),
    )


def write_packed_ply(path: Path, splats: Splats) -> int:
    """Write splats in the order of a curve through space; return the number of dropped rows.

    Harmonics beyond -4 ... 4 are written as these.
    """
    kept = splats.kept()
    order = order_in_space(kept.means)
    chunks = np.arange(0, len(kept), _CHUNK)
    given = {
        "": kept.means[order],
        "scale_": kept.scales[order],
        "colour": single(0.5 + C0 * kept.sh0[order].astype(np.float64)),
    }
    names = [name for kind in _BOUNDS for side in zip(*_ends(kind), strict=True) for name in side]
    chunk = np.zeros(len(chunks), [(name, "<f4") for name in names])
    for kind, values in given.items() if len(kept) else ():
        for axis, (least, most) in enumerate(_ends(kind)):
            chunk[least] = np.minimum.reduceat(values[:, axis], chunks)
            chunk[most] = np.maximum.reduceat(values[:, axis], chunks)
    of_row = chunk[np.arange(len(kept)) // _CHUNK]
    shares = {kind: _share(of_row, kind, values) for kind, values in given.items()}
    largest, three = smallest_three(units_of(kept)[order])
    rotation = _bits(three / np.sqrt(2.0) + 0.5, _THREE) | largest.astype(np.uint32) << 30
    colour = _bits(shares["colour"], _COLOUR) | byte_of(opacities_of(kept)[order] * 255)
    packed = _bits(shares[""], _SPACE), rotation, _bits(shares["scale_"], _SPACE), colour
    vertex = np.zeros(len(kept), [(name, "<u4") for name in PACKED])
    for name, column in zip(PACKED, packed, strict=True):
        vertex[name] = column
    tables: dict[str, Table] = {"chunk": chunk, "vertex": vertex}
    if kept.sh_degree:
        rest = by_channel(kept.shN[order])
        tables["sh"] = np.zeros(len(kept), [(f"f_rest_{k}", "u1") for k in range(rest.shape[1])])
        for k, column in enumerate(rest.T):
            tables["sh"][f"f_rest_{k}"] = byte_of((column / (2 * _HARMONIC) + 0.5) * 255)
    write_ply(path, tables)
    return kept.dropped - splats.dropped


def _ends(kind: str) -> list[tuple[str, str]]:
    """Return the names of the least and the largest value along each axis."""
    prefix = "" if kind == "colour" else kind
    return [(f"min_{prefix}{axis}", f"max_{prefix}{axis}") for axis in _BOUNDS[kind]]


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


def _shares(packed: npt.NDArray[Any], parts: Sequence[tuple[int, int]]) -> Doubles:
    """Return groups of bits as numbers in 0 ... 1."""
    words = packed.astype(np.uint32)
    return np.stack(
        [((words >> place) & ((1 << width) - 1)) / ((1 << width) - 1) for place, width in parts],
        axis=1,
    )


def _bits(shares: Doubles, parts: Sequence[tuple[int, int]]) -> npt.NDArray[np.uint32]:
    """Return numbers in 0 ... 1 as groups of bits."""
    words = np.zeros(len(shares), np.uint32)
    for column, (place, width) in zip(shares.T, parts, strict=True):
        most = (1 << width) - 1
        words |= np.clip(np.rint(column * most), 0, most).astype(np.uint32) << np.uint32(place)
    return words


def _limits(chunk: Table, kind: str) -> tuple[Doubles, Doubles]:
    least, most = zip(*_ends(kind), strict=True)
    return (
        np.stack([chunk[name] for name in least], axis=1).astype(np.float64),
        np.stack([chunk[name] for name in most], axis=1).astype(np.float64),
    )


def _between(chunk: Table, kind: str, share: Doubles) -> Doubles:
    least, most = _limits(chunk, kind)
    with np.errstate(invalid="ignore"):  # of infinite bounds, whose rows are dropped
        return least * (1 - share) + most * share


def _share(chunk: Table, kind: str, values: npt.NDArray[np.float32]) -> Doubles:
    least, most = _limits(chunk, kind)
    span = most - least
    return np.divide(values - least, span, out=np.zeros_like(span), where=span > 0)
