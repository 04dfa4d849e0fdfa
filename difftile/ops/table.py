"""The table of ops: the rows of every family by name."""

from __future__ import annotations

from difftile.ops import algebra, discrete, random, scalar
from difftile.ops.row import Op

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        *scalar.ROWS,
        *scalar.PIECEWISE_CONSTANT,
        scalar.EXACT,
        *discrete.ROWS,
        discrete.BIT_CAST,
        *algebra.ROWS,
        *random.ROWS,
    )
}
ELEMENTWISE = frozenset(
    op.name for op in (*scalar.ROWS, *scalar.PIECEWISE_CONSTANT, scalar.EXACT, *discrete.ROWS)
)
