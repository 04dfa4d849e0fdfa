"""Splats as `.splat` files: 32 bytes each, without harmonics beyond the constant.

Centre and standard deviations as floats, colour and opacity as bytes, the unit quaternion as bytes
around 128. Colours outside 0 ... 1 are cut off.

Source: github.com/antimatter15/splat.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from difftile.datasets.cursor import file_bytes
from difftile.datasets.splats import C0, Splats, logit_of_byte
from difftile.diagnostics import DatasetError

_ROW = np.dtype(
    [("centre", "<f4", 3), ("size", "<f4", 3), ("colour", "u1", 4), ("rotation", "u1", 4)]
)


def read_dot_splat(path: Path) -> Splats:
    """Return the splats of a `.splat` file; rows that are not finite are dropped and counted.

    Raises:
        DatasetError: The file is no whole number of splats, or a size is negative.
    """
    raw = file_bytes(path)
    if not raw or len(raw) % _ROW.itemsize:
        raise DatasetError(path, f"has {len(raw)} bytes", "32 bytes a splat, and one at least")
    rows = np.frombuffer(raw, _ROW)
    if np.any(rows["size"] < 0):
        raise DatasetError(path, "has splats with a negative size", "a .splat file")
    with np.errstate(divide="ignore"):  # a size of zero: its logarithm is dropped
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
    """Write splats in their order; return how many rows were dropped, not being finite.

    What a `.splat` cannot hold is lost: harmonics beyond the constant, and digits.
    """
    kept = splats.kept()
    rows = np.zeros(len(kept), _ROW)
    rows["centre"] = kept.means
    rows["size"] = np.exp(kept.scales)
    with np.errstate(over="ignore"):  # opacities of 0
        opacity = 1 / (1 + np.exp(-kept.opacities.astype(np.float64)))
    rows["colour"][:, :3] = _bytes((0.5 + C0 * kept.sh0) * 255)
    rows["colour"][:, 3] = _bytes(opacity * 255)
    units = kept.quaternions / np.linalg.norm(kept.quaternions, axis=1, keepdims=True)
    rows["rotation"] = _bytes(units * 128 + 128)
    path.write_bytes(rows.tobytes())
    return kept.dropped - splats.dropped


def _bytes(values: np.ndarray[tuple[int, ...], np.dtype[np.floating]]) -> object:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
