"""Arrays of a thread, as Python computes with them: `x = dt.local((n, 6))`."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError, brief, counted
from difftile.ir.types import (
    BOOL,
    F64,
    LARGEST_LOCAL,
    Type,
    numpy_dtype,
    scalar_of,
    shape_of,
    with_scalar,
)
from difftile.lang.type_objects import has_own_scalar, scalar_named, value_type
from difftile.lang.values import Matrix, array_of, wrapped


def local(shape: int | tuple[int, ...], dtype: Any = float) -> Any:
    """Make an array that belongs to one thread of a kernel, filled with zeros.

    In kernels and funcs each thread has an array of its own, and zeros are put into it each time
    the declaration is reached. From Python it is an array with the same elements and indices.

    Args:
        shape: The number of elements along each axis: integers that are known when the kernel is
            compiled. All elements together have at most 4,096 components.
        dtype: The type of the elements: a scalar type (`float` is the float type of the kernel,
            and f64 in Python), or a vector or matrix type.

    Raises:
        LaunchError: The shape is not of positive integers, the array is too large, or `dtype` is
            not a type of elements.
    """
    sizes = cast("tuple[Any, ...]", shape if isinstance(shape, (tuple, list)) else (shape,))
    if not sizes or not all(isinstance(n, (int, np.integer)) and n > 0 for n in sizes):
        raise LaunchError(
            f"a local array has 1 element or more along each axis, not {brief(shape)}."
        )
    type_ = _element(dtype)
    lengths = tuple(map(int, sizes))
    count = math.prod((*lengths, *shape_of(type_)))
    if count > LARGEST_LOCAL:
        raise LaunchError(
            f"a local array has at most {LARGEST_LOCAL:,} components, and this has {count:,}; "
            "use a field."
        )
    return LocalArray(np.zeros((*lengths, *shape_of(type_)), numpy_dtype(scalar_of(type_))), type_)


def _element(dtype: Any) -> Type:
    found = value_type(dtype)
    if found is None:
        found = scalar_named(dtype)
    if scalar_of(found) == BOOL:
        raise LaunchError("a local array holds numbers; count with 'ti.i32' in place of bools.")
    return found if has_own_scalar(dtype) else with_scalar(found, F64)


class LocalArray:
    """An array that `dt.local` makes from Python, which counts from zero as kernels do.

    An element `x[i]` that is a vector or matrix is a copy; a component that is assigned,
    `x[i][1] = 2.0`, is put into the array as well.
    """

    __slots__ = ("_numbers", "_type")

    def __init__(self, numbers: npt.NDArray[Any], type_: Type) -> None:
        self._numbers = numbers
        self._type = type_

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return self._numbers.shape[: self.ndim]

    @property
    def ndim(self) -> int:
        """The number of indices."""
        return self._numbers.ndim - len(shape_of(self._type))

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return a copy as an array; components are its last axes."""
        return self._numbers.copy()

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        found: Any = self._numbers[self._at(index)]
        if not isinstance(found, np.ndarray):
            return found
        made = object.__new__(_VectorElement if found.ndim == 1 else _MatrixElement)
        object.__setattr__(made, "_numbers", found.copy())
        object.__setattr__(made, "_place", found)
        return made

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._at(index)
        given = array_of(value)
        if given.shape not in ((), shape_of(self._type)):
            raise LaunchError(f"the elements are {self._type}, and are given {given.shape}.")
        if given.dtype.kind == "f" and self._numbers.dtype.kind != "f":
            raise LaunchError(
                f"the elements are {self._type}, not floats; cast: 'ti.cast(x, ti.i32)'."
            )
        self._numbers[at] = given

    def _at(self, index: Any) -> tuple[int, ...]:
        picks = cast("tuple[Any, ...]", index if isinstance(index, tuple) else (index,))
        picks = tuple(
            part for one in picks for part in (one if isinstance(one, Matrix) else (one,))
        )
        if len(picks) != self.ndim:
            wanted = counted(self.ndim, "index", "indices")
            raise LaunchError(f"a local array of shape {self.shape} takes {wanted}.")
        if not all(isinstance(one, (int, np.integer)) for one in picks):
            raise LaunchError(f"an index is an integer, not {brief(index)}.")
        where = tuple(map(int, picks))
        if any(not 0 <= one < size for one, size in zip(where, self.shape, strict=True)):
            raise IndexError(f"index {list(where)} of a local array of shape {self.shape}.")
        return where

    def __iter__(self) -> Any:
        raise LaunchError("loop over the indices: 'for i in range(x.shape[0]):'.")

    def __repr__(self) -> str:
        return f"dt.local({self.shape}, {self._type})"


class _Element(Matrix):
    """An element of a local array; components that are assigned are put there too."""

    __slots__ = ("_place",)
    _place: npt.NDArray[Any]

    def _set(self, index: Any, value: Any) -> None:
        super()._set(index, value)
        self._place[index] = self._numbers[index]

    def __reduce__(self) -> Any:
        return wrapped, (self._numbers,)


class _VectorElement(_Element):
    __slots__ = ()


class _MatrixElement(_Element):
    __slots__ = ()
