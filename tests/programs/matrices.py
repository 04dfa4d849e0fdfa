"""Matrices: products, inverses, components, fields of them."""

import taichi as ti

from tests.harness import array, floats, program

mat2, mat3 = ti.math.mat2, ti.math.mat3


@program(
    w=array([[[1, 2, 3], [4, 5, 6]]], (2, 3)),
    b=array([[0.5, -0.5]], (2,)),
    x=array([[1, 2, 3]], (3,)),
    y=floats(1, element=(2,)),
    expected={"y": [[14.5, 31.5]]},
    gradients={"w": [[[1, 2, 3], [10, 20, 30]]], "b": [[1, 10]], "x": [[41, 52, 63]]},
    seeds={"y": [[1, 10]]},
)
def linear_layer_of_matrices(w, b, x, y):
    for i in y:
        y[i] = w[i] @ x[i] + b[i]


@program(
    a=array([[[2, 1], [1, 3]]], (2, 2)),
    y=floats(1),
    expected={"y": [0.6]},
    gradients={"a": [[[-0.36, 0.12], [0.12, -0.04]]]},
    seeds={"y": 1},
)
def component_of_the_inverse(a, y):
    for i in a:
        y[i] = a[i].inverse()[0, 0]


@program(a=floats(2, element=(3, 3)), b=floats(2, element=(3, 3)), y=floats(2, element=(3, 3)))
def products(a, b, y):
    for i in a:
        m = a[i] @ b[i].transpose() - 2 * b[i] * a[i]
        y[i] = m @ m + a[i] / (2 + b[i] * b[i])


@program(a=floats(2, element=(2, 3)), b=floats(2, element=(3, 4)), v=floats(2, element=(4,)))
def rectangular(a, b, v):
    for i in a:
        u = a[i] @ (b[i] @ v[i])
        w = b[i].transpose() @ (a[i].transpose() @ u)
        v[i] = w * u.norm()


@program(a=floats(2, element=(2, 2)), y=floats(2))
def two_by_two(a, y):
    for i in a:
        m = a[i] + 3 * ti.Matrix.identity(ti.f32, 2)
        y[i] = m.determinant() + m.trace() + m.inverse().sum() + ti.math.determinant(m @ m)


@program(a=floats(2, element=(3, 3)), y=floats(2))
def three_by_three(a, y):
    for i in a:
        m = a[i] + 4 * ti.Matrix.identity(float, 3)
        y[i] = m.determinant() + m.trace() + ti.math.inverse(m).norm()


@program(a=floats(1, element=(4, 4)), y=floats(1))
def four_by_four(a, y):
    for i in a:
        m = a[i] + 5 * ti.Matrix.identity(float, 4)
        y[i] = 0.01 * m.determinant() + m.inverse().trace() + a[i].norm()


@program(x=floats(3), y=floats(3))
def singular_determinant(x, y):
    for i in x:
        m = ti.Matrix([[x[i], 2 * x[i]], [x[i] * x[i], 2 * x[i] * x[i]]])
        y[i] = m.determinant() + m[0, 1] * m[1, 0]


@program(x=floats(3), v=floats(3, element=(2,)))
def rotation(x, v):
    for i in x:
        c, s = ti.cos(x[i]), ti.sin(x[i])
        r = mat2(c, -s, s, c)
        v[i] = r @ v[i]


@program(x=floats(2, element=(2,)), y=floats(2, element=(3,)), z=floats(2, element=(2, 3)))
def outer_product(x, y, z):
    for i in x:
        z[i] = x[i].outer_product(y[i]) * z[i]


@program(z=floats(2, element=(2, 2)), x=floats(2))
def components(z, x):
    for i in z:
        z[i][0, 1] = x[i] * z[i][1, 1]
        z[i][1, 0] += x[i] * x[i]
        z[i][0, 0] *= x[i]


@program(z=floats(2, element=(2, 2)), y=floats(2, element=(2, 2)))
def local_components(z, y):
    for i in z:
        m = z[i]
        m[0, 1] = m[0, 0] * m[1, 1]
        m[1, 0] += m[0, 1]
        for k in range(2):
            m[k, k] = m[k, 1 - k] * m[k, k]
        y[i] = m @ m


@program(x=floats(2), y=floats(2, element=(3, 3)))
def built_from_rows(x, y):
    for i in x:
        a = ti.Matrix([[1.0, x[i], 0.0], [x[i], 2.0, 0.5], [0.0, 0.0, x[i] * x[i]]])
        y[i] = a @ a.transpose() + ti.Matrix.one(float, 3, 3) * x[i]


@program(f=floats(2, element=(2, 2)), y=floats(2))
def neo_hookean(f, y):
    for i in f:
        d = f[i] + 2.0 * ti.Matrix.identity(float, 2)
        j = d.determinant()
        y[i] = 0.5 * ((d.transpose() @ d).trace() - 2) - ti.log(j) + 0.5 * ti.log(j) ** 2


@program(z=floats(2, element=(3, 3)), y=floats(2))
def rows_of_a_matrix(z, y):
    for i in z:
        m = z[i]
        r = m[1]
        y[i] = ti.Vector([m[0, 0], m[0, 1], m[0, 2]]).dot(r)
