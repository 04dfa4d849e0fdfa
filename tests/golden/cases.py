"""The kernels whose whole way through the compiler is kept as text."""

import taichi as ti

import difftile as dt


def square_in_place(x):
    for i in x:
        x[i] = x[i] * x[i]


def spring(x, v, k, h: float):
    for i in x:
        v[i] -= h * k[None] * x[i]
        x[i] += h * v[i]


def energy(x, loss):
    for i in x:
        loss[None] += 0.5 * x[i] * x[i]


def transmittance(sigma, light, n: int):
    for i in light:
        t = 1.0
        for _ in range(n):
            t *= 1.0 - sigma[i]
        light[i] = t


def heat(t, lap, k: float):
    for i, j in lap:
        lap[i, j] = 0.0
        if i > 0 and i < t.shape[0] - 1:
            lap[i, j] = t[i - 1, j] + t[i + 1, j] - 2.0 * t[i, j]
    for i, j in t:
        t[i, j] += k * lap[i, j]


def product(a, x, y):
    for i in y:
        total = 0.0
        for j in range(x.shape[0]):
            total += a[i, j] * x[j]
        y[i] = total


@dt.func
def soft_length(d):
    return ti.sqrt(d.dot(d) + 1e-6)


def pull(x, force, ends, rest: float):
    for s in ends:
        a, b = ends[s].x, ends[s].y
        d = x[a] - x[b]
        f = (soft_length(d) - rest) * d.normalized()
        force[a] -= f
        force[b] += f


CASES = {
    square_in_place: lambda: {"x": dt.ones(4)},
    spring: lambda: {"x": dt.ones(4), "v": dt.ones(4), "k": dt.ones(()), "h": 0.1},
    energy: lambda: {"x": dt.ones(4), "loss": dt.zeros(())},
    transmittance: lambda: {"sigma": dt.ones(4), "light": dt.ones(4), "n": 8},
    heat: lambda: {"t": dt.ones((4, 4)), "lap": dt.ones((4, 4)), "k": 0.1},
    product: lambda: {"a": dt.ones((2, 3)), "x": dt.ones(3), "y": dt.ones(2)},
    pull: lambda: {
        "x": dt.ones(4, ti.math.vec2),
        "force": dt.zeros(4, ti.math.vec2),
        "ends": dt.zeros(3, ti.types.vector(2, ti.i32)),
        "rest": 1.0,
    },
}
