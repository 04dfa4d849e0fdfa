"""Long vectors and matrices, which functions are given by name: copies take long to compile."""

from __future__ import annotations

from math import prod

from difftile.ir.types import Type, shape_of

LONG = 48
"""Components from which on a vector or matrix is long."""

INTO = frozenset(
    (
        *("matmul", "transpose", "outer", "solve", "solve_lower", "solve_upper"),
        *("inverse", "cholesky", "cofactors"),
    )
)
"""Ops that `dense` has as functions which set a long result in place."""


def is_long(type_: Type) -> bool:
    """Tell whether a value is handed to functions by its name."""
    return prod(shape_of(type_)) >= LONG
