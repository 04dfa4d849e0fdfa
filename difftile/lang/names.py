"""The names of the kernel language, and the meaning of each in a kernel.

A name is written as after `ti.`: `sin`, `math.vec3`, `Matrix.rows`. The table holds for our own
objects and for the packages `taichi` and `quadrants` alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from difftile.ir.types import BOOL, SCALARS, Scalar
from difftile.ops.table import NAMED
from difftile.ops.vocabulary import HostOnly, Meaning, OpName, Special, TypeName

SCALAR_NAMES: dict[str, Scalar] = {
    "u1" if scalar == BOOL else name: scalar for name, scalar in SCALARS.items()
}

_SPECIAL: dict[str, str] = {
    **{name: name for name in ("ndrange", "grouped", "static", "cast", "bit_cast", "loop_config")},
    "pow": "power",
    "Vector": "vector",
    "Matrix": "matrix",
    "Struct": "struct",
    **{f"types.{name}": "make_type" for name in ("vector", "matrix", "struct")},
    **{
        f"atomic_{name}": f"atomic_{name}"
        for name in ("add", "sub", "mul", "max", "min", "and", "or", "xor")
    },
    "random": "rand",
    "randn": "randn",
    "local": "local",
    "lanes": "lanes",
    **{f"{one}.{name}": name for one in ("Vector", "Matrix") for name in ("zero", "one")},
    "Matrix.identity": "identity",
    "Matrix.rows": "rows",
    "Matrix.cols": "columns",
    "Matrix.diag": "diag",
    "Matrix.unit": "unit",
    "Vector.unit": "unit",
    "math.eye": "eye",
    "svd": "svd",
    "sym_eig": "sym_eig",
    "eig": "eig",
    "polar_decompose": "polar",
    "zero": "zero_like",
    "one": "one_like",
}

_FROM_PYTHON = "call it from Python, before or after the launch."
_HOST_ONLY: dict[str, str] = {
    **dict.fromkeys(("sync", "init", "reset", "field", "ndarray"), _FROM_PYTHON),
    **dict.fromkeys(("Vector.field", "Matrix.field"), _FROM_PYTHON),
    **dict.fromkeys(("Vector.ndarray", "Matrix.ndarray"), _FROM_PYTHON),
    "static_assert": "write 'assert', or check it in Python.",
    "static_print": "write 'print', or print it from Python.",
}

OF_LANGUAGE: dict[str, Meaning] = {
    **{
        name.removeprefix("ti."): OpName(op) for name, op in NAMED.items() if name.startswith("ti.")
    },
    **{name: Special(special) for name, special in _SPECIAL.items()},
    **{name: TypeName(scalar) for name, scalar in SCALAR_NAMES.items()},
}
ALL: dict[str, Meaning] = {
    **OF_LANGUAGE,
    **{name: HostOnly(hint) for name, hint in _HOST_ONLY.items()},
}

# Taichi fixes the precision of these when it is imported; in difftile they follow the data.
FOLLOW_DATA = tuple(f"math.{kind}{n}" for kind in ("vec", "mat") for n in (2, 3, 4))


def key(value: object) -> int:
    """Return the key of an object in a table of meanings."""
    return id(getattr(value, "__func__", value))  # class methods are new objects at each access


def found_in(package: Any) -> Iterator[tuple[object, Meaning]]:
    """Yield each object of the table that a package has, with its meaning."""
    for name, meaning in ALL.items():
        value = resolved(package, name)
        if value is not None:
            yield value, meaning


def resolved(package: Any, name: str) -> Any:
    """Return the object of a name in a package, or None."""
    value = package
    for part in name.split("."):
        value = getattr(value, part, None)
    return value
