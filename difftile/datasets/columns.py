"""Columns of splats in tables of a `.ply`, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.datasets.ply import Table
from difftile.datasets.splats import DEGREES, Floats
from difftile.diagnostics import DatasetError


def columns(table: Table, names: tuple[str, ...]) -> Floats:
    """Return columns of a table, shape (rows, columns)."""
    found = [single(table[name]) for name in names]
    return np.stack(found, axis=1) if found else np.empty((len(table), 0), np.float32)


def single(values: npt.NDArray[Any]) -> Floats:
    """Return numbers in single precision, infinite where it does not hold them."""
    with np.errstate(over="ignore"):  # dropped as infinite
        return np.asarray(values, np.float32)


def rest_names(path: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names f_rest_0, f_rest_1, ... of a table.

    Raises:
        DatasetError: There are not 0, 9, 24 or 45.
    """
    count = sum(name.startswith("f_rest_") for name in names)
    rest = tuple(f"f_rest_{k}" for k in range(count))
    if count // 3 not in DEGREES or count % 3 or not {*rest} <= {*names}:
        raise DatasetError(
            path,
            f"has {count} properties that begin with 'f_rest_'",
            "0, 9, 24 or 45, numbered from f_rest_0",
        )
    return rest


def by_coefficient(rest: Floats) -> Floats:
    """Return (n, k, 3) from the channel-major (n, 3 k)."""
    return rest.reshape(len(rest), 3, rest.shape[1] // 3).transpose(0, 2, 1)


def by_channel(rest: Floats) -> Floats:
    """Return the channel-major (n, 3 k) from (n, k, 3)."""
    return rest.transpose(0, 2, 1).reshape(len(rest), 3 * rest.shape[1])
