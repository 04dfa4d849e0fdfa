"""Gradients that are cut, of everything that a name can stand for."""

import taichi as ti

import difftile as dt
from tests.harness import floats, ints, program

Particle = ti.types.struct(q=ti.math.vec2, m=ti.f32, kind=ti.i32)


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
