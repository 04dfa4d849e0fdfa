"""Types of vectors, matrices and arrays, as objects: `ti.types.vector(3, ti.f32)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from difftile.diagnostics import LaunchError, counted
from difftile.ir.types import BOOL, F64, FLOATS, Matrix, Scalar, Type, Vector, scalar_of, shape_of
from difftile.lang.evaluate import in_type, scalar_type
from difftile.lang.scalars import BY_SCALAR
from difftile.lang.type_objects import TypeObject, scalar_named
from difftile.lang.values import array_of, is_followed, wrapped


class _CompoundType(TypeObject):
    """A type of vectors or matrices; calling it makes one."""

    __slots__ = ()

    @property
    def n(self) -> int:
        """The number of components, or of rows."""
        return shape_of(self.type)[0]

    @property
    def dtype(self) -> Any:
        """The number type."""
        return BY_SCALAR[scalar_of(self.type)]

    def get_shape(self) -> tuple[int, ...]:
        """Return (n,) or (n, m)."""
        return shape_of(self.type)

    def __call__(self, *components: Any) -> Any:
        """Return a vector or matrix of numbers, vectors or lists; one number fills it.

        Raises:
            LaunchError: It has another number of components.
        """
        shape, scalar = shape_of(self.type), scalar_of(self.type)
        given = _flat(components)
        numbers = np.concatenate([one.ravel() for one in given]) if given else np.zeros(0)
        if self.follows:
            scalar = _widest(components)
        numbers = in_type(numbers, scalar)
        size = int(np.prod(shape))
        if len(numbers) == 1 and not given[0].ndim:
            numbers = np.repeat(numbers, size)
        if len(numbers) != size:
            wanted = counted(size, "number")
            raise LaunchError(f"{self!r} is built from {wanted}, not {len(numbers)}.")
        return wrapped(numbers.reshape(shape))

    def __repr__(self) -> str:
        if self.name:
            return f"ti.{self.name}"
        sizes = ", ".join(map(str, shape_of(self.type)))
        return f"ti.types.{self._kind}({sizes}, ti.{self.dtype})"

    _kind = ""


class VectorType(_CompoundType):
    """A type of vectors."""

    __slots__ = ()
    _kind = "vector"


class MatrixType(_CompoundType):
    """A type of matrices."""

    __slots__ = ()
    _kind = "matrix"

    @property
    def m(self) -> int:
        """The number of columns."""
        return shape_of(self.type)[1]


def _flat(components: Sequence[Any]) -> list[Any]:
    return [array_of(one) for one in components]


def _widest(components: Sequence[Any]) -> Scalar:
    """Return the widest float type of the components, which numbers of Python follow."""
    found = [scalar_type(array_of(one)) for one in components if not isinstance(one, (int, float))]
    return max((one for one in found if one in FLOATS), key=FLOATS.index, default=F64)


def vector(n: int, dtype: Any) -> VectorType:
    """Return the type of vectors of n numbers.

    Raises:
        LaunchError: The size is not positive, or `dtype` is no number type.
    """
    return VectorType(Vector(_size(n), scalar_named(dtype)), follows=dtype is float)


def matrix(n: int, m: int, dtype: Any) -> MatrixType:
    """Return the type of matrices of n rows and m columns.

    Raises:
        LaunchError: A size is not positive, or `dtype` is no number type.
    """
    return MatrixType(Matrix(_size(n), _size(m), scalar_named(dtype)), follows=dtype is float)


def _size(n: Any) -> int:
    if not isinstance(n, (int, np.integer)) or n <= 0:
        raise LaunchError(f"a vector or matrix has 1 component or more, not {n!r}.")
    return int(cast(Any, n))


def fitted(value: Any, type_: Type, name: str) -> Any:
    """Return the value of a member of a struct: floats keep their precision, and numbers fill it.

    Raises:
        LaunchError: The member is of integers and is given floats, or has another shape.
    """
    shape, scalar = shape_of(type_), scalar_of(type_)
    if is_followed(value) and not shape:
        return value
    given = array_of(value)
    if given.shape not in ((), shape):
        raise LaunchError(f"'{name}' holds {type_}, and is given the shape {given.shape}.")
    is_float = given.dtype.kind == "f"
    if scalar not in FLOATS:
        made = in_type(given, scalar) if not is_float else given
        if is_float or (scalar != BOOL and (made != given).any()):
            raise LaunchError(f"'{name}' holds {type_}, which {value!r} does not fit.")
    else:
        made = given if is_float else given.astype(float)
    return wrapped(np.broadcast_to(made, shape).copy()) if shape else made.item()


class NdarrayType:
    """An annotation of a parameter that is a field: `x: ti.types.ndarray(dtype=ti.f32, ndim=1)`.

    Args:
        dtype: The type of the elements; by default any.
        ndim: The number of dimensions, which is for the reader.
        needs_grad: For the reader as well.
    """

    __slots__ = ("dtype", "ndim", "needs_grad")

    def __init__(self, dtype: Any = None, ndim: int | None = None, needs_grad: Any = None) -> None:
        self.dtype = dtype
        self.ndim = ndim
        self.needs_grad = needs_grad

    def __repr__(self) -> str:
        return f"ti.types.ndarray(dtype={self.dtype}, ndim={self.ndim})"


class Template:
    """An annotation of a parameter that is known while compiling: `f: ti.template()`."""

    __slots__ = ()
