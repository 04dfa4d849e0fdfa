"""A network learns to lead a charge along a way, by the strengths of eight others.

One launch advances many charges, each along a way of its own, in place: positions and velocities
have no axis of time. `with dt.Tape(loss):` leaves, in the weights of the network, the gradient of
how far the charges were from their goals.
"""

import numpy as np
import taichi as ti

import difftile as dt
from scenes.electric import ElectricScene, Network

vec2 = ti.math.vec2


@dt.data_oriented
class Electric:
    """Charges that follow their goals, and the network that leads them.

    The program of the paper keeps positions and velocities of all steps, and its network reads
    those of the step that is about to be computed: what the run before has left there. With
    `original` the fields have a slot for every step, and it does; otherwise they have one slot,
    and the network sees where the charge is.

    Args:
        scene: The charges.
        network: The weights to begin with.
        ways: Way-points [m], shape (way-points, ways, 2).
        steps: States of a run, that at the start included.
        original: Whether the network reads what is stale.
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
        self.scene, self.steps, self.original = scene, steps, original
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
    def step(self, t: int, seen: int, before: int, after: int):
        for w, i in self.hidden:
            place, way = self.goal(w, t)
            x, v = self.x[seen, w], self.v[seen, w]
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

    def run(self):
        """Simulate from the first way-points, at rest, and measure the loss."""
        self.start()
        for t in range(1, self.steps):
            self.step(t, t, t - 1, t) if self.original else self.step(t, 0, 0, 0)
