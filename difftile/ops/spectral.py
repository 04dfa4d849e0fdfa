"""Adjoints and tangents of the decompositions: macros of the formula language.

The values come packed in one vector, as `decompositions` returns them. Source: Townsend 2016,
Differentiating the singular value decomposition, with the off-diagonal part split into the sum and
the difference of its two entries: one has 1 / (s_i - s_j), the other 1 / (s_i + s_j). The polar
factors need only the second, which stays finite where singular values are equal.

Where a divisor is zero up to rounding errors, the part that it divides is 0. This part is the turn
of two singular vectors or eigenvectors within the plane that they span, which is not determined.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from difftile.ir.nodes import Const, Value
from difftile.ir.types import FLOATS, I32, numpy_dtype, scalar_of, shape_of
from difftile.ops.build import OpBuilder, zero

_Entries: TypeAlias = dict[tuple[int, int], Value]  # of a matrix, by row and column


def svd_adjoint(b: OpBuilder, z: Value, z_bar: Value) -> Value:
    """Return the adjoint of a, where z is `svd(a)`."""
    n = _order(z, 2, 1)
    u, s, v = _unpacked(b, z, n, "mvm")
    u_bar, s_bar, v_bar = _unpacked(b, z_bar, n, "mvm")
    x, y = (_skew_part(b, _transposed_times(b, p, q)) for p, q in ((u, u_bar), (v, v_bar)))
    size = b.call("norm", s)
    entries = _diagonal(b, s_bar, n)
    for i, j in _pairs(n):
        si, sj = _at(b, s, i), _at(b, s, j)
        both = b.call(
            "mul", b.call("add", x[i, j], y[i, j]), _inverse(b, b.call("sub", sj, si), size)
        )
        apart = b.call(
            "mul", b.call("sub", x[i, j], y[i, j]), _inverse(b, b.call("add", si, sj), size)
        )
        entries[i, j] = _half(b, b.call("add", both, apart))
        entries[j, i] = _half(b, b.call("sub", both, apart))
    inner = _matrix(b, entries, n)
    return b.call("matmul", b.call("matmul", u, inner), b.call("transpose", v))


def svd_tangent(b: OpBuilder, z: Value, a_dot: Value) -> Value:
    """Return the tangent of z, where z is `svd(a)`."""
    n = _order(z, 2, 1)
    u, s, v = _unpacked(b, z, n, "mvm")
    p = b.call("matmul", _transposed_times(b, u, a_dot), v)
    size = b.call("norm", s)
    of_u: _Entries = {}
    of_v: _Entries = {}
    for i, j in _pairs(n):
        si, sj = _at(b, s, i), _at(b, s, j)
        above, below = _at(b, p, i, j), _at(b, p, j, i)
        gap, total = b.call("sub", sj, si), b.call("add", si, sj)
        both = b.call("mul", b.call("add", above, below), _inverse(b, gap, size))
        apart = b.call("mul", b.call("sub", above, below), _inverse(b, total, size))
        of_u[i, j] = _half(b, b.call("add", both, apart))
        of_v[i, j] = _half(b, b.call("sub", both, apart))
    u_dot, v_dot = (b.call("matmul", m, _skew(b, w, n)) for m, w in ((u, of_u), (v, of_v)))
    return _packed(b, u_dot, b.call("vec", *(_at(b, p, i, i) for i in range(n))), v_dot)


def sym_eig_adjoint(b: OpBuilder, z: Value, z_bar: Value) -> Value:
    """Return the adjoint of a, a symmetric matrix, where z is `sym_eig(a)`."""
    n = _order(z, 1, 1)
    values, q = _unpacked(b, z, n, "vm")
    values_bar, q_bar = _unpacked(b, z_bar, n, "vm")
    x = _skew_part(b, _transposed_times(b, q, q_bar))
    size = b.call("norm", values)
    entries = _diagonal(b, values_bar, n)
    for i, j in _pairs(n):
        gap = b.call("sub", _at(b, values, j), _at(b, values, i))
        entries[i, j] = entries[j, i] = _half(b, b.call("mul", x[i, j], _inverse(b, gap, size)))
    inner = _matrix(b, entries, n)
    return b.call("matmul", b.call("matmul", q, inner), b.call("transpose", q))


def sym_eig_tangent(b: OpBuilder, z: Value, a_dot: Value) -> Value:
    """Return the tangent of z, where z is `sym_eig(a)`."""
    n = _order(z, 1, 1)
    values, q = _unpacked(b, z, n, "vm")
    whole = b.call("add", a_dot, b.call("transpose", a_dot))
    p = b.call("matmul", _transposed_times(b, q, whole), q)
    size = b.call("norm", values)
    turn: _Entries = {}
    for i, j in _pairs(n):
        gap = b.call("sub", _at(b, values, j), _at(b, values, i))
        turn[i, j] = _half(b, b.call("mul", _at(b, p, i, j), _inverse(b, gap, size)))
    values_dot = _half(b, b.call("vec", *(_at(b, p, i, i) for i in range(n))))
    return _packed(b, values_dot, b.call("matmul", q, _skew(b, turn, n)))


def polar_adjoint(b: OpBuilder, a: Value, z: Value, z_bar: Value) -> Value:
    """Return the adjoint of a, where z is `polar(a)`.

    With dU = U W the skew W solves P W + W P = U^T da - da^T U, which for its axial vector w is
    (tr(P) - P) w = the axial vector of the right side: the eigenvalues of tr(P) - P are s_i + s_j.
    """
    n = _order(z, 2, 0)
    u, p = _unpacked(b, z, n, "mm")
    u_bar, p_bar = _unpacked(b, z_bar, n, "mm")
    u_bar = b.call("add", u_bar, b.call("matmul", a, b.call("transpose", p_bar)))
    x = _skew_part(b, _transposed_times(b, u, u_bar))
    return b.call("matmul", u, b.call("add", p_bar, _turned(b, p, x)))


def polar_tangent(b: OpBuilder, z: Value, a_dot: Value) -> Value:
    """Return the tangent of z, where z is `polar(a)`."""
    u, p = _unpacked(b, z, _order(z, 2, 0), "mm")
    turned = _transposed_times(b, u, a_dot)
    turn = _turned(b, p, _skew_part(b, turned))
    p_dot = b.call("sub", turned, b.call("matmul", turn, p))
    return _packed(b, b.call("matmul", u, turn), p_dot)


def _turned(b: OpBuilder, p: Value, x: _Entries) -> Value:
    """Return the skew matrix of (tr(P) - P)^-1 w, where w is the axial vector of x."""
    scalar = scalar_of(p.type)
    trace, size = b.call("trace", p), b.call("norm", p)
    if shape_of(p.type) == (2, 2):
        return _skew(b, {(0, 1): b.call("mul", x[0, 1], _inverse(b, trace, size))}, 2)
    scale = b.call("select", b.call("gt", size, zero(scalar)), size, Const(1.0, scalar))
    k = {
        (i, j): b.call(
            "div",
            b.call("sub", trace, _at(b, p, i, j)) if i == j else b.call("neg", _at(b, p, i, j)),
            scale,
        )
        for i in range(3)
        for j in range(3)
    }

    def minor(i: int, j: int) -> Value:
        # The cyclic indices carry the sign of the cofactor.
        (r, s), (c, d) = ((i + 1) % 3, (i + 2) % 3), ((j + 1) % 3, (j + 2) % 3)
        return b.call("sub", b.call("mul", k[r, c], k[s, d]), b.call("mul", k[r, d], k[s, c]))

    cofactors = b.matrix((3, 3), tuple(minor(i, j) for i in range(3) for j in range(3)))
    row = b.call("vec", *(k[0, j] for j in range(3)))
    det = b.call("dot", row, b.call("vec", *(_at(b, cofactors, 0, j) for j in range(3))))
    axial = b.call("vec", x[2, 1], x[0, 2], x[1, 0])
    one = Const(1.0, scalar)
    factor = b.call("div", _inverse(b, det, one), scale)
    w = b.call("mul", b.call("matmul", cofactors, axial), factor)
    w0, w1, w2 = (_at(b, w, i) for i in range(3))
    return _skew(b, {(0, 1): b.call("neg", w2), (0, 2): w1, (1, 2): b.call("neg", w0)}, 3)


def _order(packed: Value, matrices: int, vectors: int) -> int:
    """Return n, from the length of n x n matrices and n vectors packed together."""
    (length,) = shape_of(packed.type)
    return next(n for n in (2, 3) if matrices * n * n + vectors * n == length)


def _pairs(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


def _at(b: OpBuilder, value: Value, *index: int) -> Value:
    return b.call("extract", value, *(Const(i, I32) for i in index))


def _unpacked(b: OpBuilder, packed: Value, n: int, kinds: str) -> list[Value]:
    """Return the matrices ("m") and vectors ("v") that stand one after the other in a vector."""
    found: list[Value] = []
    at = 0
    for kind in kinds:
        size = n * n if kind == "m" else n
        parts = tuple(_at(b, packed, at + k) for k in range(size))
        found.append(b.matrix((n, n), parts) if kind == "m" else b.call("vec", *parts))
        at += size
    return found


def _packed(b: OpBuilder, *parts: Value) -> Value:
    """Return the components of all parts, one after the other, in one vector."""
    cells = [(part, cell) for part in parts for cell in np.ndindex(shape_of(part.type))]
    return b.call("vec", *(_at(b, part, *cell) for part, cell in cells))


def _skew(b: OpBuilder, above: _Entries, n: int) -> Value:
    """Return the skew matrix with these entries above its diagonal."""
    nothing = zero(scalar_of(above[0, 1].type))
    entries = above | {(j, i): b.call("neg", value) for (i, j), value in above.items()}
    return _matrix(b, entries | {(i, i): nothing for i in range(n)}, n)


def _transposed_times(b: OpBuilder, p: Value, q: Value) -> Value:
    return b.call("matmul", b.call("transpose", p), q)


def _skew_part(b: OpBuilder, m: Value) -> _Entries:
    """Return the entries of m - m^T off the diagonal."""
    n, _ = shape_of(m.type)
    found: _Entries = {}
    for i, j in _pairs(n):
        found[i, j] = b.call("sub", _at(b, m, i, j), _at(b, m, j, i))
        found[j, i] = b.call("neg", found[i, j])
    return found


def _diagonal(b: OpBuilder, values: Value, n: int) -> _Entries:
    return {(i, i): _at(b, values, i) for i in range(n)}


def _matrix(b: OpBuilder, entries: _Entries, n: int) -> Value:
    return b.matrix((n, n), tuple(entries[i, j] for i in range(n) for j in range(n)))


def _half(b: OpBuilder, value: Value) -> Value:
    return b.call("mul", Const(0.5, scalar_of(value.type)), value)


def _inverse(b: OpBuilder, divisor: Value, size: Value) -> Value:
    """Return 1 / divisor, or 0 where it is zero up to the rounding errors of numbers of a size."""
    scalar = scalar_of(divisor.type)
    assert scalar in FLOATS
    rounding = 2 * float(np.finfo(numpy_dtype(scalar)).eps)
    least = b.call("mul", Const(rounding, scalar), size)
    matters = b.call("gt", b.call("abs", divisor), least)
    return b.call("select", matters, b.call("div", Const(1.0, scalar), divisor), zero(scalar))


MACROS = (
    svd_adjoint,
    svd_tangent,
    sym_eig_adjoint,
    sym_eig_tangent,
    polar_adjoint,
    polar_tangent,
)
