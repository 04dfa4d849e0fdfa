"""Random numbers: drawn again by the adjoint, in branches, loops and funcs."""

from __future__ import annotations

import taichi as ti

import difftile as dt
from tests.harness import floats, program


@dt.func
def noisy(a, times: int = 3):
    s = a
    for _ in range(times):
        if s > 0.5:
            s *= dt.rand()
        else:
            s += 0.5 * dt.randn()
    return s


@dt.func
def walk(a, sigma):
    if a > 0.2:
        return a + sigma * ti.randn()
    return a * ti.random()


@program(x=floats(6), y=floats(6), z=floats(6), mu=floats(), sigma=floats(), launches=3)
def reparameterised(x, y, z, mu, sigma):
    for i in x:
        y[i] = mu[None] + sigma[None] * dt.randn()
        z[i] = noisy(x[i]) * noisy(x[i], 2) + (dt.rand() * x[i] if x[i] > 0.3 else 0.0)
        x[i] += walk(x[i], y[i]) + walk(z[i], 0.5)


@program(w=floats(3, 4), x=floats(5), s=floats(), n=40, launches=2)
def random_loops(w, x, s, n: int):
    for i, j in ti.ndrange((1, 3), 4):
        a = w[i, j] * dt.rand()
        for k in range(n):
            a = ti.sin(a + 0.1 * dt.randn())
            if dt.rand() < 0.1:
                continue
            if k > 30 and dt.rand() < 0.05:
                break
            x[dt.randint(5)] += 0.1 * a * dt.rand()
        w[i, j] = a
    t = dt.rand() * s[None]
    for i in x:
        v = dt.rand() + 1.0
        while v * dt.rand() > 0.3:
            v *= 0.9 * dt.rand() + 0.05 * ti.random()
        s[None] += t * v * x[i] * dt.randint(-3, 4)
    s[None] *= dt.rand()
