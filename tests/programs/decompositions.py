"""Singular values, eigenvalues and polar factors."""

import taichi as ti

from tests.harness import array, floats, program


@program(f=floats(3, element=(2, 2)), w=floats(3, element=(2, 2)), y=floats(3, 2))
def singular_values_2d(f, w, y):
    for i in f:
        u, sigma, v = ti.svd(f[i])
        y[i, 0] = (u @ w[i] @ v).trace() + sigma[0, 0] * sigma[1, 1]
        y[i, 1] = (v * w[i]).sum() * u[0, 0]


@program(f=floats(2, element=(3, 3)), w=floats(2, element=(3, 3)), y=floats(2))
def singular_values_3d(f, w, y):
    for i in f:
        u, sigma, v = ti.svd(f[i])
        y[i] = (u * w[i]).sum() * sigma[0, 0] + (v * w[i]).sum() * sigma[2, 2] + sigma[1, 1]


@program(a=floats(2, element=(2, 2)), b=floats(1, element=(3, 3)), y=floats(2))
def eigenvalues(a, b, y):
    for i in a:
        values, vectors = ti.sym_eig(a[i] + a[i].transpose())
        y[i] = values.x * vectors[0, 0] * vectors[1, 1] + values.y**2
        if i == 0:
            three, q = ti.sym_eig(b[i] + b[i].transpose())
            y[i] += three.dot(ti.math.vec3(1, 2, -1)) * q[0, 1] ** 2 + q[0, 2] * q[1, 2]


@program(f=floats(3, element=(2, 2)), y=floats(3))
def corotated_2d(f, y):
    for i in f:
        r, s = ti.polar_decompose(f[i])
        y[i] = ti.math.distance(f[i], r) ** 2 + s[1, 1] * s[0, 1]


@program(f=floats(3, element=(3, 3)), y=floats(3))
def corotated_3d(f, y):
    for i in f:
        r, s = ti.polar_decompose(f[i])
        y[i] = ti.math.distance(f[i], r) ** 2 + s[1, 1] * s[0, 1]


@program(
    f=array([[[2, 0], [0, 2]]], (2, 2)),
    y=floats(1),
    expected={"y": [3]},
    # d U = skew part / (s_i + s_j), d P = symmetric part.
    gradients={"f": [[[1, 0.75], [0.25, 0]]]},
)
def polar_factors_of_equal_singular_values_2d(f, y):
    for i in f:
        r, s = ti.polar_decompose(f[i])
        y[i] = r[0, 1] + s[0, 1] + s[0, 0] + r[0, 0]


@program(
    f=array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]]], (3, 3)),
    y=floats(1),
    expected={"y": [1]},
    gradients={"f": [[[0, -0.5, 0], [0.5, 0, 0], [0, 0, 1]]]},
)
def polar_factors_of_equal_singular_values_3d(f, y):
    for i in f:
        r, s = ti.polar_decompose(f[i])
        y[i] = r[1, 0] + s[2, 2]


@program(
    f=array([[[1, 0], [0, 1]], [[0, 0], [0, 0]]], (2, 2)),
    y=floats(2),
    expected={"y": [6, 2]},
    # The turns within a plane count as 0, their difference does not.
    gradients={"f": [[[2, 0.5], [-0.5, 2]], [[2, 0], [0, 2]]]},
    smooth=False,
)
def equal_singular_values(f, y):
    for i in f:
        u, sigma, v = ti.svd(f[i])
        values, q = ti.sym_eig(f[i])
        y[i] = (
            sigma.trace() + values.sum() + u[0, 1] + v[1, 0] + q[0, 1] + u[0, 0] * v[1, 1] + q[1, 1]
        )


@program(f=floats(4, element=(2, 2)), w=floats(4, element=(2, 2)), y=floats(4))
def eigenvalues_of_any_matrix(f, w, y):
    for i in f:
        values, vectors = ti.eig(f[i])
        y[i] = (values * w[i]).sum() * vectors[0, 0] + vectors[3, 1] * vectors[2, 0]
