"""Sums of products with a factor in common, which adjoints are full of."""

import taichi as ti

from tests.harness import floats, program


@program(
    a=floats(3, element=(2, 2)),
    u=floats(3, element=(2,)),
    v=floats(3, element=(2,)),
    s=floats(3),
    y=floats(3, element=(2,)),
    z=floats(3, element=(2,)),
)
def factors_of_vectors(a, u, v, s, y, z):
    for i in u:
        m = a[i]
        y[i] = m @ u[i] - s[i] * (m @ v[i]) + m @ (u[i] * v[i]) - (u[i] - s[i] * v[i]) + s[i] * u[i]
        total = ti.Vector([0.0, 0.0])
        for k in ti.static(range(3)):
            w = u[i] + k * v[i]
            total -= m.transpose() @ (w * w) * s[i]
            if s[i] > 0.2 * k:
                total += -(m @ w) * s[i] - (m @ v[i]) * s[i]
        z[i] = total
