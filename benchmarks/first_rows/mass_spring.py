"""Twenty steps of the demo of that name."""

from typing import Any

import difftile as dt
from benchmarks.first_rows.inputs import ROBOT_STEPS
from scenes.mass_spring import Walker, make_network, make_scene


def run(quick: bool) -> list[Any]:
    """Return the loss, and its gradients by the parameters of the network."""
    scene = make_scene("C")
    walker = Walker(scene, make_network(scene), ROBOT_STEPS)
    walker.start()
    with dt.Tape(walker.loss):
        for t in range(ROBOT_STEPS):
            walker.step(t)
        walker.measure()
    return [walker.loss, *(weight.grad for weight in walker.parameters.values())]
