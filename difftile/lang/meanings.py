"""What a Python object means in a kernel: the names of the language, and values of Python.

One table of names (`names.py`) holds for our own objects and for each dialect that is loaded.
"""

from __future__ import annotations

import builtins
import math
from types import ModuleType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

import difftile.lang as ti
from difftile.ir.types import BOOL, I32, SCALARS, Matrix, Scalar, Type, Vector, numpy_dtype
from difftile.lang import values
from difftile.lang.compounds import MatrixType, NdarrayType, Template, VectorType
from difftile.lang.dialects import PACKAGES, dialect_values, loaded
from difftile.lang.names import found_in, key
from difftile.lang.scalars import BY_SCALAR
from difftile.lang.structs import Struct, is_struct_type, methods_of, struct_of
from difftile.lang.type_objects import has_own_scalar, value_type
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

_MODULES: dict[str, Any] = {"": builtins, "math": math, "np": np}
_OPS = [
    (getattr(_MODULES[module], attribute), op)
    for name, op in NAMED.items()
    for module, _, attribute in (name.rpartition("."),)
    if module in _MODULES
]
_SPECIAL: list[tuple[Any, str]] = [
    (builtins.range, "range"),
    (builtins.len, "len"),
    (builtins.print, "print"),
    (builtins.breakpoint, "breakpoint"),
    (builtins.pow, "power"),
    (builtins.any, "any"),
    (builtins.all, "all"),
    (math.hypot, "hypot"),
    (np.hypot, "hypot"),
]
_TYPES: list[tuple[Any, Type | None]] = [
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
_ARRAYS = {
    "numpy": "A NumPy array",
    "torch": "A tensor",
    **dict.fromkeys(("jax", "jaxlib"), "A JAX array"),
    "cupy": "A CuPy array",
}

# Modules whose names never change.
_LIBRARIES = ("math", "numpy", *PACKAGES)

_MEANINGS: dict[int, Meaning] = {
    **{key(value): OpName(name) for value, name in _OPS},
    **{key(value): Special(name) for value, name in _SPECIAL},
    **{key(value): TypeName(type_) for value, type_ in _TYPES},
    **{key(value): Refused(what, hint) for value, what, hint in _REFUSED},
    **{key(value): meaning for value, meaning in found_in(ti)},
}


def meaning_of(value: object) -> Meaning | None:
    """Return the meaning of a Python object in a kernel, or None if it is only an object."""
    known = _MEANINGS.get(key(value)) or _of_dialects(value)
    if known is not None:
        return known
    if isinstance(value, ModuleType):
        name = value.__name__
        known_names = name.partition(".")[0] in _LIBRARIES or name.startswith(ti.__name__)
        return Library() if known_names else None
    type_ = value_type(value)
    if type_ is not None:
        return TypeName(type_, follows=not has_own_scalar(value))
    if is_struct_type(value):
        return StructName(struct_of(value))
    if isinstance(value, Struct):
        return StructMeaning(tuple(value.keys), methods_of(value))
    array = values.own_values(value)
    if array is not None:
        return VectorMeaning(array.shape)
    return _value_of_dialect(value) or _refused(value)


def _of_dialects(value: object) -> Meaning | None:
    """Return the meaning of a name of a dialect, or None."""
    found = (dialect.meanings.get(key(value)) for dialect in loaded())
    return next((one for one in found if one is not None), None)


def _value_of_dialect(value: Any) -> Meaning | None:
    """Return the meaning of an object that a dialect has made, or None."""
    for dialect in loaded():
        if isinstance(value, dialect.struct):
            return StructMeaning(tuple(value.keys), methods_of(value))
        if getattr(value, dialect.function_mark, False) is True:
            # Its text is in the kernel language as well. A method of Quadrants keeps its object.
            return FuncMeaning(value.__wrapped__, bound="instance" in vars(value))
        if isinstance(value, dialect.matrix):
            return VectorMeaning((value.n, value.m)[: value.ndim])
        if isinstance(value, dialect.fields):
            hint = "make it a difftile field: 'dt.field' or 'dt.from_numpy'."
            return Refused(f"A {dialect.title} field", hint)
    return None


def _refused(value: Any) -> Meaning | None:
    """Return the refusal of a kernel or array of another library, or None."""
    if hasattr(value, "_is_wrapped_kernel"):
        package = type(value).__module__.partition(".")[0]
        title = package.capitalize() if package in PACKAGES else "Taichi"
        return Refused(f"A {title} kernel", "make it a '@dt.func'.")
    # Classes of Cython have a descriptor for `__module__` on Python 3.10.
    library = _ARRAYS.get(str(type(value).__module__).partition(".")[0])
    kind = cast("type[Any]", type(value))
    if library is not None and hasattr(kind, "__dlpack__"):
        advice = "pass it as an argument, or make it a field: 'dt.from_dlpack(array)'."
        return Refused(library, advice)
    package = (getattr(value, "__module__", None) or "").partition(".")[0]
    if package in PACKAGES and callable(value):
        return HostOnly("it is not part of the kernel language.")
    return None


def element_dtype(value: Any) -> Any:
    """Return the type of the elements that an annotation `ti.types.ndarray(...)` names, or None."""
    kinds = (NdarrayType, *(one.array_type for one in loaded()))
    return value.dtype if isinstance(value, kinds) else None


def is_template(value: Any) -> bool:
    """Tell whether an annotation is `ti.template()` or `ti.template`."""
    kinds = (Template, *(one.template for one in loaded()))
    return isinstance(value, kinds) or any(value is one for one in kinds)


def vector_values(value: object) -> npt.NDArray[Any] | None:
    """Return a vector or matrix made in Python as an array; None for other objects."""
    own = values.own_values(value)
    return dialect_values(value) if own is None else own


def dtype_of(type_: Type) -> Any:
    """Return the object of the language that stands for a type.

    It is one of the dialect that is loaded, so that `x.dtype is ti.f32` in a program that imports
    Taichi; without any, it is ours.
    """
    dialect = next(iter(loaded()), None)
    return own_type(type_) if dialect is None else dialect.type_object(type_)


def own_type(type_: Type) -> Any:
    """Return our object that stands for a type."""
    match type_:
        case Scalar():
            return BY_SCALAR[type_]
        case Vector():
            return VectorType(type_)
        case Matrix():
            return MatrixType(type_)
