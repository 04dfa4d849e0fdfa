"""Pendula and ripples in plain Taichi, whose autodiff requires a time axis."""

from typing import Any

import taichi as ti

from benchmarks.peers.peer import Peer
from benchmarks.peers.runs import Pendula, Ripples


def make_pendula(pendula: Pendula) -> Peer:
    """Return the pendula; a step is one kernel."""
    n, steps, h, rate = len(pendula.angles), pendula.steps, pendula.step, pendula.rate
    first, angle, speed = (
        ti.field(ti.f32, shape, needs_grad=True) for shape in (n, (steps + 1, n), (steps + 1, n))
    )
    loss = ti.field(ti.f32, (), needs_grad=True)
    first.from_numpy(pendula.angles)

    @ti.kernel
    def start():
        for i in first:
            angle[0, i] = first[i]

    @ti.kernel
    def step(t: int):
        for i in first:
            v = speed[t, i] - h * rate * ti.sin(angle[t, i])
            speed[t + 1, i] = v
            angle[t + 1, i] = angle[t, i] + h * v

    @ti.kernel
    def measure():
        for i in first:
            loss[None] += angle[steps, i] ** 2

    def run() -> None:
        loss[None] = 0.0
        start()
        for t in range(steps):
            step(t)
        measure()

    return Peer(run, loss, {"first": first}, history=(angle, speed))


def make_ripples(ripples: Ripples) -> Peer:
    """Return the waves; a step is one kernel over the interior."""
    n, steps, courant = len(ripples.pulse), ripples.steps, ripples.courant
    first = ti.field(ti.f32, (n, n), needs_grad=True)
    u: Any = ti.field(ti.f32, (steps + 2, n, n), needs_grad=True)
    loss = ti.field(ti.f32, (), needs_grad=True)
    first.from_numpy(ripples.pulse)

    @ti.kernel
    def start():
        for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
            u[0, i, j] = first[i, j]
            u[1, i, j] = first[i, j]

    @ti.kernel
    def step(t: int):
        for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
            around = u[t, i - 1, j] + u[t, i + 1, j] + u[t, i, j - 1] + u[t, i, j + 1]
            change = courant * (around - 4.0 * u[t, i, j])
            u[t + 1, i, j] = 2.0 * u[t, i, j] - u[t - 1, i, j] + change

    @ti.kernel
    def measure():
        for i, j in first:
            loss[None] += u[steps + 1, i, j] ** 2

    def run() -> None:
        loss[None] = 0.0
        start()
        for t in range(1, steps + 1):
            step(t)
        measure()

    return Peer(run, loss, {"first": first}, history=(u,))
