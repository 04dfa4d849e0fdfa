"""Functions that keep their digits, and values whose gradient is cut."""

import math

import taichi as ti

import difftile as dt
from tests.harness import array, floats, program


@program(x=floats(6, low=-0.9, high=2.0), v=floats(6, element=(3,)), y=floats(6, 4))
def near_zero(x, v, y):
    for i in x:
        y[i, 0] = dt.log1p(x[i]) * dt.expm1(x[i]) + math.log1p(x[i] * 1e-3) * 1e3
        y[i, 1] = dt.softplus(x[i]) + dt.softplus(v[i], 5.0).sum() + dt.softplus(v[i].x, beta=x[i])
        y[i, 2] = dt.logit(dt.sigmoid(x[i])) + dt.logit(0.4 + 0.1 * v[i]).sum()
        y[i, 3] = dt.expm1(v[i]).dot(dt.log1p(0.5 * v[i])) + math.expm1(x[i])


@program(x=floats(4), v=floats(4, element=(3,)), y=floats(4, 3))
def sums_of_exponentials(x, v, y):
    for i in x:
        y[i, 0] = dt.logsumexp(v[i]) * x[i] + dt.logsumexp(ti.Vector([x[i]]))
        parts = (x[i], 0.5, v[i].y)
        y[i, 1] = dt.logsumexp(*parts) + dt.logsumexp(3 * x[i], 1)
        if v[i].x > 0:
            y[i, 2] = dt.logsumexp(v[i] * v[i]) - dt.logsumexp(v[i] + 300)


@program(
    n=array([1, 1, 1, 1, 0, 3, 2]),
    d=array([2, 0, -1, 1e-9, 0, 1e-4, -1e-9]),
    y=floats(7),
    expected={"y": [0.5, 1e8, -1, 1e8, 0, 3e4, -2e8]},
    gradients={
        "n": [0.5, 1e8, -1, 1e8, 1e8, 1e4, -1e8],
        "d": [-0.25, 0, -1, 0, 0, -3e8, 0],
    },
    seeds={"y": 1},
    single=False,
)
def safe_quotients(n, d, y):
    for i in n:
        y[i] = dt.safe_divide(n[i], d[i])


@program(v=floats(5, element=(3,)), n=floats(5), y=floats(5, 3))
def safe_lengths(v, n, y):
    for i in v:
        y[i, 0] = (v[i] / dt.safe_norm(v[i])).x + dt.safe_norm(v[i] * 0)
        y[i, 1] = dt.safe_norm(v[i], 0.8) + dt.safe_norm(v=v[i], eps=n[i])
        y[i, 2] = dt.safe_divide(v[i], n[i], 0.5).sum() + dt.safe_divide(n[i], v[i], eps=0.1).x


@program(
    x=array([3.0, 1.7, -0.3]),
    y=floats(3, 3),
    expected={"y": [[12, 9, 3], [1.7**2 + 1.7, 1.7, 1], [-0.21, 0.3, -1]]},
    gradients={"x": [1 + 3 + 1, 1 + 1 + 1, 1 - 1 + 1]},
    seeds={"y": 1},
)
def cut(x, y):
    for i in x:
        y[i, 0] = dt.stop_grad(x[i] * x[i]) + x[i]
        y[i, 1] = x[i] * dt.stop_grad(ti.floor(x[i]))
        y[i, 2] = x[i] + dt.stop_grad(ti.floor(x[i]) - x[i])
