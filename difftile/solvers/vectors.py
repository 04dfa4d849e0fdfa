"""The numbers of several fields as one vector in double precision, on the host.

Krylov methods and line searches work on such vectors. On the CPU each product with an operator made
of kernels costs a copy; on a GPU it moves one vector each way. Of fields that are split among ranks
a vector has the elements that this rank owns, and a `Space` adds up over the ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.fields.split import Split
from difftile.solvers.space import Vector, largest_of
from difftile.solvers.state import State

__all__ = [
    "Vector",
    "joined",
    "largest",
    "pick",
    "precision",
    "read",
    "rounding",
    "split",
    "write",
]


def read(state: State) -> Vector:
    """Return the contents of all fields, one after the other."""
    return joined(state, [leaf.buffer.array() for leaf in state.leaves])


def joined(state: State, arrays: Sequence[npt.NDArray[Any]]) -> Vector:
    """Return the numbers of arrays in the shapes of the fields, one after the other."""
    return np.concatenate([one.astype(np.float64).ravel() for one in state.owned(arrays)])


def pick(state: State, found: Mapping[dt.Field, dt.Field]) -> Vector:
    """Return the entries for the fields of a state, such as their cotangents."""
    return joined(state, [found[leaf.origin].buffer.array() for leaf in state.leaves])


def split(state: State, vector: Vector) -> list[npt.NDArray[Any]]:
    """Return the parts of a vector in the shapes and number types of the fields; halos are zero."""
    parts: list[npt.NDArray[Any]] = []
    at = 0
    for leaf in state.leaves:
        inner, dtype = leaf.element_shape, leaf.numpy_dtype
        shape = (*leaf.inner.shape, *inner)
        size = int(np.prod(shape))
        with np.errstate(over="ignore"):
            part = vector[at : at + size].astype(dtype).reshape(shape)
        if leaf.split is not None:
            whole = np.zeros((*leaf.shape, *inner), dtype)
            leaf.split.part(whole)[...] = part
            part = whole
        parts.append(part)
        at += size
    return parts


def write(state: State, vector: Vector) -> None:
    """Set the contents of all fields, with no tape open; halos stay as they are."""
    for leaf, part in zip(state.leaves, split(state, vector), strict=True):
        if leaf.split is None:
            leaf.fresh_if_pinned(keep=False).write(part)
        else:
            leaf.fresh_if_pinned(keep=True).change(partial(_set_owned, leaf.split, part))


def _set_owned(split: Split, part: npt.NDArray[Any], array: npt.NDArray[Any]) -> None:
    split.part(array)[...] = split.part(part)


def largest(state: State, vector: Vector) -> list[float]:
    """Return the largest magnitude in the part of each field; NaN propagates."""
    return state.space.greatest([largest_of(part) for part in split(state, vector)])


def precision(state: State) -> float:
    """Return the default relative error: 1e-10 in f64, else 1e-5."""
    double = all(leaf.numpy_dtype == np.float64 for leaf in state.leaves)
    return 1e-10 if double else 1e-5


def rounding(state: State) -> float:
    """Return the relative rounding error of the coarsest number type."""
    types = {leaf.numpy_dtype for leaf in state.leaves}
    return max(float(np.finfo(dtype).eps) for dtype in types)
