"""Rotations and other matrices of `ti.math`, complex numbers, methods with a small number added."""

import taichi as ti

from tests.harness import array, floats, program


@program(x=floats(1, 3), v=floats(1, element=(4,)), y=floats(1, 2, element=(4,)))
def moved_and_turned(x, v, y):
    for i in v:
        axis = ti.math.vec3(x[i, 0], 0.5, x[i, 1])
        turned = ti.math.rot_by_axis(axis, ang=x[i, 2]) @ v[i]
        y[i, 0] = ti.math.translate(x[i, 1], 2, x[i, 0]) @ turned
        scaled = ti.math.scale(x[i, 2], 1.5, sz=2) @ v[i]
        y[i, 1] = ti.math.rotation3d(x[i, 0], 0.3, x[i, 1]) @ scaled


@program(z=floats(3, element=(2,), low=0.3), w=floats(3, element=(2,), low=0.4), n=floats(3))
def complex_numbers(z, w, n):
    for i in z:
        product = ti.math.cmul(z[i], w[i]) + ti.math.cdiv(z[i], w[i]) - ti.math.cinv(w[i])
        power = ti.math.cpow(z[i], 1.0 + n[i]) + ti.math.csqrt(w[i]) + ti.math.cconj(product)
        w[i] = ti.math.cexp(0.3 * power) + ti.math.clog(z[i])


@program(
    z=array([[0, 0]], (2,)),
    y=floats(1, element=(2,)),
    expected={"y": [[0, 0]]},
    gradients={"z": [[2, 2]]},
    smooth=False,
)
def complex_roots_of_zero(z, y):
    for i in z:
        y[i] = ti.math.csqrt(z[i]) + ti.math.cpow(z[i], 0.5) + 2 * z[i]


@program(x=floats(3, element=(3,)), m=floats(3, element=(2, 2)), y=floats(3, 6))
def norms_with_a_small_number(x, m, y):
    for i in x:
        y[i, 0] = x[i].norm(1e-3) + x[i].norm(eps=0.5) + m[i].norm(0.1)
        y[i, 1] = x[i].norm_inv() + x[i].norm_inv(0.2) + m[i].norm_inv(eps=0.3)
        y[i, 2] = x[i].normalized(0.5).sum()
        y[i, 3] = m[i].norm_sqr() * x[i].norm_sqr()
        y[i, 4] = x[i].max() * m[i].min() + x[i].min() * m[i].max()
        y[i, 5] = ti.math.cross(x[i].xy, x[i].yz) + x[i].xy.cross(m[i] @ x[i].xy)


@program(
    x=array([[0, 0, 0]], (3,)),
    y=floats(1, 2),
    expected={"y": [[0.1, 0]]},
    gradients={"x": [[2, 2, 2]]},
    seeds={"y": 1},
    smooth=False,
)
def small_number_at_the_zero_vector(x, y):
    for i in x:
        y[i, 0] = x[i].norm(0.01) + x[i].norm()
        y[i, 1] = x[i].normalized(0.5).sum() + x[i].normalized().sum()


@program(x=floats(2, element=(2,)), m=floats(2, element=(2, 2)), y=floats(2, element=(2,)))
def products_from_the_left(x, m, y):
    for i in x:
        row = x[i] @ m[i]
        y[i] = row * (x[i] @ row) + ti.Matrix.rows([x[i], row]) @ ti.Matrix.cols([row, x[i]]) @ x[i]


@program(a=floats(2, element=(3, 3)), b=floats(2, element=(3,)), c=floats(2, element=(2, 2)))
def solved(a, b, c):
    for i in a:
        x = ti.solve(a[i] + ti.Matrix.diag(3, 4.0), b[i])
        c[i] *= ti.solve(c[i] + ti.Matrix.diag(2, x[0] + 5), x.xy).norm()
        b[i] = x * x


@program(x=floats(2, element=(3,)), m=floats(2, element=(2, 2)), y=floats(2))
def filled_and_tested(x, m, y):
    for i in x:
        v = x[i]
        v.fill(x[i].x * x[i].y)
        w = ti.zero(m[i]) + ti.one(m[i]) * v.z
        y[i] = v.sum() + (w @ m[i]).sum()
        m[i].fill(y[i])
        if any(x[i] > 0) and not all(x[i] > 10):
            y[i] *= x[i].z
        if (x[i] > 10).any() or x[i].all():
            y[i] += x[i].x
