"""How types, numbers and functions are spelled in generated source, apart from any statement."""

from __future__ import annotations

import keyword
import math
from collections.abc import Mapping

import numpy as np

from difftile.ir.nodes import Let, Program
from difftile.ir.types import (
    BOOL,
    F32,
    FLOATS,
    I32,
    FieldType,
    Type,
    scalar_of,
    shape_of,
)
from difftile.ir.walk import walk
from difftile.schedule.long_values import LONG
from difftile.substrate.spellings import SPELLINGS, CallSpelling, Spelling

_LONGEST_SIGNATURE = 100

# Names with a meaning of their own in the source.
RESERVED = frozenset(
    (
        *keyword.kwlist,
        *("ti", "accurate", "dense", "linalg", "predicates", "vector_math", "warps"),
        *("range", "int", "float", "bool", "min", "max", "abs"),
        *(
            how.function
            for how in SPELLINGS.values()
            if isinstance(how, CallSpelling) and how.source
        ),
    )
)


def annotation(type_: FieldType) -> str:
    """Return the name that generated source uses for a field type."""
    shape = "x".join(map(str, shape_of(type_.element)))
    scalar = scalar_of(type_.element)
    prefix = f"{'mat' if 'x' in shape else 'vec'}{shape}_" if shape else ""
    return f"{prefix}{scalar}_{type_.ndim}d"


def function_name(let: Let) -> str:
    """Return the name of the function that an op is by its formula; types tell functions apart."""
    last = let.args[-1].type
    return f"{let.op}_{'x'.join(map(str, shape_of(last)))}{scalar_of(last)}"


def literal(value: float | int | bool, type_: Type) -> str:
    """Return the text of a literal; every literal carries its type."""
    shape = shape_of(type_)
    scalar = scalar_of(type_)
    if math.prod(shape) >= LONG and value == 0:
        kind = "Vector" if len(shape) == 1 else "Matrix"
        return f"ti.{kind}.zero(ti.{scalar}, {', '.join(map(str, shape))})"
    if len(shape) == 1:
        return f"ti.Vector([{', '.join([literal(value, scalar)] * shape[0])}])"
    if len(shape) == 2:
        row = f"[{', '.join([literal(value, scalar)] * shape[1])}]"
        return f"ti.Matrix([{', '.join([row] * shape[0])}])"
    if scalar == BOOL:
        return f"ti.cast({int(bool(value))}, ti.u1)"
    if scalar == I32:
        return str(int(value))
    if scalar not in FLOATS:
        return f"ti.{scalar}({int(value)})"
    if scalar == F32:
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    if not np.isfinite(value):
        sign = "-" if value < 0 else ""
        text = "ti.math.nan" if np.isnan(value) else f"{sign}ti.math.inf"
        return text if scalar == F32 else f"ti.cast({text}, ti.{scalar})"
    if scalar == F32:
        return _decimal(str(np.float32(value)))
    return f"ti.{scalar}({_decimal(repr(float(value)))})"


def _decimal(text: str) -> str:
    return text if any(mark in text for mark in ".en") else f"{text}.0"


def signature(name: str, params: list[str]) -> list[str]:
    """Return the lines that begin a function."""
    one_line = f"def {name}({', '.join(params)}):"
    if len(one_line) <= _LONGEST_SIGNATURE:
        return [one_line]
    return [f"def {name}(", *(f"    {param}," for param in params), "):"]


def helpers(program: Program, spellings: Mapping[str, Spelling]) -> list[str]:
    """Return the lines of the functions that the spellings of ops call."""
    used = {stmt.op for stmt in walk(program.body) if isinstance(stmt, Let)}
    calls = [how for op, how in spellings.items() if op in used and isinstance(how, CallSpelling)]
    return [line for call in calls if call.source for line in (*call.source.splitlines(), "", "")]
