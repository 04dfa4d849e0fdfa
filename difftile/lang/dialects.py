"""Packages of others whose names kernels may use: `import taichi as ti`, `import quadrants as ti`.

None of them is imported here: an object of a package exists only where it has been imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

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
        self.vector_type: type[Any] = one.lang.matrix.VectorType
        self.matrix_type: type[Any] = one.lang.matrix.MatrixType
        self.struct_type: type[Any] = one.lang.struct.StructType
        self.array_type: type[Any] = one.types.ndarray_type.NdarrayType
        self.template: type[Any] = one.template
        self.struct: type[Any] = one.Struct
        self.matrix: type[Any] = one.Matrix
        self.fields: tuple[type[Any], ...] = (one.Field, one.MatrixField, one.Ndarray)
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


_known: dict[str, Dialect] = {}


def loaded() -> Sequence[Dialect]:
    """Return the dialects among the modules that are loaded."""
    for name in PACKAGES:
        package = sys.modules.get(name)
        if name in _known or package is None or not hasattr(package, "lang"):
            continue
        if not getattr(package.__spec__, "_initializing", False):
            _known[name] = Dialect(package)
    return [_known[name] for name in PACKAGES if name in _known]


def dialect_values(value: Any) -> npt.NDArray[Any] | None:
    """Return a vector or matrix that a dialect made in Python as an array; None for others."""
    of_dialect = any(isinstance(value, one.matrix) for one in loaded())
    return value.to_numpy() if of_dialect else None
