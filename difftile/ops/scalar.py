"""Smooth and kinked functions of floats, applied component by component.

Derivatives: Abramowitz and Stegun, Handbook of Mathematical Functions, chapter 4. The values at
kinks are difftile's convention (docs/kinks.md, which is made from these rows).
"""

from __future__ import annotations

import numpy as np

from difftile.ir.nodes import Let, Program
from difftile.ir.walk import walk
from difftile.ops import meaning
from difftile.ops.row import Op, elementwise, real

_WIDE = (-2.0, 2.0)
_POSITIVE = (0.2, 3.0)
_UNIT = (-0.9, 0.9)

ROWS = (
    Op(
        "add",
        np.add,
        elementwise,
        ("z_bar", "z_bar"),
        (_WIDE, _WIDE),
    ),
    Op(
        "sub",
        np.subtract,
        elementwise,
        ("z_bar", "-z_bar"),
        (_WIDE, _WIDE),
    ),
    Op(
        "mul",
        np.multiply,
        elementwise,
        ("z_bar * b", "z_bar * a"),
        (_WIDE, _WIDE),
    ),
    Op(
        "div",
        np.divide,
        real,
        # The denominator is never squared: a / b with both near 1e-20 stays finite.
        ("z_bar / b", "-(z_bar / b) * z"),
        (_WIDE, _POSITIVE),
        singular=True,
        kinks="not finite at a denominator of 0",
    ),
    Op("neg", np.negative, elementwise, ("-z_bar",), (_WIDE,)),
    Op(
        "mod",
        meaning.mod,
        elementwise,
        ("z_bar", "-z_bar * floor(a / b)"),
        (_WIDE, _POSITIVE),
        singular=True,
        kinks="at a jump the slopes of the piece that starts there; not finite at a divisor of 0",
        names="ti.math.mod np.mod",
    ),
    Op(
        "pow",
        np.power,
        real,
        (
            "select(b == 0, 0, z_bar * b * pow(a, b - 1))",
            "select(a > 0, z_bar * z * log(a), 0)",
        ),
        (_POSITIVE, _WIDE),
        singular=True,
        kinks="by the base infinite at 0 under an exponent below 1 that is not 0; "
        "by the exponent 0 at a base of 0 or less",
        names="math.pow",
    ),
    Op(
        "max",
        meaning.maximum,
        elementwise,
        (
            "select(a > b, z_bar, select(b > a, 0, 0.5 * z_bar))",
            "select(b > a, z_bar, select(a > b, 0, 0.5 * z_bar))",
        ),
        (_WIDE, _WIDE),
        masks=True,
        kinks="half to each where neither is larger",
        tie="a == b",
        names="ti.max max np.fmax",
    ),
    Op(
        "min",
        meaning.minimum,
        elementwise,
        (
            "select(a < b, z_bar, select(b < a, 0, 0.5 * z_bar))",
            "select(b < a, z_bar, select(a < b, 0, 0.5 * z_bar))",
        ),
        (_WIDE, _WIDE),
        masks=True,
        kinks="half to each where neither is smaller",
        tie="a == b",
        names="ti.min min np.fmin",
    ),
    Op(
        "clamp",
        meaning.clamp,
        elementwise,
        (
            "select(a >= b, select(a > c, 0, z_bar), 0)",
            "select(a >= b, 0, select(b > c, 0, z_bar))",
            "select(max(a, b) > c, z_bar, 0)",
        ),
        (_WIDE, (-2.0, 0.0), (0.0, 2.0)),
        masks=True,
        kinks="at either bound all to the clamped value; bounds out of order give the upper one",
        tie="(a - b) * (a - c) == 0",
        names="ti.math.clamp",
    ),
    Op(
        "abs",
        meaning.absolute,
        elementwise,
        ("z_bar * sign(a)",),
        (_WIDE,),
        masks=True,
        kinks="0 at 0",
        tie="a == 0",
        names="ti.abs math.fabs abs np.abs np.fabs",
    ),
    Op("sin", np.sin, real, ("z_bar * cos(a)",), (_WIDE,), names="ti.sin math.sin np.sin"),
    Op("cos", np.cos, real, ("-z_bar * sin(a)",), (_WIDE,), names="ti.cos math.cos np.cos"),
    Op(
        "tan",
        np.tan,
        real,
        ("z_bar * (1 + z * z)",),
        ((-1.2, 1.2),),
        names="ti.tan math.tan np.tan",
    ),
    Op(
        "asin",
        np.arcsin,
        real,
        ("z_bar / sqrt(1 - a * a)",),
        (_UNIT,),
        singular=True,
        kinks="infinite at -1 and 1",
        names="ti.asin math.asin np.arcsin",
    ),
    Op(
        "acos",
        np.arccos,
        real,
        ("-z_bar / sqrt(1 - a * a)",),
        (_UNIT,),
        singular=True,
        kinks="infinite at -1 and 1",
        names="ti.acos math.acos np.arccos",
    ),
    Op("atan", np.arctan, real, ("z_bar / (1 + a * a)",), (_WIDE,), names="math.atan np.arctan"),
    Op(
        "atan2",
        meaning.arctan2,
        real,
        ("z_bar * b / (a * a + b * b)", "-z_bar * a / (a * a + b * b)"),
        (_WIDE, _WIDE),
        singular=True,
        kinks="NaN at (0, 0)",
        names="ti.atan2 math.atan2 np.arctan2",
    ),
    Op(
        "tanh", np.tanh, real, ("z_bar * (1 - z * z)",), (_WIDE,), names="ti.tanh math.tanh np.tanh"
    ),
    Op(
        "sigmoid",
        meaning.sigmoid,
        real,
        # From the result: exp(-a) may have overflowed.
        ("z_bar * z * (1 - z)",),
        (_WIDE,),
        names="dt.sigmoid",
    ),
    Op(
        "exp",
        np.exp,
        real,
        ("z_bar * z",),
        (_WIDE,),
        singular=True,  # it overflows: at 89 in f32
        kinks="infinite where the value overflows",
        names="ti.exp math.exp np.exp",
    ),
    Op(
        "expm1",
        np.expm1,
        real,
        ("z_bar * (1 + z)",),
        (_WIDE,),
        singular=True,
        kinks="infinite where the value overflows",
        names="math.expm1 dt.expm1 np.expm1",
    ),
    Op(
        "log1pexp",
        meaning.log1pexp,
        real,
        ("z_bar * sigmoid(a)",),
        (_WIDE,),
    ),
    Op(
        "log",
        np.log,
        real,
        ("z_bar / a",),
        (_POSITIVE,),
        singular=True,
        kinks="infinite at 0",
        names="ti.log math.log np.log",
    ),
    Op(
        "log2",
        np.log2,
        real,
        ("z_bar * 1.4426950408889634074 / a",),
        (_POSITIVE,),
        singular=True,
        kinks="infinite at 0",
        names="ti.math.log2 math.log2 np.log2",
    ),
    Op(
        "log10",
        np.log10,
        real,
        ("z_bar * 0.43429448190325182765 / a",),
        (_POSITIVE,),
        singular=True,
        kinks="infinite at 0",
        names="math.log10 np.log10",
    ),
    Op(
        "log1p",
        np.log1p,
        real,
        ("z_bar / (1 + a)",),
        ((-0.8, 2.0),),
        singular=True,
        kinks="infinite at -1",
        names="math.log1p dt.log1p np.log1p",
    ),
    Op(
        "logit",
        meaning.logit,
        real,
        ("z_bar / (a * (1 - a))",),
        ((0.1, 0.9),),
        singular=True,
        kinks="infinite at 0 and 1",
        names="dt.logit",
    ),
    Op(
        "sqrt",
        np.sqrt,
        real,
        ("select(z > 0, 0.5 * z_bar / z, 0)",),
        (_POSITIVE,),
        singular=True,  # NaN for negative numbers
        kinks="0 at 0",
        tie="a == 0",
        names="ti.sqrt math.sqrt np.sqrt",
    ),
    Op(
        "rsqrt",
        meaning.rsqrt,
        real,
        ("-0.5 * z_bar * z / a",),
        (_POSITIVE,),
        singular=True,
        kinks="minus infinite at 0",
        names="ti.rsqrt",
    ),
)

# The marks of `dt.exact`: they do not change the value, nor its derivative.
EXACT = Op("exact", meaning.identity, real, ("z_bar",), (_WIDE,))


def is_exact(program: Program) -> bool:
    """Tell whether a program has such a mark: all of it is then computed as it is written."""
    return any(isinstance(stmt, Let) and stmt.op == EXACT.name for stmt in walk(program.body))


# No formula: they cut the gradient, which is reported where one was wanted.
PIECEWISE_CONSTANT = (
    Op("sign", meaning.sign, elementwise, domain=(_WIDE,), kinks="0", names="ti.math.sign"),
    Op(
        "floor",
        meaning.floor,
        real,
        domain=(_WIDE,),
        kinks="0",
        names="ti.floor math.floor np.floor",
    ),
    Op("ceil", meaning.ceil, real, domain=(_WIDE,), kinks="0", names="ti.ceil math.ceil np.ceil"),
    Op("round", meaning.rounded, real, domain=(_WIDE,), kinks="0", names="ti.round round"),
    # Not constant: the user cuts it here.
    Op("stop_grad", meaning.stop_grad, real, domain=(_WIDE,), kinks="0, by its meaning"),
)
