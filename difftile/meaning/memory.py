"""The memory of hidden fields, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.ir.nodes import Array
from difftile.ir.types import FLOATS, Scalar, numpy_dtype, scalar_of, shape_of


def dtype_of(scalar: Scalar, *, complex_step: bool) -> np.dtype[Any]:
    """Return the type that numbers of a scalar type are computed in."""
    if complex_step and scalar in FLOATS:
        return np.dtype(np.complex128)
    return numpy_dtype(scalar)


def memory_of(temp: Array, arrays: Mapping[Any, Any], *, complex_step: bool) -> Any:
    """Return zeros for a hidden field; memory of unknown extents grows as it is written."""
    element, like = temp.type.element, temp.like
    dtype = dtype_of(scalar_of(element), complex_step=complex_step)
    if grows(temp):
        return _Growing(temp.type.ndim, np.zeros(shape_of(element), dtype))
    outer = () if like is None else arrays[like].shape[: like.type.ndim]
    return np.zeros((*outer, *shape_of(element)), dtype)


def grows(array: Array) -> bool:
    """Tell whether the memory of a hidden field has extents that are not known beforehand."""
    return bool(array.type.ndim) and array.like is None and array.size is None


class _Growing:
    """Memory whose extents are not known beforehand: the elements that were written."""

    def __init__(self, ndim: int, element: npt.NDArray[Any]) -> None:
        self.shape = (2**31,) * ndim
        self.dtype = element.dtype
        self._element = element
        self._values: dict[tuple[int, ...], Any] = {}

    def __getitem__(self, index: tuple[int, ...]) -> Any:
        outer, inner = index[: len(self.shape)], index[len(self.shape) :]
        return self._values.get(outer, self._element)[inner].copy()

    def __setitem__(self, index: tuple[int, ...], value: Any) -> None:
        outer, inner = index[: len(self.shape)], index[len(self.shape) :]
        if outer not in self._values:
            self._values[outer] = self._element.copy()
        self._values[outer][inner] = value
