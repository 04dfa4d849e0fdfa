"""Comparisons, logic, integers and casts: ops that carry no derivative, or only pass it on."""

from __future__ import annotations

import numpy as np

from difftile.ops import meaning
from difftile.ops.row import (
    AND,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARE,
    NOT,
    OR,
    PRODUCT,
    SHIFT,
    UNARY,
    Op,
    as_given,
    comparison,
    elementwise,
    logical,
    predicate,
    selection,
    whole,
)

COMPARISONS = tuple(
    Op(name, f"{{0}} {sign} {{1}}", meaning.real_parts(compare), comparison, precedence=COMPARE)
    for name, sign, compare in (
        ("lt", "<", np.less),
        ("le", "<=", np.less_equal),
        ("gt", ">", np.greater),
        ("ge", ">=", np.greater_equal),
        ("eq", "==", np.equal),
        ("ne", "!=", np.not_equal),
    )
)

LOGIC = (
    Op("and", "{0} and {1}", np.logical_and, logical, precedence=AND),
    Op("or", "{0} or {1}", np.logical_or, logical, precedence=OR),
    Op("not", "not {0}", np.logical_not, logical, precedence=NOT),
    *(
        Op(name, f"predicates.{name}({{0}}, ti.{{scalar}})", holds, predicate)
        for name, holds in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite))
    ),
)

INTEGER = (
    Op("floordiv", "{0} // {1}", meaning.floordiv, elementwise, precedence=PRODUCT),
    Op("bit_and", "{0} & {1}", np.bitwise_and, whole, precedence=BIT_AND),
    Op("bit_or", "{0} | {1}", np.bitwise_or, whole, precedence=BIT_OR),
    Op("bit_xor", "{0} ^ {1}", np.bitwise_xor, whole, precedence=BIT_XOR),
    Op("invert", "~{0}", np.invert, whole, precedence=UNARY),
    Op("shl", "{0} << {1}", np.left_shift, whole, precedence=SHIFT),
    Op("shr", "{0} >> {1}", np.right_shift, whole, precedence=SHIFT),
    Op("shr_logical", "ti.bit_shr({0}, {1})", meaning.shr_logical, whole),
    Op("raw_div", "ti.raw_div({0}, {1})", meaning.raw_div, whole),
    Op("raw_mod", "ti.raw_mod({0}, {1})", meaning.raw_mod, whole),
    Op("ipow", "ti.pow({0}, {1})", meaning.whole_power, whole),
    Op("popcnt", "ti.math.popcnt({0})", meaning.popcnt, whole),
    Op("clz", "ti.math.clz({0})", meaning.clz, whole),
    Op("unique", "{0}", meaning.identity, whole),  # what it promises, the analysis of races reads
)

CHOICE = (
    Op(
        "select",
        "ti.select({0}, {1}, {2})",
        meaning.select,
        selection,
        (None, "select(a, z_bar, 0)", "select(a, 0, z_bar)"),
        ((0.0, 1.0), (-2.0, 2.0), (-2.0, 2.0)),
        masks=True,
        kinks="all to the side that was taken",
        jvp="select(a, b_dot, c_dot)",
    ),
)

# The target of a cast is the type of the variable it defines; spelling and meaning therefore live
# with the emitter and the interpreter. A cast between floats passes the adjoint on, others cut it.
CAST = Op(
    "cast",
    "ti.cast({0}, {type})",
    meaning.identity,
    as_given,
    ("astype(z_bar, a)",),
    jvp="astype(a_dot, z)",
)

# As `cast`, its target is the type of the variable it defines; it cuts the gradient.
BIT_CAST = Op("bit_cast", "", meaning.identity, as_given)

ROWS = (*COMPARISONS, *LOGIC, *INTEGER, *CHOICE, CAST)
