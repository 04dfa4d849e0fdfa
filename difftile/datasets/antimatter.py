"""Splats as `.splat` files: 32 bytes each, without harmonics beyond the constant.

Centre and standard deviations are floats, colour and opacity bytes, the unit quaternion bytes
around 128. Colours are clamped to 0 ... 1. A size of zero has no logarithm: sizes that would round
to it are written as the smallest normal number.

Source: github.com/antimatter15/splat.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from difftile.datasets.quantised import (
    byte_of,
    check_some,
    logit_of_byte,
    opacities_of,
    sizes_of,
    units_of,
)
from difftile.datasets.splats import C0, Splats
from difftile.diagnostics import DatasetError
from difftile.files.regular import read_bytes
from difftile.files.writing import write_bytes

_ROW = np.dtype(
    [("centre", "<f4", 3), ("size", "<f4", 3), ("colour", "u1", 4), ("rotation", "u1", 4)]
)


def read_dot_splat(path: Path) -> Splats:
    """Return the splats of a `.splat` file; rows that are not finite are dropped and counted.

    Raises:
        DatasetError: The file size is not a multiple of a splat, or a size is negative.
    """
    raw = read_bytes(path)
    if not raw or len(raw) % _ROW.itemsize:
        raise DatasetError(path, f"has {len(raw)} bytes", "32 bytes a splat, and one at least")
    rows = np.frombuffer(raw, _ROW)
    negative = np.flatnonzero(np.any(rows["size"] < 0, axis=1))
    if len(negative):
        raise DatasetError(
            path,
            f"has splats with a negative size, the first in row {negative[0]}",
            "a .splat file with positive sizes",
        )
    with np.errstate(divide="ignore", invalid="ignore"):  # of zero and NaN: dropped
        scales = np.log(rows["size"])
    return Splats(
        means=rows["centre"],
        scales=scales,
        quaternions=np.asarray(rows["rotation"] / 128 - 1, np.float32),
        opacities=logit_of_byte(rows["colour"][:, 3]),
        sh0=np.asarray((rows["colour"][:, :3] / 255 - 0.5) / C0, np.float32),
        shN=np.empty((len(rows), 0, 3), np.float32),
    ).kept()


def write_dot_splat(path: Path, splats: Splats) -> int:
    """Write splats in their order; return the number of dropped rows, which are not finite.

    A `.splat` holds neither harmonics beyond the constant nor all digits. All written rows can be
    read back.

    Raises:
        DatasetError: No row is left, but a `.splat` needs at least one.
    """
    kept = splats.kept()
    dropped = kept.dropped - splats.dropped
    check_some(path, kept, dropped)
    rows = np.zeros(len(kept), _ROW)
    rows["centre"] = kept.means
    rows["size"] = sizes_of(kept)
    rows["colour"][:, :3] = byte_of((0.5 + C0 * kept.sh0.astype(np.float64)) * 255)
    rows["colour"][:, 3] = byte_of(opacities_of(kept) * 255)
    rows["rotation"] = byte_of(units_of(kept) * 128 + 128)
    write_bytes(path, rows.tobytes())
    return dropped
