"""Numbers of splats in few bits: opacities, rotations and indices into code books."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.datasets.splats import Floats, Splats
from difftile.diagnostics import DatasetError, counted

Doubles: TypeAlias = npt.NDArray[np.float64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]

_SIZES = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
_CODES, _ROUNDS = 256, 12
_CELLS = 2**21 - 1  # of space along an axis, for the order in memory


def byte_of(values: npt.NDArray[Any]) -> Bytes:
    """Return numbers as bytes, rounded, and 0 or 255 beyond."""
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def logit_of_byte(byte: npt.NDArray[Any]) -> Floats:
    """Return logits of opacities stored as 0 ... 255.

    0 and 255 are read as a quarter step inside, where logits are finite.
    """
    opacity = np.clip(np.asarray(byte, np.float64), 0.25, 254.75) / 255.0
    return np.asarray(np.log(opacity / (1.0 - opacity)), np.float32)


def opacities_of(splats: Splats) -> Doubles:
    """Return opacities, 0 ... 1."""
    with np.errstate(over="ignore"):  # opacities of 0
        return np.asarray(1 / (1 + np.exp(-splats.opacities.astype(np.float64))), np.float64)


def sizes_of(splats: Splats) -> Doubles:
    """Return standard deviations, at least the smallest normal number of single precision."""
    return np.asarray(np.clip(np.exp(splats.scales.astype(np.float64)), *_SIZES), np.float64)


def units_of(splats: Splats) -> Doubles:
    """Return quaternions of length 1."""
    quaternions = splats.quaternions.astype(np.float64)
    return quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)


def smallest_three(units: Doubles) -> tuple[Ints, Doubles]:
    """Return the index of the largest component of each quaternion, and the other three.

    The sign is the one that makes the largest component positive, which the length 1 then tells.
    """
    largest = np.argmax(np.abs(units), axis=1)
    rows = np.arange(len(units))
    signed = units * np.where(units[rows, largest] < 0, -1.0, 1.0)[:, None]
    return largest, signed[_others(largest)].reshape(-1, 3)


def whole_of(largest: npt.NDArray[Any], three: Doubles) -> Floats:
    """Return quaternions of length 1 from what `smallest_three` returns."""
    found = np.empty((len(three), 4))
    found[_others(largest)] = three.reshape(-1)
    most = np.sqrt(np.maximum(0.0, 1.0 - np.sum(three**2, axis=1)))
    found[np.arange(len(three)), largest] = most
    return np.asarray(found, np.float32)


def _others(largest: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.arange(4) != np.asarray(largest)[:, None], np.bool_)


def order_in_space(means: Floats) -> Ints:
    """Return rows in the order of a curve through space, so that neighbours are near.

    Source: Morton, A Computer Oriented Geodetic Data Base, 1966, in cells of 21 bits an axis.
    """
    if not len(means):
        return np.zeros(0, np.int64)
    least = means.min(axis=0).astype(np.float64)
    span = np.maximum(means.max(axis=0) - least, np.finfo(np.float64).tiny)
    cells = ((means - least) / span * _CELLS).astype(np.uint64)
    for step, mask in (
        *((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F)),
        *((4, 0x10C30C30C30C30C3), (2, 0x1249249249249249)),
    ):
        cells = (cells | cells << np.uint64(step)) & np.uint64(mask)
    keys = cells[:, 0] | cells[:, 1] << np.uint64(1) | cells[:, 2] << np.uint64(2)
    return np.asarray(np.argsort(keys, kind="stable"), np.int64)


def codes_of(values: Floats) -> tuple[Floats, Bytes]:
    """Return a book of 256 numbers, ascending, and for each value the index of the nearest.

    Lloyd's iteration (Least Squares Quantization in PCM, 1982) from 128 equal steps and 128
    quantiles: the mean square error is at most the one of these steps.
    """
    flat = np.sort(values.astype(np.float64), axis=None)
    shares = np.linspace(0.0, 1.0, _CODES // 2)
    steps = flat[0] + shares * (flat[-1] - flat[0])
    book = np.sort(np.append(steps, flat[np.rint(shares * (len(flat) - 1)).astype(np.intp)]))
    sums = np.concatenate([[0.0], np.cumsum(flat)])
    for _ in range(_ROUNDS):
        ends = np.searchsorted(flat, 0.5 * (book[1:] + book[:-1]))
        edges = np.concatenate([[0], ends, [len(flat)]])
        counts = np.diff(edges)
        book = np.where(counts > 0, np.diff(sums[edges]) / np.maximum(counts, 1), book)
    codes = np.asarray(book, np.float32)
    middles = 0.5 * (codes[1:].astype(np.float64) + codes[:-1])
    return codes, np.asarray(np.searchsorted(middles, values), np.uint8)


def check_some(path: Path, kept: Splats, dropped: int) -> None:
    """Check that a file that cannot be empty has splats.

    Raises:
        DatasetError: No row is left.
    """
    if not len(kept):
        raise DatasetError(
            path,
            f"would have no splats: {counted(dropped, 'row')} cannot be written",
            "one at least",
            hint="a .ply may be empty.",
        )
