"""Objects that stand for types: our own, the dialects', and Python's `float` and `int`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.habits import missing
from difftile.ir.types import F32, I32, Matrix, Scalar, Type, Vector, scalar_from_numpy
from difftile.lang.dialects import loaded

# Attributes of types in Taichi.
_OF_TYPES = {
    **dict.fromkeys(("field", "ndarray"), "write 'dt.field(ti.math.vec3, shape)', with the type."),
}


def without(what: str, name: str) -> AttributeError:
    """Return the error about an attribute that a type does not have."""
    if name.startswith("__"):
        return AttributeError(name)
    return missing(what, name, _OF_TYPES.get(name))


class TypeObject:
    """An object of ours that stands for a type of values.

    Args:
        type_: The type.
        follows: The number type follows the data, as for `ti.math.vec3`.
        name: How it is written after `ti.`, where it has a name.
    """

    __slots__ = ("follows", "name", "type")

    def __init__(self, type_: Type, follows: bool = False, name: str = "") -> None:
        self.type = type_
        self.follows = follows
        self.name = name

    def __getattr__(self, name: str) -> Any:
        raise without(f"The type {self!r}", name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypeObject):
            return (self.type, self.follows) == (other.type, other.follows)
        of_dialect = value_type(other) if not isinstance(other, type) else None
        return NotImplemented if of_dialect is None else self.type == of_dialect

    def __hash__(self) -> int:
        return hash(self.type)


def value_type(value: Any) -> Type | None:
    """Return the type that an object stands for, or None.

    Types of a dialect count where its package is loaded.
    """
    if isinstance(value, TypeObject):
        return value.type
    if value is float:
        return F32
    if value is int:
        return I32
    for dialect in loaded():
        if isinstance(value, (dialect.vector_type, dialect.matrix_type)):
            scalar = dialect.scalar(value.dtype)
            if scalar is None:
                return None
            is_vector = isinstance(value, dialect.vector_type)
            return Vector(value.n, scalar) if is_vector else Matrix(value.n, value.m, scalar)
        scalar = dialect.scalar(value)
        if scalar is not None:
            return scalar
    return None


def has_own_scalar(value: object) -> bool:
    """Tell whether a type names its precision: `ti.f64` does, `float` and `ti.math.vec3` do not."""
    if isinstance(value, TypeObject):
        return not value.follows
    return value is not float and not any(
        value is one for dialect in loaded() for one in dialect.follow_data
    )


def scalar_named(dtype: Any) -> Scalar:
    """Return the number type that an object names; types of NumPy are taken as well.

    Raises:
        LaunchError: It is no number type.
    """
    found = value_type(dtype)
    if found is None and isinstance(dtype, (np.dtype, type)):
        try:
            found = scalar_from_numpy(cast(Any, np).dtype(dtype))
        except TypeError:  # a class of something else
            found = None
    if not isinstance(found, Scalar):
        raise LaunchError(f"expected a number type such as ti.f32, got {dtype!r}.")
    return found
