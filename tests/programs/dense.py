"""Linear algebra of matrices up to 10x10; those above 48 entries are written by loops."""

import numpy as np
import taichi as ti

import difftile as dt
from tests.harness import array, floats, program

_NEAR = np.random.default_rng(8).uniform(-1, 1, (2, 8, 8)) + 6 * np.eye(8)


def near_diagonal(n):
    """Describe a field of two matrices that are far from singular."""
    return array(_NEAR[:, :n, :n], element=(n, n))


@program(
    a=near_diagonal(8),
    b=floats(2, element=(8,)),
    c=floats(2, element=(8, 3)),
    x=floats(2, element=(8,)),
    y=floats(2, 2),
)
def systems_of_eight(a, b, c, x, y):
    for i in a:
        x[i] = dt.solve(a[i], b[i])
        if y[i, 0] < 5:
            y[i, 0] = dt.solve(a[i], c[i]).sum() + dt.inverse(a[i])[2, 3]
        y[i, 1] = (a[i] @ a[i].transpose() @ a[i]).trace() * 1e-2


@program(
    a=near_diagonal(6),
    b=floats(2, element=(6,)),
    c=floats(2, element=(6, 2)),
    y=floats(2, 3),
)
def triangles(a, b, c, y):
    for i in a:
        low = dt.cholesky(a[i])
        half = dt.solve_triangular(low, b[i])
        y[i, 0] = half.dot(half) + dt.solve_triangular(a[i], c[i], lower=False).sum()
        logs = 0.0
        for k in ti.static(range(6)):
            logs += ti.log(low[k, k])
        y[i, 1] = 2 * logs
        whole = dt.solve_triangular(low.transpose(), half, False)
        y[i, 2] = whole.dot(b[i] * b[i]) + dt.solve_triangular(a[i], c[i], lower=True)[5, 1]


@program(
    a=near_diagonal(5),
    b=floats(2, element=(4,)),
    y=floats(2, 4),
    one=array(2.0),
)
def every_size(a, b, y, one):
    for i in a:
        four = a[i][:4, :4]
        y[i, 0] = a[i].inverse().sum() + ti.math.inverse(four).trace() + four.inverse()[0, 3]
        y[i, 1] = ti.solve(four, b[i]).sum() + dt.solve(a[i][1:3, 1:3], b[i].xy).x
        y[i, 2] = dt.solve(a=ti.Matrix([[one[None]]]), b=ti.Vector([b[i].x]))[0]
        swapped = ti.Matrix([[0.0, b[i].x + 3], [b[i].y + 4, 0.0]])  # a pivot is 0
        y[i, 3] = dt.solve(swapped, b[i].xy).sum() + dt.cholesky(four[:2, :2])[1, 0]


@program(
    a=array([[[2, 1], [1, 3]]], element=(2, 2)),
    y=floats(1),
    expected={"y": [0.6]},
    gradients={"a": [[[-0.36, 0.12], [0.12, -0.04]]]},
    seeds={"y": 1},
)
def entry_of_an_inverse(a, y):
    for i in a:
        y[i] = dt.inverse(a[i])[0, 0]


@program(
    a=array([[[4, 2], [2, 3]]], element=(2, 2)),
    y=floats(1, 2),
    expected={"y": [[3 + np.sqrt(2), 1.0397207708399179]]},
    gradients={
        "a": [
            [
                [0.21338834764831843 + 0.1875, 0.07322330470336312 - 0.125],
                [0.07322330470336312 - 0.125, 0.35355339059327373 + 0.25],
            ]
        ]
    },
    seeds={"y": 1},
)
def sum_of_a_cholesky_factor(a, y):
    for i in a:
        low = dt.cholesky(a[i])
        y[i, 0] = low.sum()
        y[i, 1] = ti.log(low[0, 0]) + ti.log(low[1, 1])


@dt.func
def energy(a, b, c):
    z = dt.solve_triangular(dt.cholesky(a), dt.solve(a, b))
    return dt.logsumexp(z) * dt.softplus(c) + dt.inverse(a)[0, 1] * dt.stop_grad(c) * c


@program(
    a=near_diagonal(3),
    b=floats(2, element=(3,)),
    c=array([0.6, 0.4]),
    out=floats(2),
)
def derivatives_of_derivatives(a, b, c, out):
    for i in c:
        a_bar, b_bar, c_bar = dt.bwd_diff(energy)(a[i], b[i], c[i], 1.0)
        out[i] = a_bar.sum() + b_bar.norm_sqr() + c_bar * c_bar


_WIDE = np.random.default_rng(16).uniform(-1, 1, (2, 10, 10)) + 8 * np.eye(10)
_DEFICIENT = np.random.default_rng(5).uniform(-1, 1, (2, 6, 6))
_DEFICIENT[:, 5] = _DEFICIENT[:, 0] - 2 * _DEFICIENT[:, 3]


@program(
    a=array(_WIDE, element=(10, 10)),
    b=floats(2, element=(10,)),
    y=floats(2, 2),
)
def systems_of_ten(a, b, y):
    for i in a:
        x = dt.solve(a[i], b[i])
        y[i, 0] = x.dot(b[i])
        y[i, 1] = a[i].determinant() * 1e-9


@program(a=array(_DEFICIENT, element=(6, 6)), b=floats(2, 7, 7), y=floats(2), z=floats(2))
def determinants(a, b, y, z):
    for i in a:
        y[i] = a[i].determinant()
        m = ti.Matrix([[b[i, j, k] for k in range(7)] for j in range(7)])
        z[i] = ti.math.determinant(m @ m.transpose() * 0.5)
