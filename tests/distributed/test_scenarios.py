"""Training on scenarios that are divided among ranks: the same as in one process."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.ranks import current
from scenes.mass_spring import Walker, make_network, make_scene
from tests.ranks import ranks

STEPS, ITERATIONS = 30, 3
SEED = 3


@dt.kernel
def add(loss: Any, total: Any, weight: float) -> None:
    """Add the loss of a scenario."""
    total[None] += weight * loss[None]


def train(
    memory: str | None, sharded: bool, together: bool, scenarios: int
) -> tuple[list[float], dict[str, Any]]:
    """Train the network of a walking robot; return the losses and the weights.

    Each scenario starts with other velocities, drawn from its number and not from that of the rank.

    Args:
        memory: The limit of the tape.
        sharded: Whether each rank has a part of the optimiser's state, and steps add up gradients.
        together: Whether the loss of all ranks is part of the tape.
        scenarios: How many there are.
    """
    rank, size = current().rank, current().size
    scene = make_scene("A")
    # Each rank draws another network; they begin with that of rank 0.
    walker = Walker(scene, make_network(scene, SEED + rank), STEPS, ti.f64)
    total = dt.zeros((), dtype=ti.f64, grad=True)
    dist.broadcast(walker.parameters)
    gradients = None if sharded else dist.Gradients(walker.parameters, bucket=8 * 32 * 40)
    options: dict[str, Any] = {"sharded": True, "reduce": "sum"} if sharded else {}
    optimiser = dt.optim.SGD(walker.parameters, 0.5, momentum=0.8, clip_norm=0.01, **options)
    losses: list[float] = []
    start = {name: field.to_numpy() for name, field in walker.parameters.items()}
    for iteration in range(ITERATIONS):
        with dt.Tape(total, memory=memory, reduce=gradients) as tape:
            total.fill(0.0)
            for scenario in range(rank, scenarios, size):
                rng = np.random.default_rng((SEED, iteration, scenario))
                walker.start()
                walker.v.from_numpy(rng.normal(0.0, 0.3, (walker.n, 2)))
                for t in dt.steps(STEPS):
                    walker.step(t)
                walker.measure()
                add(walker.loss, total, 1.0 / scenarios)
            if together:
                dist.sum(total)
        if not together:
            dist.sum(total)
        losses.append(float(total[None]))
        assert tape.recomputed or memory is None or rank >= scenarios
        optimiser.step()
    dist.check(walker.parameters)
    after = {name: field.to_numpy() for name, field in walker.parameters.items()}
    assert all(np.abs(after[name] - start[name]).max() > 1e-5 for name in start)  # they move
    return losses, after


Trained = tuple[list[float], dict[str, Any]]


@cache
def one_process(scenarios: int) -> Trained:
    return ranks(1).run(train, None, False, True, scenarios)[0]


def compare(found: list[Trained], scenarios: int) -> None:
    """Compare what each rank has learned with what one process learns."""
    losses, weights = one_process(scenarios)
    for own_losses, own in found:
        np.testing.assert_allclose(own_losses, losses, rtol=1e-12)
        for name, values in weights.items():
            np.testing.assert_allclose(own[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("size", "engine"),
    [
        (1, "torch"),
        (3, "torch"),
        # Ranks that are started for these compile anew.
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [(2, "torch"), (4, "torch"), (3, "mpi")]
        ),
    ],
)
@pytest.mark.parametrize(("memory", "together"), [(None, True), ("12kB", True), ("12kB", False)])
def test_training_is_that_of_one_process(
    size: int, engine: str, memory: str | None, together: bool
) -> None:
    compare(ranks(size, engine).run(train, memory, False, together, 5), 5)


@pytest.mark.parametrize(("memory", "together"), [(None, True), ("12kB", True), ("12kB", False)])
def test_a_rank_without_a_scenario(memory: str | None, together: bool) -> None:
    compare(ranks(3).run(train, memory, False, together, 2), 2)


@pytest.mark.parametrize("size", [1, 3])
def test_training_with_parts_of_the_state(size: int) -> None:
    compare(ranks(size).run(train, "12kB", True, True, 2), 2)
