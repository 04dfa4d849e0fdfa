"""Splats as `.ksplat` files of GaussianSplats3D: sections, with 24 to 224 bytes a splat.

At level 0 all but colours, opacities and the third band of harmonics are floats. At levels 1 and 2
centres have 16 bits relative to the centre of their bucket, sizes and rotations are half floats,
and harmonics half floats or bytes.

Source: github.com/mkkellogg/GaussianSplats3D (SplatBuffer), version 0.1.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.datasets.quantised import (
    Ints,
    byte_of,
    check_some,
    logit_of_byte,
    opacities_of,
    sizes_of,
    units_of,
)
from difftile.datasets.splats import C0, DEGREES, Floats, Splats
from difftile.diagnostics import DatasetError
from difftile.files.cursor import Cursor
from difftile.files.writing import write_bytes

_FIELDS: dict[str, tuple[str, int]] = {
    **{"major": ("u1", 0), "minor": ("u1", 1), "sections": ("<u4", 4), "filled": ("<u4", 8)},
    **{"room": ("<u4", 12), "count": ("<u4", 16), "level": ("<u2", 20)},
    **{"least": ("<f4", 36), "most": ("<f4", 40)},
}
_SECTION_FIELDS: dict[str, tuple[str, int]] = {
    **{"count": ("<u4", 0), "room": ("<u4", 4), "bucket": ("<u4", 8), "buckets": ("<u4", 12)},
    **{"block": ("<f4", 16), "stored": ("<u2", 20), "range": ("<u4", 24), "bytes": ("<u4", 28)},
    **{"full": ("<u4", 32), "partial": ("<u4", 36), "degree": ("<u2", 40)},
}


def _layout(fields: dict[str, tuple[str, int]], size: int) -> np.dtype[Any]:
    formats, offsets = zip(*fields.values(), strict=True)
    return np.dtype(
        {"names": [*fields], "formats": formats, "offsets": offsets, "itemsize": size}  # type: ignore[call-overload]
    )


_HEADER, _SECTION = _layout(_FIELDS, 4096), _layout(_SECTION_FIELDS, 1024)
# By level: the types of centres, of sizes and rotations, and of harmonics.
_LEVELS = {0: ("<f4", "<f4", "<f4"), 1: ("<u2", "<f2", "<f2"), 2: ("<u2", "<f2", "u1")}
_SMALLEST = {2: 2.0**-24, 4: 2.0**-149}  # positive number, by bytes
_CENTRE = 12  # bytes of the centre of a bucket
_RANGE = 32767  # of 16 bits around the centre of a bucket
_LIMIT = 1.5  # of harmonics as bytes, unless the header has another
_COEFFICIENTS = {degree: count for count, degree in DEGREES.items()}
_BANDS = (0, 3, 8, 15)
_KEPT = 2  # the degree that GaussianSplats3D reads


def read_ksplat(path: Path) -> Splats:
    """Return the splats of a `.ksplat` file; a size of 0 is read as the smallest of its type.

    Raises:
        DatasetError: The file is broken or of another version, or holds fewer splats than its
            headers say.
    """
    cursor = Cursor(path)
    header = cursor.array(_HEADER, 1, "the header")[0]
    if (header["major"], header["minor"]) != (0, 1) or header["level"] not in _LEVELS:
        raise DatasetError(
            path,
            f"is of version {header['major']}.{header['minor']}, level {header['level']}",
            "version 0.1 with level 0, 1 or 2",
        )
    if not header["sections"]:
        raise DatasetError(path, "has no sections", "one at least")
    sections = cursor.array(_SECTION, int(header["sections"]), "the headers of sections")
    for k, one in enumerate(sections):
        if one["degree"] not in _COEFFICIENTS or one["count"] > one["room"]:
            raise DatasetError(
                path,
                f"section {k} has {one['count']} splats of degree {one['degree']}",
                f"at most {one['room']}, and harmonics of degree 0 to 3",
            )
    degree = max(int(one["degree"]) for one in sections)
    parts = [_section(cursor, k, one, header, degree) for k, one in enumerate(sections)]
    cursor.end()
    arrays: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    found = Splats(**arrays)
    if len(found) != header["count"]:
        raise DatasetError(
            path, f"has {len(found)} splats in its sections", f"the {header['count']} of its header"
        )
    return found.kept()


def write_ksplat(path: Path, splats: Splats) -> int:
    """Write splats at level 0, in one section and their order; return the number of dropped rows.

    The third band of harmonics is left out.

    Raises:
        DatasetError: No row is left, but a `.ksplat` needs at least one.
    """
    kept = splats.kept()
    dropped = kept.dropped - splats.dropped
    check_some(path, kept, dropped)
    degree = min(kept.sh_degree, _KEPT)
    header, section = np.zeros(1, _HEADER), np.zeros(1, _SECTION)
    rows = np.zeros(len(kept), _row(0, degree))
    values = {"minor": 1, "sections": 1, "filled": 1, "room": len(kept), "count": len(kept)}
    for name, value in {**values, "least": -_LIMIT, "most": _LIMIT}.items():
        header[name] = value
    values = {"count": len(kept), "room": len(kept), "bytes": rows.nbytes, "degree": degree}
    for name, value in values.items():
        section[name] = value
    rows["centre"], rows["size"], rows["rotation"] = kept.means, sizes_of(kept), units_of(kept)
    rows["colour"][:, :3] = byte_of((0.5 + C0 * kept.sh0.astype(np.float64)) * 255)
    rows["colour"][:, 3] = byte_of(opacities_of(kept) * 255)
    for low, high in pairwise(_BANDS[: degree + 1]):
        band = kept.shN[:, low:high].transpose(0, 2, 1)
        rows["rest"][:, 3 * low : 3 * high] = band.reshape(len(kept), -1)
    write_bytes(path, header.tobytes() + section.tobytes() + rows.tobytes())
    return dropped


def _row(level: int, degree: int) -> np.dtype[Any]:
    centre, real, rest = _LEVELS[level]
    count = 3 * _COEFFICIENTS[degree]
    return np.dtype(
        [
            *(("centre", centre, 3), ("size", real, 3), ("rotation", real, 4)),
            *(("colour", "u1", 4), ("rest", rest, (count,))),
        ]
    )


def _section(cursor: Cursor, k: int, one: Any, header: Any, degree: int) -> dict[str, Floats]:
    """Return the splats of a section by the names of parameters, with zeros to a degree."""
    place, level = f"section {k}", int(header["level"])
    count, buckets = int(one["count"]), int(one["buckets"])
    sizes = cursor.array("<u4", int(one["partial"]), f"the buckets of {place}").astype(np.int64)
    raw = cursor.array("u1", int(one["stored"]) * buckets, f"the buckets of {place}")
    kind = _row(level, int(one["degree"]))
    rows = cursor.array(kind, int(one["room"]), f"the splats of {place}")[:count]
    means = rows["centre"].astype(np.float64)
    if level:
        at = _bucket_of(cursor.path, place, one, sizes)
        centres = raw.view("<f4").reshape(buckets, 3).astype(np.float64)
        span = int(one["range"]) or _RANGE
        with np.errstate(invalid="ignore"):  # of infinite centres, whose rows are dropped
            means = (means - span) * (float(one["block"]) / 2 / span) + centres[at]
    if (negative := np.flatnonzero((rows["size"] < 0).any(axis=1))).size:
        raise DatasetError(
            cursor.path,
            f"has splats with a negative size in {place}, the first in row {negative[0]}",
            "positive sizes",
        )
    smallest = _SMALLEST[kind["size"].base.itemsize]
    found = np.zeros((count, _COEFFICIENTS[degree], 3), np.float32)
    found[:, : _COEFFICIENTS[int(one["degree"])]] = _harmonics(rows["rest"], header)
    with np.errstate(over="ignore", invalid="ignore"):  # of rows that are dropped
        return {
            "means": np.asarray(means, np.float32),
            "scales": np.log(np.maximum(rows["size"].astype(np.float64), smallest)).astype("f4"),
            "quaternions": rows["rotation"].astype(np.float32),
            "opacities": logit_of_byte(rows["colour"][:, 3]),
            "sh0": np.asarray((rows["colour"][:, :3] / 255 - 0.5) / C0, np.float32),
            "shN": found,
        }


def _bucket_of(path: Path, place: str, one: Any, partial: Ints) -> Ints:
    """Return the bucket of each splat: the full ones come first."""
    full, buckets, count = int(one["full"]), int(one["buckets"]), int(one["count"])
    said = full * int(one["bucket"]) + int(partial.sum())
    if one["stored"] != _CENTRE or full + len(partial) != buckets or said < count:
        raise DatasetError(
            path,
            f"{place} has {buckets} buckets of {one['stored']} bytes for {said} splats",
            f"{full + len(partial)} of {_CENTRE} bytes for {count}",
        )
    rows, early = np.arange(count), min(count, full * int(one["bucket"]))
    late = full + np.searchsorted(np.cumsum(partial) + early, rows, side="right")
    return np.where(rows < early, rows // max(1, int(one["bucket"])), late)


def _harmonics(rest: npt.NDArray[Any], header: Any) -> Floats:
    """Return (n, k, 3) from bands, each with all its coefficients of red, of green and of blue."""
    values = rest.astype(np.float64)
    if rest.dtype.kind == "u":
        least, most = float(header["least"]) or -_LIMIT, float(header["most"]) or _LIMIT
        values = least + values / 255 * (most - least)
    count = values.shape[1] // 3
    bands = [
        values[:, 3 * low : 3 * high].reshape(len(values), 3, high - low).transpose(0, 2, 1)
        for low, high in pairwise(_BANDS)
        if high <= count
    ]
    with np.errstate(over="ignore"):
        return np.concatenate([np.empty((len(values), 0, 3)), *bands], axis=1).astype(np.float32)
