"""One step of four worlds of a model, with the gradient by its controls."""

from typing import Any

import difftile as dt
from difftile import worlds
from tests.worlds.conformance import model


@dt.kernel
def kinetic(qvel, loss):
    for w, i in qvel:
        loss[None] += qvel[w, i] ** 2


def run(name: str) -> list[Any]:
    """Return the squares of the speeds, and their gradients by the controls."""
    sim = worlds.Worlds(model(name), 4)
    sim.ctrl.fill(0.1)
    loss = dt.zeros((), grad=True)
    with dt.Tape(loss):
        sim.step()
        kinetic(sim.qvel, loss)
    return [loss, sim.ctrl.grad]
