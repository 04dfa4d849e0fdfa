"""Which functions loops compute as vectors, and up to which arguments.

`substrate/family/vector_math.py` has the functions.
"""

from __future__ import annotations

FUNCTIONS: dict[str, int] = {
    **dict.fromkeys(("sin", "cos", "tan"), 1),
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logit"), 1),
    **dict.fromkeys(("asin", "acos", "atan"), 1),
    **dict.fromkeys(("tanh", "sigmoid", "log1pexp", "rsqrt", "erf", "erfc"), 1),
    **dict.fromkeys(("atan2", "pow"), 2),
}
"""The number of operands of each function."""

LIMITS: dict[str, tuple[float, float]] = dict.fromkeys(("sin", "cos", "tan"), (2.0**13, 2.0**20))
"""What the sizes of arguments have to be below, in single and in double precision."""
