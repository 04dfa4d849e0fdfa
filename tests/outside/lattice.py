"""A step of the lattice Boltzmann method, D2Q9: the test of XLB's issue 161.

Populations stream along nine velocities and relax to equilibrium (Bhatnagar, Gross and Krook).
"""

from __future__ import annotations

import numpy as np
import taichi as ti

import difftile as dt

SIDE, OMEGA = 32, 1.8
VELOCITIES = np.array(
    [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]], np.int32
)
WEIGHTS = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])


@dt.kernel
def stream_and_collide(f, c, weights, omega: float, g):
    n, m = f.shape[1], f.shape[2]
    for i, j in ti.ndrange(n, m):
        density, flow = 0.0, ti.Vector([0.0, 0.0])
        for q in range(9):
            there = f[q, (i - c[q, 0]) % n, (j - c[q, 1]) % m]
            density += there
            flow += there * ti.Vector([c[q, 0], c[q, 1]])
        u, v = flow.x / density, flow.y / density
        for q in range(9):
            there = f[q, (i - c[q, 0]) % n, (j - c[q, 1]) % m]
            along = 3.0 * (c[q, 0] * u + c[q, 1] * v)
            shape = 1.0 + along + 0.5 * along * along - 1.5 * (u * u + v * v)
            g[q, i, j] = there + omega * (weights[q] * density * shape - there)


@dt.kernel
def add_squares(f, loss):
    n, m = f.shape[1], f.shape[2]
    for i, j in ti.ndrange(n, m):
        density = 0.0
        for q in range(9):
            density += f[q, i, j]
        loss[None] += density * density


def stepped(f: dt.Field, steps: int = 1) -> dt.Field:
    """Return the populations after some steps."""
    c, weights = dt.from_numpy(VELOCITIES), dt.from_numpy(WEIGHTS)
    for _ in range(steps):
        g = dt.zeros_like(f)
        stream_and_collide(f, c, weights, OMEGA, g)
        f = g
    return f


def squared_density(f: dt.Field, steps: int = 1) -> dt.Field:
    """Return the sum of the squares of the density after some steps."""
    loss = dt.zeros((), dtype=ti.f64)
    add_squares(stepped(f, steps), loss)
    return loss
