"""Packages of others whose names kernels may use: `import taichi as ti`, `import quadrants as ti`.

None of them is imported here: an object of a package exists only where it has been imported.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from types import ModuleType
from typing import Any, cast

import numpy.typing as npt

from difftile.ir.types import Matrix, Scalar, Type, Vector
from difftile.lang.names import FOLLOW_DATA, SCALAR_NAMES, found_in, key, resolved
from difftile.ops.vocabulary import Meaning

PACKAGES = ("taichi", "quadrants")


class Dialect:
    """The objects of one such package.

    Args:
        package: The package.
    """

    def __init__(self, package: ModuleType) -> None:
        one: Any = package
        self.title = package.__name__.capitalize()
        self.vector_type: Any = one.lang.matrix.VectorType
        self.matrix_type: Any = one.lang.matrix.MatrixType
        self.struct_type: Any = one.lang.struct.StructType
        self.array_type: Any = one.types.ndarray_type.NdarrayType
        self.template: Any = one.template
        self.struct: Any = one.Struct
        self.matrix: Any = one.Matrix
        self.fields: tuple[Any, ...] = (one.Field, one.MatrixField, one.Ndarray)
        self.function_mark = f"_is_{package.__name__}_function"
        self.scalars: list[tuple[Any, Scalar]] = [
            (getattr(one, name), scalar) for name, scalar in SCALAR_NAMES.items()
        ]
        self.follow_data = [resolved(one, name) for name in FOLLOW_DATA]
        self.meanings: dict[int, Meaning] = {key(value): what for value, what in found_in(one)}
        self._types: Any = one.types

    def scalar(self, value: object) -> Scalar | None:
        """Return the number type that an object of the package stands for, or None."""
        for dtype, scalar in self.scalars:
            if value is dtype or (type(value) is type(dtype) and value == dtype):
                return scalar
        return None

    def type_object(self, type_: Type) -> Any:
        """Return the object of the package that stands for a type."""
        match type_:
            case Scalar():
                return next(dtype for dtype, scalar in self.scalars if scalar == type_)
            case Vector(n, scalar):
                return self._types.vector(n, self.type_object(scalar))
            case Matrix(n, m, scalar):
                return self._types.matrix(n, m, self.type_object(scalar))


class _Loaded:
    """The dialects that have been met; each change makes a new tuple, for threads that read it."""

    names: tuple[str, ...] = ()
    dialects: tuple[Dialect, ...] = ()


def loaded() -> tuple[Dialect, ...]:
    """Return the dialects among the modules that are loaded, in the order of `PACKAGES`."""
    for name in PACKAGES:
        if name not in _Loaded.names and name in sys.modules:
            _add(name)
    return _Loaded.dialects


def _add(name: str) -> None:
    package: Any = sys.modules[name]
    being_imported = getattr(getattr(package, "__spec__", None), "_initializing", False)
    if hasattr(package, "lang") and not being_imported:
        known = {**dict(zip(_Loaded.names, _Loaded.dialects, strict=True)), name: Dialect(package)}
        names = tuple(one for one in PACKAGES if one in known)
        _Loaded.dialects = tuple(known[one] for one in names)
        _Loaded.names = names


# Launches ask these of their arguments. A type of a dialect exists only once that is loaded, and so
# no answer ever changes; Taichi makes a type for each struct, hence the limit.


@lru_cache(256)
def has_vectors(kind: type) -> bool:
    """Tell whether the objects of a type are vectors or matrices of a dialect."""
    return issubclass(kind, tuple(one.matrix for one in loaded()))


@lru_cache(256)
def has_structs(kind: type) -> bool:
    """Tell whether the objects of a type are structs of a dialect."""
    return issubclass(kind, tuple(one.struct for one in loaded()))


def dialect_values(value: Any) -> npt.NDArray[Any] | None:
    """Return a vector or matrix that a dialect made in Python as an array; None for others."""
    return value.to_numpy() if has_vectors(cast("type[Any]", type(value))) else None
