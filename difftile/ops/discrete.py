"""Comparisons, logic, integers and casts: ops that carry no derivative, or only pass it on."""

from __future__ import annotations

import numpy as np

from difftile.ops import meaning
from difftile.ops.row import (
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
    Op(name, meaning.real_parts(compare), comparison)
    for name, compare in (
        ("lt", np.less),
        ("le", np.less_equal),
        ("gt", np.greater),
        ("ge", np.greater_equal),
        ("eq", np.equal),
        ("ne", np.not_equal),
        # It may be true of a smaller number as well (`passes.speculate`).
        ("exceeds", np.greater),
    )
)

LOGIC = (
    Op("and", np.logical_and, logical),
    Op("or", np.logical_or, logical),
    Op("not", np.logical_not, logical),
    Op("isnan", np.isnan, predicate, names="ti.math.isnan math.isnan np.isnan"),
    Op("isinf", np.isinf, predicate, names="ti.math.isinf math.isinf np.isinf"),
    Op("isfinite", np.isfinite, predicate, names="math.isfinite np.isfinite"),
)

INTEGER = (
    Op("floordiv", meaning.floordiv, elementwise),
    Op("bit_and", np.bitwise_and, whole),
    Op("bit_or", np.bitwise_or, whole),
    Op("bit_xor", np.bitwise_xor, whole),
    Op("invert", np.invert, whole),
    Op("shl", np.left_shift, whole),
    Op("shr", np.right_shift, whole),
    Op("shr_logical", meaning.shr_logical, whole, names="ti.bit_shr"),
    Op("raw_div", meaning.raw_div, whole, names="ti.raw_div"),
    Op("raw_mod", meaning.raw_mod, whole, names="ti.raw_mod"),
    Op("ipow", meaning.whole_power, whole),
    Op("popcnt", meaning.popcnt, whole, names="ti.math.popcnt"),
    Op("clz", meaning.clz, whole, names="ti.math.clz"),
    # The analysis of races relies on its promise.
    Op("unique", meaning.identity, whole, names="dt.unique"),
)

CHOICE = (
    Op(
        "select",
        meaning.select,
        selection,
        (None, "select(a, z_bar, 0)", "select(a, 0, z_bar)"),
        ((0.0, 1.0), (-2.0, 2.0), (-2.0, 2.0)),
        masks=True,
        kinks="all to the side that was taken",
        jvp="select(a, b_dot, c_dot)",
        names="ti.select np.where",
    ),
)

# The target of a cast is the type of the variable it defines; spelling and meaning therefore live
# with the printers of source. A cast between floats passes the adjoint on, others cut it.
CAST = Op(
    "cast",
    meaning.identity,
    as_given,
    ("astype(z_bar, a)",),
    jvp="astype(a_dot, z)",
)

# As `cast`, its target is the type of the variable it defines; it cuts the gradient.
BIT_CAST = Op("bit_cast", meaning.identity, as_given)

ROWS = (*COMPARISONS, *LOGIC, *INTEGER, *CHOICE, CAST)
