"""Taichi's names in the kernel language: which op, type or special form each stands for."""

from __future__ import annotations

import builtins
import math
from types import ModuleType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import taichi as ti
from taichi.lang.matrix import MatrixType, VectorType
from taichi.lang.struct import StructType
from taichi.types.ndarray_type import NdarrayType

from difftile.ir.types import (
    BOOL,
    F32,
    I32,
    SCALARS,
    Matrix,
    Scalar,
    Struct,
    Type,
    Vector,
    numpy_dtype,
)
from difftile.ops.table import NAMED
from difftile.ops.vocabulary import (
    FuncMeaning,
    HostOnly,
    Library,
    Meaning,
    OpName,
    Refused,
    Special,
    StructMeaning,
    StructName,
    TypeName,
    VectorMeaning,
)

_DTYPES: dict[Scalar, Any] = {
    scalar: ti.u1 if scalar == BOOL else getattr(ti, name) for name, scalar in SCALARS.items()
}

_TI = ti.math

_MODULES: dict[str, Any] = {
    "": builtins,
    "math": math,
    "np": np,
    "ti": ti,
    "ti.math": ti.math,
}


_OPS = [
    (getattr(_MODULES[module], attribute), op)
    for name, op in NAMED.items()
    for module, _, attribute in (name.rpartition("."),)
    if module != "dt"
]

namespace: Any = ti  # for kernels of the library, which do not import Taichi

_SPECIAL: list[tuple[Any, str]] = [
    (builtins.range, "range"),
    (builtins.len, "len"),
    (builtins.print, "print"),
    (ti.ndrange, "ndrange"),
    (ti.grouped, "grouped"),
    (ti.static, "static"),
    (ti.pow, "power"),
    (builtins.pow, "power"),
    (ti.cast, "cast"),
    (ti.bit_cast, "bit_cast"),
    (ti.Vector, "vector"),
    (ti.Matrix, "matrix"),
    (ti.Struct, "struct"),
    *((make, "make_type") for make in (ti.types.vector, ti.types.matrix, ti.types.struct)),
    *(
        (getattr(ti, f"atomic_{name}"), f"atomic_{name}")
        for name in ("add", "sub", "mul", "max", "min", "and", "or", "xor")
    ),
    (ti.loop_config, "loop_config"),
    (math.hypot, "hypot"),
    (np.hypot, "hypot"),
    (ti.random, "rand"),
    (ti.randn, "randn"),
    (ti.Vector.zero, "zero"),
    (ti.Vector.one, "one"),
    (ti.Matrix.zero, "zero"),
    (ti.Matrix.one, "one"),
    (ti.Matrix.identity, "identity"),
    (ti.Matrix.rows, "rows"),
    (ti.Matrix.cols, "columns"),
    (ti.Matrix.diag, "diag"),
    (ti.Matrix.unit, "unit"),
    (_TI.eye, "eye"),
    (ti.svd, "svd"),
    (ti.sym_eig, "sym_eig"),
    (ti.eig, "eig"),
    (ti.polar_decompose, "polar"),
    (ti.zero, "zero_like"),
    (ti.one, "one_like"),
    (builtins.any, "any"),
    (builtins.all, "all"),
]

_TYPES: list[tuple[Any, Type | None]] = [
    *((dtype, scalar) for scalar, dtype in _DTYPES.items()),
    (builtins.float, None),
    (builtins.int, I32),
    (builtins.bool, BOOL),
    *((numpy_dtype(scalar).type, scalar) for scalar in SCALARS.values()),
]

_REFUSED: list[tuple[Any, str, str]] = [
    (builtins.sum, "'sum'", "write a loop that adds, or 'v.sum()' of a vector."),
    (builtins.enumerate, "'enumerate'", "loop over an index: 'for i in range(n)'."),
    (builtins.zip, "'zip'", "loop over an index: 'for i in range(n)'."),
    (builtins.sorted, "'sorted'", "sort in Python before the launch."),
]


_FROM_PYTHON = "call it from Python, before or after the launch."

_HOST_ONLY: list[tuple[Any, str]] = [
    *((one, _FROM_PYTHON) for one in (ti.sync, ti.init, ti.reset, ti.field, ti.ndarray)),
    *((one, _FROM_PYTHON) for one in (ti.Vector.field, ti.Matrix.field)),
    *((one, _FROM_PYTHON) for one in (ti.Vector.ndarray, ti.Matrix.ndarray)),
    (ti.static_assert, "write 'assert', or check it in Python."),
    (ti.static_print, "write 'print', or print it from Python."),
]

# Modules whose names never change.
_LIBRARIES = ("math", "numpy", "taichi")

# Taichi fixes the precision of these when it is imported; in difftile they follow the data.
_OF_DEFAULT_PRECISION = (_TI.vec2, _TI.vec3, _TI.vec4, _TI.mat2, _TI.mat3, _TI.mat4)


def _key(value: object) -> int:
    return id(getattr(value, "__func__", value))  # class methods are new objects at each access


_MEANINGS: dict[int, Meaning] = {
    **{_key(value): OpName(name) for value, name in _OPS},
    **{_key(value): Special(name) for value, name in _SPECIAL},
    **{_key(value): TypeName(type_) for value, type_ in _TYPES},
    **{_key(value): Refused(what, hint) for value, what, hint in _REFUSED},
    **{_key(value): HostOnly(hint) for value, hint in _HOST_ONLY},
}


def meaning_of(value: object) -> Meaning | None:
    """Return the meaning of a Python object in a kernel, or None if it is only an object."""
    known = _MEANINGS.get(_key(value))
    if known is not None:
        return known
    if isinstance(value, ModuleType):
        return Library() if value.__name__.partition(".")[0] in _LIBRARIES else None
    type_ = value_type(value)
    if type_ is not None:
        return TypeName(type_)
    if isinstance(value, StructType):
        return StructName(struct_type(value))
    if isinstance(value, ti.Struct):
        methods: dict[str, Any] = getattr(value, "_Struct__methods", {})
        return StructMeaning(tuple(value.keys), tuple(methods.items()))
    if getattr(value, "_is_taichi_function", False):
        # Its text is in the kernel language as well.
        return FuncMeaning(cast(Any, value).__wrapped__)
    if hasattr(value, "_is_wrapped_kernel"):
        return Refused("A Taichi kernel", "make it a '@dt.func'.")
    if isinstance(value, ti.Matrix):
        return VectorMeaning((value.n, value.m)[: value.ndim])
    if isinstance(value, (ti.Field, ti.MatrixField, ti.Ndarray)):
        return Refused("A Taichi field", "make it a difftile field: 'dt.field' or 'dt.from_numpy'.")
    library = _ARRAYS.get(type(value).__module__.partition(".")[0])
    if library is not None and hasattr(type(value), "__dlpack__"):
        advice = "pass it as an argument, or make it a field: 'dt.from_dlpack(array)'."
        return Refused(library, advice)
    package = (getattr(value, "__module__", None) or "").partition(".")[0]
    if package == "taichi" and callable(value):
        return HostOnly("it is not part of the kernel language.")
    return None


_ARRAYS = {
    "numpy": "A NumPy array",
    "torch": "A tensor",
    **dict.fromkeys(("jax", "jaxlib"), "A JAX array"),
    "cupy": "A CuPy array",
}


def value_type(value: Any) -> Type | None:
    """Return the type that a Taichi type object stands for, or None."""
    if isinstance(value, VectorType):
        scalar = _scalar(value.dtype)
        return None if scalar is None else Vector(value.n, scalar)
    if isinstance(value, MatrixType):
        scalar = _scalar(value.dtype)
        return None if scalar is None else Matrix(value.n, value.m, scalar)
    return _scalar(value)


def element_dtype(value: Any) -> Any:
    """Return the type of the elements that an annotation `ti.types.ndarray(...)` names, or None."""
    return value.dtype if isinstance(value, NdarrayType) else None


def member_types(value: StructType) -> dict[str, Any]:
    """Return Taichi's type of each member of a struct type."""
    return dict(value.members)


def struct_values(value: object) -> dict[str, Any] | None:
    """Return the members of a struct made in Python by name; None for other objects."""
    if not isinstance(value, ti.Struct):
        return None
    return dict(value.entries)


def vector_values(value: object) -> npt.NDArray[Any] | None:
    """Return a vector or matrix made in Python as an array; None for other objects."""
    return cast(Any, value).to_numpy() if isinstance(value, ti.Matrix) else None


def methods_of(value: Any) -> tuple[tuple[str, Any], ...]:
    """Return the methods of a struct type, or of a struct made in Python, by name."""
    return tuple(value.methods.items())


def struct_type(value: StructType) -> Struct:
    """Return a Taichi struct type as one of ours."""
    members: list[tuple[str, Type | Struct]] = []
    for name, type_ in value.members.items():
        found = struct_type(type_) if isinstance(type_, StructType) else value_type(type_)
        assert found is not None, f"{name}: {type_}"
        members.append((name, found))
    return Struct(tuple(members), methods_of(value))


def _scalar(value: object) -> Scalar | None:
    for scalar, dtype in _DTYPES.items():
        if value is dtype or (type(value) is type(dtype) and value == dtype):
            return scalar
    if value is float:
        return F32
    return I32 if value is int else None


def has_own_scalar(value: object) -> bool:
    """Tell whether a type names its precision: `ti.f64` does, `float` and `ti.math.vec3` do not."""
    return value is not float and not any(value is one for one in _OF_DEFAULT_PRECISION)


def dtype_of(type_: Type) -> Any:
    """Return the Taichi type object of a type."""
    match type_:
        case Scalar():
            return _DTYPES[type_]
        case Vector(n, scalar):
            return ti.types.vector(n, _DTYPES[scalar])
        case Matrix(n, m, scalar):
            return ti.types.matrix(n, m, _DTYPES[scalar])
