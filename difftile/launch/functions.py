"""Functions that Taichi lacks, for kernels and for Python."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from difftile.ops import meaning


def sigmoid(x: npt.ArrayLike) -> Any:
    """Return 1 / (1 + exp(-x)); it and its derivative are finite for every finite x.

    In a kernel x is a float, vector or matrix; in Python it is a number or an array.
    """
    return meaning.sigmoid(x)
