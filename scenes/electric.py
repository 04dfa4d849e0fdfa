"""A charge that eight others, held in place, push and pull along a way.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "electric"): a small neural network sets
the strengths of the eight, so that the free charge follows a goal that runs along way-points.

Run this file for a few steps of the optimisation; the demo `electric` does all of them.
"""

from dataclasses import dataclass, field, fields

import numpy as np

import difftile as dt
from difftile import ti

N_SENSES = 8  # of the network: position and velocity of the charge and of its goal

_CHARGES = [
    *[(0.1, 0.1), (0.1, 0.9), (0.9, 0.9), (0.9, 0.1)],
    *[(0.5, 0.9), (0.5, 0.1), (0.1, 0.5), (0.9, 0.5)],
]

vec2 = ti.math.vec2


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


@dt.data_oriented
class Electric:
    """Charges that follow their goals, and the network that leads them.

    The network reads the slot of positions and velocities that is about to be written. There is
    only one slot, so the network sees the current state. The program of the paper, and `original`,
    have a slot for every step: there the network sees values left by the previous run.

    Args:
        scene: The charges.
        network: The initial weights.
        ways: Way-points [m], shape (way-points, ways, 2).
        steps: States of a run, the initial one included.
        original: Whether the network reads stale values, as in the paper's program.
        dtype: The type of all numbers.
    """

    def __init__(
        self,
        scene: ElectricScene,
        network: Network,
        ways: np.ndarray,
        steps: int,
        original: bool = False,
        dtype=ti.f32,
    ):
        self.scene, self.steps = scene, steps
        self.decay = float(np.exp(-scene.drag * scene.time_step))
        n, vector = ways.shape[1], dt.vec(2, dtype)
        self.x = dt.zeros((steps if original else 1, n), dtype=vector, grad=True)
        self.v = dt.zeros(self.x.shape, dtype=vector, grad=True)
        self.hidden = dt.zeros((n, scene.n_hidden), dtype=dtype, grad=True)
        self.charge = dt.zeros((n, len(scene.charges)), dtype=dtype, grad=True)
        self.loss = dt.zeros((), dtype=dtype, grad=True)
        self.place = dt.from_numpy(scene.charges, dtype=vector)
        self.ways = dt.from_numpy(ways, dtype=vector)
        self.parameters = {
            name: dt.from_numpy(values, dtype=dtype, grad=True)
            for name, values in network.arrays().items()
        }
        self.w1, self.b1, self.w2, self.b2 = self.parameters.values()

    @dt.func
    def goal(self, w, t):
        """Position and velocity of the goal of a way, the latter in lengths of a segment."""
        k = t // self.scene.segment
        way = self.ways[k + 1, w] - self.ways[k, w]
        return self.ways[k, w] + (t / self.scene.segment - k) * way, way

    @dt.kernel
    def move(self, t: int, before: int, after: int):
        for w, i in self.hidden:
            place, way = self.goal(w, t)
            x, v = self.x[after, w], self.v[after, w]
            total = self.b1[i]
            for j in ti.static(range(2)):
                total += self.w1[j, i] * (x[j] - 0.5) + self.w1[2 + j, i] * v[j]
                total += self.w1[4 + j, i] * (place[j] - 0.5) + self.w1[6 + j, i] * (way[j] - 0.5)
            self.hidden[w, i] = ti.tanh(total)
        for w, k in self.charge:
            total = self.b2[k]
            for i in range(self.scene.n_hidden):
                total += self.w2[i, k] * self.hidden[w, i]
            self.charge[w, k] = ti.tanh(total)
        for w in range(self.x.shape[1]):
            x, force = self.x[before, w], vec2(0.0, 0.0)
            for k in range(self.place.shape[0]):
                r = x - self.place[k]
                force += self.charge[w, k] * r / ti.max(r.norm(), self.scene.radius) ** 3
            h = self.scene.time_step
            v = self.decay * self.v[before, w] + h * self.scene.strength * force
            self.x[after, w], self.v[after, w] = x + h * v, v
            far = x + h * v - self.goal(w, t)[0]
            self.loss[None] += h * far.norm_sqr() / self.x.shape[1]

    @dt.kernel
    def start(self):
        self.loss[None] = 0.0
        for w in range(self.x.shape[1]):
            self.x[0, w], self.v[0, w] = self.ways[0, w], vec2(0.0, 0.0)

    def step(self, t: int) -> None:
        """Advance to step t, and add to the loss."""
        slots = self.x.shape[0]
        self.move(t, (t - 1) % slots, t % slots)

    def run(self) -> None:
        """Simulate from the first way-points, at rest, and measure the loss."""
        self.start()
        for t in dt.steps(1, self.steps):
            self.step(t)


if __name__ == "__main__":
    scene = ElectricScene()
    ways = make_ways(scene, n_ways=4, steps=128)
    electric = Electric(scene, make_network(scene), ways, steps=128)
    descent = dt.optim.Adam(electric.parameters, 0.03)
    for _ in range(8):
        with dt.Tape(electric.loss):
            electric.run()
        print(f"loss {electric.loss[None]:.6f}")
        descent.step()
