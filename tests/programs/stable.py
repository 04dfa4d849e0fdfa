"""Functions that keep their digits, and values whose gradient is cut."""

import math

import taichi as ti

import difftile as dt
from tests.harness import array, floats, ints, program

Particle = ti.types.struct(q=ti.math.vec2, m=ti.f32, kind=ti.i32)


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


@dt.func
def moved(p, by):
    p.q += by * p.m
    return p, by


@program(
    x=floats(4),
    v=floats(4, element=(2,)),
    m=floats(4, element=(2, 2)),
    n=ints([1, 2, 3, 4]),
    y=floats(4, 3),
)
def cut_of_every_kind(x, v, m, n, y):
    for i in x:
        k, s, w, a = dt.stop_grad((n[i], x[i], v[i] * x[i], m[i]))
        y[i, 0] = k * x[i] * s + (a @ w).dot(v[i]) + dt.stop_grad(2) * dt.stop_grad(0.5) * x[i]
        p = dt.stop_grad(Particle(v[i], x[i], n[i]))
        p, by = moved(p, x[i] * v[i])
        y[i, 1] = p.q.dot(by) * p.m * p.kind
        s = x[i]
        for j in range(n[i]):
            s = ti.sin(s) + x[i] * dt.stop_grad(s * s)
        y[i, 2] = s
