"""A charge that eight others, held in place, push and pull along a way.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "electric"): a small neural network sets
the strengths of the eight, so that the free charge follows a goal that runs along way-points. This
module holds data only; how the charge moves is written in `demos/electric.py`.
"""

from dataclasses import dataclass, field, fields

import numpy as np

N_SENSES = 8  # of the network: position and velocity of the charge and of its goal

_CHARGES = [
    *[(0.1, 0.1), (0.1, 0.9), (0.9, 0.9), (0.9, 0.1)],
    *[(0.5, 0.9), (0.5, 0.1), (0.1, 0.5), (0.9, 0.5)],
]


@dataclass(frozen=True, slots=True)
class ElectricScene:
    """Charges held around the unit square [m], and the one that is free within it.

    Attributes:
        charges: Where the others are held [m], shape (8, 2).
        time_step: [s]
        drag: Rate at which velocity decays [1/s].
        strength: Acceleration by a charge of full strength, times the square of its distance
            [m^3/s^2].
        radius: Distance below which a charge pushes no harder [m].
        segment: Steps from one way-point to the next.
        n_hidden: Hidden units of the network.
    """

    charges: np.ndarray = field(default_factory=lambda: np.array(_CHARGES))
    time_step: float = 0.03
    drag: float = 0.2
    strength: float = 1e-3
    radius: float = 0.1
    segment: int = 256
    n_hidden: int = 64


@dataclass(frozen=True, slots=True)
class Network:
    """The weights of one tanh layer of hidden units and one tanh unit for every charge.

    Attributes:
        w1: Inputs to hidden units, shape (8, hidden).
        b1: Shape (hidden,).
        w2: Hidden units to charges, shape (hidden, 8).
        b2: Shape (8,).
    """

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """The four arrays by name, in the order in which they are drawn at random."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def make_network(scene: ElectricScene, seed: int = 0) -> Network:
    """Draw a network: normal weights scaled by the sizes of both layers, no biases."""
    rng = np.random.default_rng(seed)
    hidden, outputs = scene.n_hidden, len(scene.charges)
    return Network(
        w1=np.sqrt(2.0 / (hidden + N_SENSES)) * rng.standard_normal((N_SENSES, hidden)),
        b1=np.zeros(hidden),
        w2=np.sqrt(2.0 / (hidden + outputs)) * rng.standard_normal((hidden, outputs)),
        b2=np.zeros(outputs),
    )


def make_ways(scene: ElectricScene, n_ways: int, steps: int, seed: int = 0) -> np.ndarray:
    """Draw way-points for that many steps [m], evenly between 0.2 and 0.8.

    Returns:
        Shape (way-points, ways, 2); a goal starts at the first and goes straight from each to the
        next.
    """
    rng = np.random.default_rng([seed, 1])  # a different stream from the network's
    return rng.uniform(0.2, 0.8, (n_ways, (steps - 1) // scene.segment + 2, 2)).swapaxes(0, 1)
