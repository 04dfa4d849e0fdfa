"""The nearest positive semidefinite matrix to a small symmetric one, in a thread.

Negative eigenvalues are replaced by zero, which is the nearest such matrix in the Frobenius norm
(Higham, Computing a nearest symmetric positive semidefinite matrix, 1988).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import TypeAlias

from difftile.ir.nodes import Alloc, Array, Block, Const, For, Value, Var
from difftile.ir.types import F32, F64, I32, FieldType, scalar_of
from difftile.ops.build import Expr, OpBuilder, zero

Entries: TypeAlias = dict[tuple[int, int], Value]
"""The entries of a symmetric matrix that may be nonzero, by row and column, row <= column."""

_CLOSED = 3  # matrices up to this size have an op
_SWEEPS = 12  # Jacobi's method converges quadratically: more than doubles need up to 16 x 16
_NEGLIGIBLE = {F32: 1e-10, F64: 1e-19}  # entries off the diagonal, relative to the norm


def positive_part(b: OpBuilder, entries: Entries, count: int) -> Entries:
    """Append a symmetric matrix with its negative eigenvalues replaced by zero; return its entries.

    Args:
        b: Where statements are appended.
        entries: The entries of the matrix.
        count: The number of its rows.
    """
    type_ = scalar_of(next(iter(entries.values())).type)
    if count == 1:
        return {(0, 0): _positive(b, entries[0, 0])}
    full = [
        entries.get((min(i, j), max(i, j)), zero(type_)) for i in range(count) for j in range(count)
    ]
    if count <= _CLOSED:
        return _by_op(b, full, count)
    return _by_rotations(b, full, count)


def _positive(b: OpBuilder, value: Value) -> Value:
    """Return the value, or zero where it is negative; NaN stays."""
    return (b.expr(value) < 0.0).select(zero(value.type), value).value


def _by_op(b: OpBuilder, full: list[Value], n: int) -> Entries:
    found = b.call("sym_eig", b.matrix((n, n), tuple(full)))
    parts = [b.call("extract", found, Const(k, I32)) for k in range(n + n * n)]
    values = [_positive(b, value) for value in parts[:n]]
    entries: Entries = {}
    for i, j in combinations_with_replacement(range(n), 2):
        for k, value in enumerate(values):
            product = b.call("mul", parts[n + i * n + k], parts[n + j * n + k])
            b.add_to(entries, (i, j), b.call("mul", value, product))
    return entries


def _by_rotations(b: OpBuilder, full: list[Value], n: int) -> Entries:
    """Diagonalise by Jacobi's method (Golub and Van Loan, Matrix Computations, 8.5)."""
    type_ = scalar_of(full[0].type)
    a, v, result = (
        Array(name, FieldType(type_, 1), n * n) for name in ("rotated", "vectors", "positive")
    )

    def at(array: Array, i: Expr, j: Expr) -> Expr:
        return b.expr(b.load(array, ((i * n + j).value,)))

    def put(array: Array, i: Expr, j: Expr, value: Expr) -> None:
        b.store(array, ((i * n + j).value,), value.value)

    def turn(array: Array, p: Expr, q: Expr, c: Expr, s: Expr, *, rows: bool) -> None:
        def one(k: Expr) -> None:
            first, second = ((p, k), (q, k)) if rows else ((k, p), (k, q))
            x, y = at(array, *first), at(array, *second)
            put(array, *first, c * x - s * y)
            put(array, *second, s * x + c * y)

        _loop(b, "k", 0, n, one)

    total = _sum(b, [b.call("mul", value, value) for value in full])
    tiny = b.expr(total).call("sqrt") * _NEGLIGIBLE[type_]

    def rotate(p: Expr, q: Expr) -> None:
        off = at(a, p, q)
        with b.branch((off.call("abs") > tiny).value):
            theta = (at(a, q, q) - at(a, p, p)) / (off + off)
            root = (theta * theta + 1.0).call("sqrt") + theta.call("abs")
            tangent = (theta < 0.0).select((-1.0 / root).value, (1.0 / root).value)
            c = 1.0 / (tangent * tangent + 1.0).call("sqrt")
            s = tangent * c
            turn(a, p, q, c, s, rows=False)
            turn(a, p, q, c, s, rows=True)
            turn(v, p, q, c, s, rows=False)

    def sweep(_: Expr) -> None:
        def row(p: Expr) -> None:
            _loop(b, "q", p + 1, n, lambda q: rotate(p, q))

        _loop(b, "p", 0, n - 1, row)

    def combine(i: Expr) -> None:
        def column(j: Expr) -> None:
            put(result, i, j, b.expr(zero(type_)))

            def add(k: Expr) -> None:
                value = b.expr(_positive(b, at(a, k, k).value))
                put(result, i, j, at(result, i, j) + value * at(v, i, k) * at(v, j, k))

            _loop(b, "k", 0, n, add)

        _loop(b, "j", i, n, column)

    for array in (a, v, result):
        b.append(Alloc(array))
    for k, value in enumerate(full):
        b.store(a, (Const(k, I32),), value)
    _loop(b, "i", 0, n, lambda i: put(v, i, i, b.expr(Const(1.0, type_))))
    _loop(b, "sweep", 0, _SWEEPS, sweep)
    _loop(b, "i", 0, n, combine)
    return {
        (i, j): b.load(result, (Const(i * n + j, I32),))
        for i, j in combinations_with_replacement(range(n), 2)
    }


def _sum(b: OpBuilder, values: list[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = b.call("add", total, value)
    return total


def _loop(
    b: OpBuilder, name: str, start: Expr | int, stop: Expr | int, body: Callable[[Expr], None]
) -> None:
    ends = [end.value if isinstance(end, Expr) else Const(end, I32) for end in (start, stop)]
    index = Var(name, I32)
    with b.region() as stmts:
        body(b.expr(index))
    b.append(For(index, ends[0], ends[1], (), (), Block(tuple(stmts)), ()))
