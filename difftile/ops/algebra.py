"""Small vectors and matrices.

Adjoints of matrix functions: Giles 2008, Collected matrix derivative results for forward and
reverse mode algorithmic differentiation, section 2. |v| and v/|v| have the derivative 0 at v = 0.
"""

from __future__ import annotations

import numpy as np

from difftile.ops import decompositions, meaning
from difftile.ops.row import (
    BILINEAR,
    LINEAR,
    PRODUCT,
    Op,
    component,
    crossed,
    inner,
    length,
    outer,
    packed,
    product,
    real_vector,
    replaced,
    scalar_result,
    small_square,
    small_square_to_scalar,
    square_to_scalar,
    system,
    transposed,
    vector_of,
)

_WIDE = (-2.0, 2.0)

ROWS = (
    Op("vec", "ti.Vector([{all}])", meaning.vector, vector_of, ("part(z_bar)", ...), jvp=LINEAR),
    Op("mat", "ti.Matrix([{rows}])", meaning.vector, vector_of, ("part(z_bar)", ...), jvp=LINEAR),
    Op(
        "extract",
        "{0}[{index}]",
        meaning.extract,
        component,
        ("put(a, z_bar)", None, ...),
        jvp=LINEAR,
    ),
    # Spelled as a copy and an assignment, which is the emitter's affair.
    Op(
        "insert",
        "",
        meaning.insert,
        replaced,
        ("without(z_bar)", None, ..., "taken(z_bar)"),
        jvp=LINEAR,
    ),
    Op(
        "dot",
        "{0}.dot({1})",
        meaning.dot,
        inner,
        ("z_bar * b", "z_bar * a"),
        (_WIDE, _WIDE),
        jvp=BILINEAR,
    ),
    Op(
        "cross",
        "{0}.cross({1})",
        meaning.cross,
        crossed,
        ("cross(b, z_bar)", "cross(z_bar, a)"),
        (_WIDE, _WIDE),
        jvp=BILINEAR,
    ),
    Op(
        "outer",
        "{0}.outer_product({1})",
        np.outer,
        outer,
        ("matmul(z_bar, b)", "matmul(transpose(z_bar), a)"),
        (_WIDE, _WIDE),
        jvp=BILINEAR,
    ),
    Op(
        "norm",
        "{0}.norm()",
        meaning.norm,
        length,
        ("select(z > 0, z_bar / z, 0) * a",),
        (_WIDE,),
        kinks="0 at the zero vector",
        jvp="select(z > 0, sum(a * a_dot) / z, 0)",
    ),
    Op(
        "normalized",
        "{0}.normalized(1e-30)",  # the zero vector stays zero, where Taichi gives NaN
        meaning.normalized,
        real_vector,
        ("select(norm(a) > 0, 1 / norm(a), 0) * (z_bar - z * dot(z, z_bar))",),
        (_WIDE,),
        kinks="0 at the zero vector",
        jvp="select(norm(a) > 0, 1 / norm(a), 0) * (a_dot - z * dot(z, a_dot))",
    ),
    Op("sum", "{0}.sum()", np.sum, scalar_result, ("z_bar * ones(a)",), (_WIDE,), jvp=LINEAR),
    Op(
        "matmul",
        "{0} @ {1}",
        np.matmul,
        product,
        ("times_transpose(z_bar, b)", "matmul(transpose(a), z_bar)"),
        (_WIDE, _WIDE),
        PRODUCT,
        jvp=BILINEAR,
    ),
    Op(
        "transpose",
        "{0}.transpose()",
        np.transpose,
        transposed,
        ("transpose(z_bar)",),
        (_WIDE,),
        jvp=LINEAR,
    ),
    Op(
        "trace",
        "{0}.trace()",
        np.trace,
        square_to_scalar,
        ("z_bar * identity(a)",),
        (_WIDE,),
        jvp=LINEAR,
    ),
    Op(
        "determinant",
        "{0}.determinant()",
        meaning.determinant,
        small_square_to_scalar,
        # The cofactor matrix, not det * inverse^T, which fails for a singular matrix.
        ("z_bar * cofactor(a)",),
        (_WIDE,),
        jvp="sum(cofactor(a) * a_dot)",
    ),
    Op(
        "inverse",
        "{0}.inverse()",
        meaning.inverse,
        small_square,
        ("-matmul(transpose(z), matmul(z_bar, transpose(z)))",),
        (_WIDE,),
        singular=True,
        kinks="not finite at a singular matrix",
        jvp="-matmul(z, matmul(a_dot, z))",
    ),
    Op(
        "solve",
        "ti.solve({0}, {1}, ti.{scalar})",
        meaning.solve,
        system,
        ("-outer(solve(transpose(a), z_bar), z)", "solve(transpose(a), z_bar)"),
        (_WIDE, _WIDE),
        singular=True,
        kinks="not finite at a singular matrix",
        jvp="solve(a, b_dot - matmul(a_dot, z))",
    ),
    Op(
        "svd",
        "linalg.svd({0}, ti.{scalar})",
        decompositions.svd,
        packed(2, 1),
        ("svd_adjoint(z, z_bar)",),
        (_WIDE,),
        singular=True,
        kinks="where singular values are equal the turn of their vectors in their plane counts "
        "as 0; functions that do not depend on it are better made of polar factors",
    ),
    Op(
        "sym_eig",
        "linalg.sym_eig({0}, ti.{scalar})",
        decompositions.sym_eig,
        packed(1, 1),
        ("sym_eig_adjoint(z, z_bar)",),
        (_WIDE,),
        singular=True,
        kinks="where eigenvalues are equal the turn of their vectors in their plane counts as 0",
    ),
    Op(
        "polar",
        "linalg.polar({0}, ti.{scalar})",
        decompositions.polar,
        packed(2, 0),
        ("polar_adjoint(a, z, z_bar)",),
        (_WIDE,),
        singular=True,
        kinks="smooth where singular values are equal; 0 from the orthogonal factor where two of "
        "them add up to 0",
    ),
)
