"""The program of the README."""

from typing import Any

import taichi as ti

import difftile as dt


@dt.kernel
def step(x, k, loss):
    for i in x:
        x[i] -= k[None] * ti.sin(x[i])  # in place, a hundred times
        loss[None] += x[i] ** 2


def run(quick: bool) -> list[Any]:
    """Run it."""
    x, k, loss = dt.ones(8, grad=True), dt.full((), 0.05, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        for _ in range(100):
            step(x, k, loss)
    return [loss, k.grad]
