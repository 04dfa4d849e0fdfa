"""The table of ops: the rows of every family by name."""

from __future__ import annotations

from difftile.ops import algebra, discrete, random, scalar
from difftile.ops.row import Op

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        *scalar.ROWS,
        *scalar.PIECEWISE_CONSTANT,
        *discrete.ROWS,
        *algebra.ROWS,
        *random.ROWS,
    )
}
ELEMENTWISE = frozenset(
    op.name for op in (*scalar.ROWS, *scalar.PIECEWISE_CONSTANT, *discrete.ROWS)
)

# Functions that are formulas over the rows, in the language of `formula.py`: parameters, formula.
COMPOSITES: dict[str, tuple[tuple[str, ...], str]] = {
    "mix": (("x", "y", "t"), "x * (1 - t) + y * t"),
    "fract": (("x",), "x - floor(x)"),
    "trunc": (("x",), "select(x < 0, ceil(x), floor(x))"),
    "fmod": (("x", "y"), "x - y * trunc(x / y)"),
    "copysign": (("x", "y"), "select(y < 0, -abs(x), abs(x))"),
    "saturate": (("x",), "clamp(x, 0, 1)"),
    "hermite": (("t",), "t * t * (3 - 2 * t)"),
    "smoothstep": (("low", "high", "x"), "hermite(saturate((x - low) / (high - low)))"),
    "exp2": (("x",), "exp(x * 0.69314718055994530942)"),
    "log2": (("x",), "log(x) * 1.4426950408889634074"),
    "log10": (("x",), "log(x) * 0.43429448190325182765"),
    "radians": (("x",), "x * 0.017453292519943295769"),
    "degrees": (("x",), "x * 57.295779513082320877"),
    "atan": (("x",), "atan2(x, 1)"),
    "sinh": (("x",), "tanh(x) * cosh(x)"),  # exp(x) - exp(-x) loses its digits near 0
    "cosh": (("x",), "0.5 * (exp(x) + exp(-x))"),
    "square": (("x",), "x * x"),
    "norm_sqr": (("x",), "dot(x, x)"),
    "distance": (("x", "y"), "norm(x - y)"),
    "reflect": (("x", "n"), "x - 2 * dot(n, x) * n"),
    # Kinder than GLSL's: at the critical angle the derivative is 0, not infinite.
    "bent": (
        ("x", "n", "eta", "cosine", "k"),
        "select(k < 0, 0 * x, eta * x - (eta * cosine + sqrt(max(k, 0))) * n)",
    ),
    "refract": (
        ("x", "n", "eta"),
        "bent(x, n, eta, dot(x, n), 1 - eta * eta * (1 - dot(x, n) * dot(x, n)))",
    ),
    "vdir": (("angle",), "vec(cos(angle), sin(angle))"),
    "step": (("edge", "x"), "select(x < edge, 0 * x, 0 * x + 1)"),
}
