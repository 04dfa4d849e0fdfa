"""Slices, rows and swizzles of vectors and matrices, read, assigned to and added to."""

import taichi as ti

from tests.harness import array, floats, ints, program


@program(
    x=array([[1, 2, 3, 4]], element=(4,)),
    y=floats(1, element=(4,)),
    expected={"y": [[2, 9, 4, 6]]},
    gradients={"x": [[3, 2, 7, 1]]},
    seeds={"y": 1},
)
def slices_of_a_vector(x, y):
    for i in x:
        v = x[i]
        v[0:2] = v[1:3] * v[::2]
        v[2:4] += x[i][0:2]
        y[i] = v


@program(x=floats(3, element=(4,)), y=floats(3, element=(4,)), z=floats(3, element=(2,)))
def swizzles(x, y, z):
    for i in x:
        v = x[i]
        v.xy = v.zy * v.yx
        v.zyx += v.xxy
        v.ba *= v.rg
        v.w -= v.x * v.y
        y[i].zx = v.xy * x[i].yw
        y[i].yw += v.wz * x[i].xy
        y[i].xyzw *= x[i].wwxy
        y[i].w /= 2.0
        z[i] = v.yx
        z[i].x -= v.w


@program(x=floats(3, element=(3, 3)), y=floats(3, element=(3, 3)), v=floats(3, element=(3,)))
def rows_and_columns(x, y, v):
    for i in x:
        m = x[i]
        m[0, :] = m[1, :] * m[:, 2]
        m[:, 1] += m[0]
        m[1:3, 0:2] = m[0:2, 1:3] @ m[0:2, 0:2]
        m[2] *= m[0].zyx
        m[0][1] = m[2][0] * x[i][1][2]
        m[1][1:3] = x[i][2, 0:2] * x[i][0].zx
        m[1].x += 0.5 * m[0, 0]
        y[i] = m @ m
        y[i][0] = x[i][1]
        y[i][1][2] = m[0][0] * m[2][2]
        y[i][2, 0:2] += m[:, 0].xy
        y[i][:, 2].y *= m[1, 1]
        v[i] = x[i][0:2, :].transpose() @ x[i][:, 0][1:3]


@program(
    x=floats(4, element=(4,)),
    m=floats(4, element=(3, 3)),
    k=ints([0, 2, 1, 2]),
    y=floats(4),
    w=floats(4, element=(4,)),
)
def positions_known_at_run_time(x, m, k, y, w):
    for i in x:
        v = x[i]
        a = m[i]
        j = k[i]
        v[j] = v[j + 1] * v[j]
        v[1:4][j] += v[0]
        a[j][0] = v[j] * a[0][j]
        a[1, :] *= a[j]
        a[:, j] += a[j, :]
        y[i] = v.sum() + a[j][1] * m[i][j][2] * m[i][j, j] + m[i][j].sum()
        w[i][j] += v[0] * x[i].wzyx[j]
        w[i][0:3][j] *= a[2][j]
        w[i][3] = a[j].x


@program(x=floats(3, element=(3,)), y=floats(3, element=(3,)), k=ints([0, 2, 1]), n=7)
def in_loops(x, y, k, n: int):
    for i in x:
        v = x[i]
        m = ti.Matrix([[1.0, 0.0], [0.0, 1.0]]) * v.x
        for t in range(n):
            v[(k[i] + t) % 3] *= 0.5 + 0.3 * v[t % 3]
            v.xy += 0.1 * v.yz
            if v.x > 0.2:
                m[0, :] += 0.1 * v[1:3] * m[1, :]
                m[t % 2][0] -= 0.2 * v.z
        y[i].xy = m @ v.xy
        y[i].z = v.z
