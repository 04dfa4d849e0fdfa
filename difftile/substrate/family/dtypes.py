"""Types of difftile as the compiler's, and back."""

from __future__ import annotations

from typing import Any

from difftile.ir.types import BOOL, SCALARS, Matrix, Scalar, Type, Vector
from difftile.substrate.compiler import private, ti

_DTYPES: dict[Scalar, Any] = {
    scalar: ti.u1 if scalar == BOOL else getattr(ti, name) for name, scalar in SCALARS.items()
}


def dtype_of(type_: Type) -> Any:
    """Return the compiler's type object of a type."""
    match type_:
        case Scalar():
            return _DTYPES[type_]
        case Vector(n, scalar):
            return ti.types.vector(n, _DTYPES[scalar])
        case Matrix(n, m, scalar):
            return ti.types.matrix(n, m, _DTYPES[scalar])


def type_of(dtype: Any) -> Type:
    """Return the type that a type object of the compiler stands for."""
    if isinstance(dtype, private.VectorType):
        return Vector(dtype.n, _scalar_of(dtype.dtype))
    if isinstance(dtype, private.MatrixType):
        return Matrix(dtype.n, dtype.m, _scalar_of(dtype.dtype))
    return _scalar_of(dtype)


def _scalar_of(dtype: Any) -> Scalar:
    return next(scalar for scalar, one in _DTYPES.items() if one == dtype)
