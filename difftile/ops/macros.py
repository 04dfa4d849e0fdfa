"""Macros of the formula language: functions that append ops of their own choice.

A macro depends on the shapes of its arguments, or on the op and the argument that the formula is
for, which a formula of ops cannot express.
"""

from __future__ import annotations

from collections.abc import Callable

from difftile.ir.nodes import Const, Value
from difftile.ir.types import I32, scalar_of, shape_of
from difftile.ops import spectral
from difftile.ops.build import OpBuilder, zero
from difftile.records import dataclass

_LARGEST_BY_MINORS = 4


@dataclass(frozen=True, slots=True)
class FormulaScope:
    """The environment in which a formula is evaluated.

    Args:
        builder: Where ops are appended.
        names: Values by name.
        args: All arguments of the op.
        position: The position of the argument that the formula is for.
        structural: A literal 0 stands for a missing value, as in an adjoint.
    """

    builder: OpBuilder
    names: dict[str, Value]
    args: tuple[Value, ...]
    position: int = 0
    structural: bool = True


def component(b: OpBuilder, value: Value, position: int) -> Value:
    """Return component number `position` in row-major order."""
    shape = shape_of(value.type)
    index: list[Value] = []
    for size in reversed(shape):
        index.insert(0, Const(position % size, I32))
        position //= size
    return b.call("extract", value, *index)


def _part(scope: FormulaScope, whole: Value) -> Value:
    """Return the component at the position of the argument that the formula is for."""
    return component(scope.builder, whole, scope.position)


def _put(scope: FormulaScope, whole: Value, part: Value) -> Value:
    """Return a value like `whole`, zero but for `part` where the op's index points."""
    return scope.builder.call("insert", zero(whole.type), *scope.args[1:], part)


def _without(scope: FormulaScope, whole: Value) -> Value:
    """Return `whole` with a zero where the op's index points."""
    index = scope.args[1:-1]
    nothing = zero(scalar_of(whole.type))
    return scope.builder.call("insert", whole, *index, nothing)


def _taken(scope: FormulaScope, whole: Value) -> Value:
    """Return the component where the op's index points."""
    return scope.builder.call("extract", whole, *scope.args[1:-1])


def _astype(scope: FormulaScope, value: Value, like: Value) -> Value:
    return scope.builder.cast(value, scalar_of(like.type))


def _whole(scope: FormulaScope, number: Value) -> Value:
    """Return a literal as an integer."""
    assert isinstance(number, Const)
    return Const(int(number.value), I32)


def _ones(scope: FormulaScope, like: Value) -> Value:
    return Const(1.0, like.type)


def _zeros(scope: FormulaScope, like: Value) -> Value:
    return Const(0.0, like.type)


def _pattern(entry: Callable[[int, int], float]) -> Callable[..., Value]:
    """Return the macro of a matrix of numbers that its rows and columns decide."""

    def macro(scope: FormulaScope, like: Value) -> Value:
        n, m = shape_of(like.type)
        scalar = scalar_of(like.type)
        entries = (entry(i, j) for i in range(n) for j in range(m))
        parts = (Const(float(e), scalar, structural=not e) for e in entries)
        return scope.builder.matrix((n, m), tuple(parts))

    return macro


def _symmetric(scope: FormulaScope, matrix: Value) -> Value:
    """Return the symmetric part."""
    b = scope.builder
    both = b.call("add", matrix, b.call("transpose", matrix))
    return b.call("mul", Const(0.5, scalar_of(matrix.type)), both)


def _times_transpose(scope: FormulaScope, z_bar: Value, b: Value) -> Value:
    """Return z_bar @ b^T, which for vectors is their outer product."""
    builder = scope.builder
    if len(shape_of(b.type)) == 1:
        return builder.call("outer", z_bar, b)
    return builder.call("matmul", z_bar, builder.call("transpose", b))


def _cofactor(scope: FormulaScope, matrix: Value) -> Value:
    """Return the matrix of cofactors, of small ones by minors."""
    b = scope.builder
    n, _ = shape_of(matrix.type)
    if n > _LARGEST_BY_MINORS:
        return b.call("cofactors", matrix)
    scalar = scalar_of(matrix.type)
    entry = [[component(b, matrix, i * n + j) for j in range(n)] for i in range(n)]

    def minor(rows: tuple[int, ...], columns: tuple[int, ...]) -> Value:
        if not rows:
            return Const(1.0, scalar)
        total: Value = zero(scalar)
        for k, column in enumerate(columns):
            rest = minor(rows[1:], columns[:k] + columns[k + 1 :])
            term = b.call("mul", entry[rows[0]][column], rest)
            total = b.call("add" if k % 2 == 0 else "sub", total, term)
        return total

    def cofactor(i: int, j: int) -> Value:
        rows = tuple(r for r in range(n) if r != i)
        columns = tuple(c for c in range(n) if c != j)
        value = minor(rows, columns)
        return value if (i + j) % 2 == 0 else b.call("neg", value)

    return b.matrix((n, n), tuple(cofactor(i, j) for i in range(n) for j in range(n)))


def _of_builder(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return the macro of a function of a builder."""

    def macro(scope: FormulaScope, *values: Value) -> Value:
        return function(scope.builder, *values)

    return macro


MACROS: dict[str, Callable[..., Value]] = {
    "part": _part,
    "put": _put,
    "without": _without,
    "taken": _taken,
    "astype": _astype,
    "whole": _whole,
    "ones": _ones,
    "zeros": _zeros,
    "identity": _pattern(lambda i, j: i == j),
    "lower": _pattern(lambda i, j: i >= j),
    "upper": _pattern(lambda i, j: i <= j),
    "phi": _pattern(lambda i, j: (i > j) + (i == j) / 2),
    "symmetric": _symmetric,
    "times_transpose": _times_transpose,
    "cofactor": _cofactor,
    **{function.__name__: _of_builder(function) for function in spectral.MACROS},
}
