"""Splats as `.splat` files: 32 bytes each, without harmonics beyond the constant.

Centre and standard deviations are floats, colour and opacity bytes, the unit quaternion bytes
around 128. Colours are clamped to 0 ... 1. A size of zero has no logarithm: sizes that would round
to it are written as the smallest normal number.

Source: github.com/antimatter15/splat.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from difftile.datasets.splats import C0, Splats, logit_of_byte
from difftile.diagnostics import DatasetError, counted
from difftile.files.regular import read_bytes
from difftile.files.writing import write_bytes

_ROW = np.dtype(
    [("centre", "<f4", 3), ("size", "<f4", 3), ("colour", "u1", 4), ("rotation", "u1", 4)]
)
_SIZES = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


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
    if not len(kept):
        raise DatasetError(
            path,
            f"would have no splats: {counted(dropped, 'row')} cannot be written",
            "one at least",
            hint="a .ply may be empty.",
        )
    rows = np.zeros(len(kept), _ROW)
    rows["centre"] = kept.means
    rows["size"] = np.clip(np.exp(kept.scales.astype(np.float64)), *_SIZES)
    with np.errstate(over="ignore"):  # opacities of 0
        opacity = 1 / (1 + np.exp(-kept.opacities.astype(np.float64)))
    rows["colour"][:, :3] = _bytes((0.5 + C0 * kept.sh0.astype(np.float64)) * 255)
    rows["colour"][:, 3] = _bytes(opacity * 255)
    quaternions = kept.quaternions.astype(np.float64)
    units = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    rows["rotation"] = _bytes(units * 128 + 128)
    write_bytes(path, rows.tobytes())
    return dropped


def _bytes(values: np.ndarray[tuple[int, ...], np.dtype[np.floating]]) -> object:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
