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

# Rows of integers only, and their replacements where an operand is a float.
OF_FLOATS = {"raw_div": "div", "raw_mod": "fmod"}

# The functions that take integers as they are; others bring them to floats.
ANY_NUMBER = frozenset(
    (
        *("add", "sub", "mul", "neg", "floordiv", "mod", "max", "min", "abs", "sign"),
        *("lt", "le", "gt", "ge", "eq", "ne"),
        *("dot", "cross", "outer", "sum", "transpose", "trace", "matmul"),
        *("bit_and", "bit_or", "bit_xor", "invert", "shl", "shr", "shr_logical"),
        *("raw_div", "raw_mod", "popcnt", "clz", "unique"),
        *("clamp", "norm_sqr", "square", "cross_2d"),
    )
)
