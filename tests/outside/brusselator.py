"""The rates of a reaction with diffusion in two dimensions: the benchmark `ode-real` of Enzyme."""

from __future__ import annotations

import difftile as dt

SIDE = 32
PARAMETERS = (3.4, 1.0, 10.0)


@dt.func
def around(u, i, j):
    """The sum over four neighbours less four times the cell; a neighbour outside is the cell."""
    n, m = u.shape[0], u.shape[1]
    up, down = u[min(i + 1, n - 1), j], u[max(i - 1, 0), j]
    right, left = u[i, min(j + 1, m - 1)], u[i, max(j - 1, 0)]
    return up + down + right + left - 4.0 * u[i, j]


@dt.kernel
def rates(u, v, p, t: float, u_dot, v_dot):
    n, m = u.shape[0], u.shape[1]
    for i, j in u:
        a, b, alpha = p[0], p[1], p[2] * (n - 1) ** 2
        x, y = i / (n - 1), j / (m - 1)
        fed = (x - 0.3) ** 2 + (y - 0.6) ** 2 <= 0.1**2 and t >= 1.1
        reaction = u[i, j] * u[i, j] * v[i, j]
        u_dot[i, j] = alpha * around(u, i, j) + b + reaction - (a + 1.0) * u[i, j]
        v_dot[i, j] = alpha * around(v, i, j) + a * u[i, j] - reaction
        if fed:
            u_dot[i, j] += 5.0


def change(u: dt.Field, v: dt.Field, p: dt.Field, t: float) -> tuple[dt.Field, dt.Field]:
    """Return the rates of both concentrations."""
    u_dot, v_dot = dt.zeros_like(u), dt.zeros_like(v)
    rates(u, v, p, t, u_dot, v_dot)
    return u_dot, v_dot
