"""Small vectors and matrices.

Adjoints of matrix functions: Giles 2008, Collected matrix derivative results for forward and
reverse mode algorithmic differentiation, section 2. |v| and v/|v| have the derivative 0 at v = 0.
"""

from __future__ import annotations

import numpy as np

from difftile.ops import cofactors, decompositions, meaning
from difftile.ops.row import (
    BILINEAR,
    LINEAR,
    Op,
    component,
    crossed,
    dense_square,
    dense_square_to_scalar,
    inner,
    length,
    outer,
    packed,
    product,
    real_vector,
    reduced_vector,
    replaced,
    scalar_result,
    square_to_scalar,
    system,
    transposed,
    vector_of,
)

_WIDE = (-2.0, 2.0)

ROWS = (
    Op("vec", meaning.vector, vector_of, ("part(z_bar)", ...), jvp=LINEAR),
    Op("mat", meaning.vector, vector_of, ("part(z_bar)", ...), jvp=LINEAR),
    Op(
        "extract",
        meaning.extract,
        component,
        ("put(a, z_bar)", None, ...),
        jvp=LINEAR,
    ),
    Op(
        "insert",
        meaning.insert,
        replaced,
        ("without(z_bar)", None, ..., "taken(z_bar)"),
        jvp=LINEAR,
    ),
    Op(
        "dot",
        meaning.dot,
        inner,
        ("z_bar * b", "z_bar * a"),
        (_WIDE, _WIDE),
        jvp=BILINEAR,
        names="ti.math.dot",
    ),
    Op(
        "cross",
        meaning.cross,
        crossed,
        ("cross(b, z_bar)", "cross(z_bar, a)"),
        (_WIDE, _WIDE),
        jvp=BILINEAR,
        names="ti.math.cross",
    ),
    Op(
        "outer",
        np.outer,
        outer,
        ("matmul(z_bar, b)", "matmul(transpose(z_bar), a)"),
        (_WIDE, _WIDE),
        jvp=BILINEAR,
    ),
    Op(
        "norm",
        meaning.norm,
        length,
        ("select(z > 0, z_bar / z, 0) * a",),
        (_WIDE,),
        kinks="0 at the zero vector",
        tie="z == 0",
        jvp="select(z > 0, sum(a * a_dot) / z, 0)",
        names="ti.math.length",
    ),
    Op(
        "normalized",
        meaning.normalized,
        real_vector,
        ("select(norm(a) > 0, 1 / norm(a), 0) * (z_bar - z * dot(z, z_bar))",),
        (_WIDE,),
        kinks="0 at the zero vector",
        tie="norm(a) == 0",
        jvp="select(norm(a) > 0, 1 / norm(a), 0) * (a_dot - z * dot(z, a_dot))",
        names="ti.math.normalize",
    ),
    Op(
        "logsumexp",
        meaning.logsumexp,
        reduced_vector,
        # The shares are divided by their sum: z is rounded, to 1e-4 at 1000 in f32.
        ("z_bar / sum(exp(a - z)) * exp(a - z)",),
        (_WIDE,),
        singular=True,
        kinks="each its share, equal ones alike; NaN where the value is infinite",
        jvp="sum(exp(a - z) * a_dot) / sum(exp(a - z))",
    ),
    Op("sum", np.sum, scalar_result, ("z_bar * ones(a)",), (_WIDE,), jvp=LINEAR),
    Op(
        "matmul",
        np.matmul,
        product,
        ("times_transpose(z_bar, b)", "matmul(transpose(a), z_bar)"),
        (_WIDE, _WIDE),
        jvp=BILINEAR,
    ),
    Op(
        "transpose",
        np.transpose,
        transposed,
        ("transpose(z_bar)",),
        (_WIDE,),
        jvp=LINEAR,
    ),
    Op(
        "trace",
        np.trace,
        square_to_scalar,
        ("z_bar * identity(a)",),
        (_WIDE,),
        jvp=LINEAR,
    ),
    Op(
        "determinant",
        meaning.determinant,
        dense_square_to_scalar,
        # The cofactor matrix, not det * inverse^T, which fails for a singular matrix.
        ("z_bar * cofactor(a)",),
        (_WIDE,),
        jvp="sum(cofactor(a) * a_dot)",
        names="ti.math.determinant",
    ),
    # With adj = det * inverse, d adj = tr(inverse da) adj - inverse da adj; z is adj^T.
    Op(
        "cofactors",
        cofactors.cofactors,
        dense_square,
        (
            "matmul(transpose(inverse(a)), "
            "sum(z_bar * z) * identity(a) - matmul(transpose(z_bar), z))",
        ),
        (_WIDE,),
        singular=True,
        kinks="finite at a singular matrix; its derivative is not",
        jvp="sum(transpose(inverse(a)) * a_dot) * z"
        " - matmul(z, matmul(transpose(a_dot), transpose(inverse(a))))",
    ),
    Op(
        "inverse",
        meaning.inverse,
        dense_square,
        ("-matmul(transpose(z), matmul(z_bar, transpose(z)))",),
        (_WIDE,),
        singular=True,
        kinks="not finite at a singular matrix",
        jvp="-matmul(z, matmul(a_dot, z))",
        names="ti.math.inverse dt.inverse",
    ),
    Op(
        "solve",
        meaning.solve,
        system,
        (
            "-times_transpose(solve(transpose(a), z_bar), z)",
            "solve(transpose(a), z_bar)",
        ),
        (_WIDE, _WIDE),
        singular=True,
        kinks="not finite at a singular matrix",
        jvp="solve(a, b_dot - matmul(a_dot, z))",
        names="ti.solve dt.solve",
    ),
    Op(
        "solve_lower",
        meaning.solve_lower,
        system,
        (
            "-lower(a) * times_transpose(solve_upper(transpose(a), z_bar), z)",
            "solve_upper(transpose(a), z_bar)",
        ),
        (_WIDE, _WIDE),
        singular=True,
        kinks="not finite where the diagonal has a 0; 0 above it",
        jvp="solve_lower(a, b_dot - matmul(lower(a) * a_dot, z))",
    ),
    Op(
        "solve_upper",
        meaning.solve_upper,
        system,
        (
            "-upper(a) * times_transpose(solve_lower(transpose(a), z_bar), z)",
            "solve_lower(transpose(a), z_bar)",
        ),
        (_WIDE, _WIDE),
        singular=True,
        kinks="not finite where the diagonal has a 0; 0 below it",
        jvp="solve_upper(a, b_dot - matmul(upper(a) * a_dot, z))",
    ),
    # Murray 2016, Differentiation of the Cholesky decomposition, equations 8 and 10, with a taken
    # as its symmetric part. With S = L^-T phi(L^T z_bar) L^-1 the adjoint is (S + S^T) / 2.
    Op(
        "cholesky",
        meaning.cholesky,
        dense_square,
        (
            "symmetric(solve_upper(transpose(z), transpose("
            "solve_upper(transpose(z), phi(z) * matmul(transpose(z), z_bar)))))",
        ),
        ((-1.0, 1.0),),
        singular=True,
        kinks="not finite where the symmetric part of a is not positive definite",
        jvp="matmul(z, phi(z) * solve_lower(z, transpose(solve_lower(z, symmetric(a_dot)))))",
        names="dt.cholesky",
    ),
    Op(
        "svd",
        decompositions.svd,
        packed(2, 1),
        ("svd_adjoint(z, z_bar)",),
        (_WIDE,),
        singular=True,
        kinks="where singular values are equal the turn of their vectors in their plane counts "
        "as 0; functions that do not depend on it are better made of polar factors",
        jvp="svd_tangent(z, a_dot)",
    ),
    Op(
        "sym_eig",
        decompositions.sym_eig,
        packed(1, 1),
        ("sym_eig_adjoint(z, z_bar)",),
        (_WIDE,),
        singular=True,
        kinks="where eigenvalues are equal the turn of their vectors in their plane counts as 0",
        jvp="sym_eig_tangent(z, a_dot)",
    ),
    Op(
        "polar",
        decompositions.polar,
        packed(2, 0),
        ("polar_adjoint(a, z, z_bar)",),
        (_WIDE,),
        singular=True,
        kinks="smooth where singular values are equal; 0 from the orthogonal factor where two of "
        "them add up to 0",
        jvp="polar_tangent(z, a_dot)",
    ),
)
