"""The types of kernel values: scalars, small vectors and matrices, and fields of them."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any, TypeAlias

import numpy as np

from difftile.records import dataclass

LARGEST_LOCAL = 4096
"""The most components of an array of a thread."""

MAX_ELEMENTS = 2**31 - 1
"""The most numbers of an array, which kernels index with i32."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number type by its short name: f32, i32, bool ..."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Vector:
    """A fixed-size vector of scalars."""

    n: int
    scalar: Scalar

    def __repr__(self) -> str:
        return f"vec{self.n}<{self.scalar}>"


@dataclass(frozen=True, slots=True)
class Matrix:
    """A fixed-size matrix of n rows and m columns."""

    n: int
    m: int
    scalar: Scalar

    def __repr__(self) -> str:
        return f"mat{self.n}x{self.m}<{self.scalar}>"


Type: TypeAlias = Scalar | Vector | Matrix


@dataclass(frozen=True, slots=True)
class Struct:
    """Named members; the frontend takes structs apart, so that programs hold none.

    Args:
        members: Name and type of each member, in order.
        methods: Name and function of each method.
    """

    members: tuple[tuple[str, Type | Struct], ...]
    methods: tuple[tuple[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"struct({', '.join(f'{name}: {type_}' for name, type_ in self.members)})"


@dataclass(frozen=True, slots=True)
class FieldType:
    """A field: elements of one type, indexed by `ndim` integers. Shapes are run-time values."""

    element: Type
    ndim: int

    def __repr__(self) -> str:
        return f"field<{self.element}, {self.ndim}>"


@cache
def field_type(element: Type, ndim: int) -> FieldType:
    """Return the field type; equal types are one object, so that launches compare identities."""
    return FieldType(element, ndim)


F16, F32, F64 = Scalar("f16"), Scalar("f32"), Scalar("f64")
I8, I16, I32, I64 = Scalar("i8"), Scalar("i16"), Scalar("i32"), Scalar("i64")
U8, U16, U32, U64 = Scalar("u8"), Scalar("u16"), Scalar("u32"), Scalar("u64")
BOOL = Scalar("bool")

_NUMPY: dict[Scalar, np.dtype[Any]] = {
    F16: np.dtype(np.float16),
    F32: np.dtype(np.float32),
    F64: np.dtype(np.float64),
    I8: np.dtype(np.int8),
    I16: np.dtype(np.int16),
    I32: np.dtype(np.int32),
    I64: np.dtype(np.int64),
    U8: np.dtype(np.uint8),
    U16: np.dtype(np.uint16),
    U32: np.dtype(np.uint32),
    U64: np.dtype(np.uint64),
    BOOL: np.dtype(np.bool_),
}
SCALARS: dict[str, Scalar] = {scalar.name: scalar for scalar in _NUMPY}
FLOATS = (F16, F32, F64)


def numpy_dtype(scalar: Scalar) -> np.dtype[Any]:
    """Return the NumPy dtype of a scalar type."""
    return _NUMPY[scalar]


def scalar_from_numpy(dtype: np.dtype[Any]) -> Scalar | None:
    """Return the scalar type of a NumPy dtype, or None for any other dtype."""
    return next((scalar for scalar, known in _NUMPY.items() if known == dtype), None)


def scalar_of(type_: Type) -> Scalar:
    """Return the number type of a scalar, vector or matrix."""
    return type_ if isinstance(type_, Scalar) else type_.scalar


def shape_of(type_: Type) -> tuple[int, ...]:
    """Return () for a scalar, (n,) for a vector, (n, m) for a matrix."""
    match type_:
        case Scalar():
            return ()
        case Vector(n, _):
            return (n,)
        case Matrix(n, m, _):
            return (n, m)


def shaped(shape: tuple[int, ...], scalar: Scalar) -> Type:
    """Return the type with a shape of 0, 1 or 2 dimensions."""
    match shape:
        case ():
            return scalar
        case (n,):
            return Vector(n, scalar)
        case (n, m):
            return Matrix(n, m, scalar)
        case _:
            raise ValueError(f"no value type has the shape {shape}")


def with_scalar(type_: Type, scalar: Scalar) -> Type:
    """Return the type of the same shape with another number type."""
    return shaped(shape_of(type_), scalar)


def is_float(type_: Type) -> bool:
    """Tell whether values of the type can carry a derivative."""
    return scalar_of(type_) in FLOATS


def nbytes_of(element: Type, shape: tuple[int, ...]) -> int:
    """Return the bytes of an array."""
    return prod((*shape, *shape_of(element))) * numpy_dtype(scalar_of(element)).itemsize


def is_signed(scalar: Scalar) -> bool:
    """Tell whether an integer type has a sign."""
    return scalar.name.startswith("i")


def integer_limits(scalar: Scalar) -> tuple[int, int]:
    """Return the first integer of a type, and the last one."""
    bits = 8 * _NUMPY[scalar].itemsize
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed(scalar) else (0, 2**bits - 1)


def promote(a: Scalar, b: Scalar) -> Scalar:
    """Return the type both operands of an arithmetic operation are cast to.

    Floats win over integers and wider over narrower, as in Taichi; two bools give i32, so that
    `(a > 0) + (b > 0)` counts (in Taichi it is a one-bit sum).
    """
    if a == b:
        return I32 if a == BOOL else a
    if a in FLOATS or b in FLOATS:
        return max((s for s in (a, b) if s in FLOATS), key=FLOATS.index)
    if BOOL in (a, b):
        return a if b == BOOL else b
    bits = {s: _NUMPY[s].itemsize for s in (a, b)}
    if bits[a] != bits[b]:
        return a if bits[a] > bits[b] else b
    return a if not is_signed(a) else b
