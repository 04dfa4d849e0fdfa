"""The kernel language: its types, functions and forms, as `ti` in kernels.

`from difftile import ti` serves in place of `import taichi as ti`: kernels give both the same
meaning. Nothing here needs a compiler. Types, functions, vectors, matrices and structs work in
Python as well, by the rules of kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from difftile.habits import attribute, missing
from difftile.lang import math, types
from difftile.lang.compounds import Template as template
from difftile.lang.functions import (
    abs,
    acos,
    asin,
    atan2,
    bit_shr,
    ceil,
    cos,
    exp,
    floor,
    log,
    max,
    min,
    pow,
    raw_div,
    raw_mod,
    round,
    rsqrt,
    select,
    sin,
    sqrt,
    tan,
    tanh,
)
from difftile.lang.lanes import lanes
from difftile.lang.local_arrays import local
from difftile.lang.matrices import eig, polar_decompose, solve, svd, sym_eig
from difftile.lang.scalars import (
    f16,
    f32,
    f64,
    float16,
    float32,
    float64,
    i8,
    i16,
    i32,
    i64,
    int8,
    int16,
    int32,
    int64,
    u1,
    u8,
    u16,
    u32,
    u64,
    uint1,
    uint8,
    uint16,
    uint32,
    uint64,
)
from difftile.lang.special import (
    atomic_add,
    atomic_and,
    atomic_max,
    atomic_min,
    atomic_mul,
    atomic_or,
    atomic_sub,
    atomic_xor,
    bit_cast,
    cast,
    grouped,
    loop_config,
    ndrange,
    one,
    randn,
    random,
    static,
    zero,
)
from difftile.lang.structs import Struct, dataclass
from difftile.lang.values import Matrix, Vector

__all__ = [
    "Matrix",
    "Struct",
    "Vector",
    "abs",
    "acos",
    "asin",
    "atan2",
    "atomic_add",
    "atomic_and",
    "atomic_max",
    "atomic_min",
    "atomic_mul",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "bit_cast",
    "bit_shr",
    "cast",
    "ceil",
    "cos",
    "dataclass",
    "eig",
    "exp",
    "f16",
    "f32",
    "f64",
    "float16",
    "float32",
    "float64",
    "floor",
    "grouped",
    "i8",
    "i16",
    "i32",
    "i64",
    "int8",
    "int16",
    "int32",
    "int64",
    "lanes",
    "local",
    "log",
    "loop_config",
    "math",
    "max",
    "min",
    "ndrange",
    "one",
    "polar_decompose",
    "pow",
    "randn",
    "random",
    "raw_div",
    "raw_mod",
    "round",
    "rsqrt",
    "select",
    "sin",
    "solve",
    "sqrt",
    "static",
    "svd",
    "sym_eig",
    "tan",
    "tanh",
    "template",
    "types",
    "u1",
    "u8",
    "u16",
    "u32",
    "u64",
    "uint1",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "zero",
]


if not TYPE_CHECKING:  # which would take any name as known

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module 'difftile.lang' has no attribute '{name}'")
        raise missing("The module 'difftile.lang'", name, attribute("lang", name, __all__))


def __dir__() -> list[str]:
    return sorted(__all__)
