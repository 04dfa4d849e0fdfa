"""The tables of ops by name: the rows of every family, and their names in kernels."""

from __future__ import annotations

from difftile.ops import algebra, discrete, random, scalar, special
from difftile.ops.composites import COMPOSITES
from difftile.ops.row import Op

_ELEMENTWISE = (
    *scalar.ROWS,
    *scalar.PIECEWISE_CONSTANT,
    scalar.EXACT,
    *special.ROWS,
    *discrete.ROWS,
)

OPS: dict[str, Op] = {
    op.name: op for op in (*_ELEMENTWISE, discrete.BIT_CAST, *algebra.ROWS, *random.ROWS)
}
ELEMENTWISE = frozenset(op.name for op in _ELEMENTWISE)
# The row or composite of each function of kernels: "ti.math.mix" is "mix".
NAMED: dict[str, str] = {
    called: name
    for name, one in (*OPS.items(), *COMPOSITES.items())
    for called in one.names.split()
}
